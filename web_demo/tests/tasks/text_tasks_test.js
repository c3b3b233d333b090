import assert from "node:assert/strict";
import { test } from "node:test";

import { Json } from "../../core/file/json.js";
import { TaskType } from "../../core/file/task_type.js";
import { Classification } from "../../core/tasks/classification.js";
import { Example } from "../../core/tasks/example.js";
import { LabelSetClassification } from "../../core/tasks/label_set_classification.js";
import { MultipleChoice } from "../../core/tasks/multiple_choice.js";
import { Regression } from "../../core/tasks/regression.js";
import { cosine, SentenceEncoding } from "../../core/tasks/sentence_encoding.js";
import { taskOf } from "../../core/tasks/task_of.js";
import { assertRefused, assertRejected } from "../assert_refused.js";
import { FakeEngine, idOf, idsOf, metadataOf, modelOf } from "../model/fake_model.js";

const record = (prediction) => Json.write(prediction.record());
const engineOf = (name, ...values) => new FakeEngine(() => ({ [name]: Float32Array.from(values) }));

async function classifier(engine, labels = null) {
  return new Classification(await modelOf(metadataOf(TaskType.SINGLE_LABEL, { labels }), engine));
}

test("the likeliest class of a text", async () => {
  const engine = engineOf("probabilities", 0.25, 0.5, 0.25);
  const prediction = await (await classifier(engine, ["n", "p", "o"])).classify("a b");
  assert.equal(prediction.label, "p");
  assert.equal(prediction.score, 0.5);
  assert.deepEqual(prediction.classes[2], { name: "o", probability: 0.25 });
  assert.equal(prediction.isCut, false);
  assert.equal(
    record(prediction),
    '{"text": "a b", "label": "p", "score": 0.5, "probabilities": {"n": 0.25, "p": 0.5, "o": 0.25}}',
  );
  assert.deepEqual(engine.last.ids, idsOf("[CLS] a b [SEP]"));
});

test("of equal classes the first one, and numbers where there are no labels", async () => {
  const task = await classifier(engineOf("probabilities", 0.25, 0.375, 0.375), null);
  assert.equal((await task.classify("a")).label, "1");
});

test("labels may be numbers or names of an object's own code, in the order of the outputs", async () => {
  const prediction = await (await classifier(engineOf("probabilities", 0.25, 0.5, 0.25), ["10", "9", "__proto__"])).classify("a");
  assert.ok(record(prediction).endsWith('"probabilities": {"10": 0.25, "9": 0.5, "__proto__": 0.25}}'), record(prediction));
});

test("a text whose best class is not likely enough gets the fallback", async () => {
  const engine = engineOf("probabilities", 0.5, 0.5);
  const of = async (below) => {
    const settings = { fallback: "oos", fallback_below: below };
    return new Classification(await modelOf(metadataOf(TaskType.SINGLE_LABEL, { labels: ["n", "p"], settings }), engine));
  };
  assert.equal((await (await of(0.5)).classify("a")).label, "n");
  const prediction = await (await of(0.51)).classify("a");
  assert.deepEqual([prediction.label, prediction.score, prediction.classes.length], ["oos", 0.5, 2]);
});

test("a pair is one row with two types", async () => {
  const engine = engineOf("probabilities", 1, 0);
  const prediction = await (await classifier(engine, ["n", "p"])).predict(new Example.Pair("a", "b c"));
  assert.ok(record(prediction).startsWith('{"text": "a", "pair": "b c", "label": "n", "score": 1.0'));
  assert.deepEqual(engine.last.ids, idsOf("[CLS] a [SEP] b c [SEP]"));
  assert.deepEqual([...engine.last.inputs.get("token_type_ids")], [0, 0, 0, 1, 1, 1, 0, 0]);
});

test("a long text is cut", async () => {
  const engine = engineOf("probabilities", 1, 0);
  const task = await classifier(engine);
  assert.ok((await task.classify("a b c d e a b c")).isCut);
  assert.equal(engine.last.ids.length, 8);
  assert.ok((await task.classify("a b c d e", "a b c d")).isCut);
  assert.equal((await task.classify("a b c d e a")).isCut, false);
});

test("classes of at least one half", async () => {
  const metadata = metadataOf(TaskType.MULTI_LABEL, { labels: ["x", "y", "z"] });
  const task = new LabelSetClassification(await modelOf(metadata, engineOf("probabilities", 0.5, 0.49, 0.75)));
  const prediction = await task.classify("a");
  assert.deepEqual(prediction.labels, ["x", "z"]);
  assert.ok(record(prediction).startsWith('{"text": "a", "labels": ["x", "z"], "probabilities": {"x": 0.5'));
});

test("a score", async () => {
  const task = new Regression(await modelOf(metadataOf(TaskType.REGRESSION), engineOf("score", 3.25)));
  assert.equal(record(await task.score("a", "b")), '{"text": "a", "pair": "b", "score": 3.25}');
});

test("vectors, and the cosine of two", async () => {
  const engine = new FakeEngine((run) => ({ embedding: run.ids.includes(idOf("a")) ? Float32Array.of(3, 4) : Float32Array.of(0, 2) }));
  const task = new SentenceEncoding(await modelOf(metadataOf(TaskType.EMBEDDING), engine));
  assert.equal(record(await task.encode("a")), '{"text": "a", "vector": [3.0, 4.0]}');
  assert.ok(Math.abs((await task.compare("a", "b")).cosine - 0.8) < 1e-12);
  assert.ok(record(await task.predict(new Example.Pair("a", "b"))).endsWith('"vectors": [[3.0, 4.0], [0.0, 2.0]]}'));
  assert.deepEqual(engine.runs.slice(-2).map((run) => run.ids.length), [3, 3]);
});

async function encoderOf(settings) {
  const engine = new FakeEngine(() => ({ embedding: Float32Array.of(3, 4) }));
  return { engine, task: new SentenceEncoding(await modelOf(metadataOf(TaskType.EMBEDDING, { settings }), engine)) };
}

test("prompts stand before texts, as Python chooses them", async () => {
  const ids = async (settings, method) => {
    const { engine, task } = await encoderOf(settings);
    assert.equal((await task[method]("a")).example.text, "a");
    return engine.runs[0].ids.slice(1, -1);
  };
  const e5 = { prompts: { query: "b ", document: "", passage: "c " }, default_prompt_name: "query" };
  assert.deepEqual(await ids(e5, "encode"), idsOf("b a"));
  assert.deepEqual(await ids(e5, "encodeQuery"), idsOf("b a"));
  assert.deepEqual(await ids(e5, "encodeDocument"), idsOf("c a"));
  const query = { prompts: { query: "b " } };
  assert.deepEqual(await ids(query, "encode"), idsOf("a"));
  assert.deepEqual(await ids(query, "encodeQuery"), idsOf("b a"));
  assert.deepEqual(await ids(query, "encodeDocument"), idsOf("a"));
  const other = { prompts: { sts: "d ", query: "" }, default_prompt_name: "sts" };
  for (const method of ["encode", "encodeQuery", "encodeDocument"]) {
    assert.deepEqual(await ids(other, method), idsOf("d a"));
    assert.deepEqual(await ids({}, method), idsOf("a"));
  }
});

test("vectors of texts with another prompt have another name", async () => {
  const name = async (prompts) => (await encoderOf({ prompts })).task.vectorsName;
  assert.equal(await name({}), "");
  assert.equal(await name({ query: "b " }), ""); // nothing stands before the texts
  assert.equal(await name({ passage: "c " }), " 34670a53"); // as in the Android demo
  assert.notEqual(await name({ passage: "d " }), await name({ passage: "c " }));
});

test("cosines of zero and of huge vectors", () => {
  const zero = new Float32Array(2);
  assert.equal(cosine(zero, zero), 1);
  assert.equal(cosine(zero, Float32Array.of(1, 0)), 0);
  assert.ok(Math.abs(cosine(Float32Array.of(3e38, 3e38), Float32Array.of(-1e-38, -1e-38)) + 1) < 1e-9);
  assert.ok(Number.isNaN(cosine(Float32Array.of(NaN, 1), Float32Array.of(1, 1))));
});

test("the likeliest choice", async () => {
  const engine = new FakeEngine((run) => ({ logits: Float32Array.of(run.ids.includes(idOf("c")) ? 2 : 1) }));
  const task = new MultipleChoice(await modelOf(metadataOf(TaskType.MULTIPLE_CHOICE), engine));
  const prediction = await task.choose("a", ["b", "c", "d"]);
  assert.equal(prediction.choice, 1);
  assert.equal(prediction.text, "c");
  assert.ok(Math.abs(prediction.probabilities[1] - Math.E / (Math.E + 2)) < 1e-6);
  const start = '{"prompt": "a", "choices": ["b", "c", "d"], "choice": 1, "text": "c", "probabilities": [0.2';
  assert.ok(record(prediction).startsWith(start), record(prediction));
  assert.deepEqual(engine.runs[0].ids, idsOf("[CLS] a [SEP] b [SEP]"));
  await assertRejected("received none", () => task.choose("a", []));
});

test("numbers that are not finite are told", async () => {
  const prediction = await (await classifier(engineOf("probabilities", NaN, 1))).classify("a");
  assert.equal(prediction.isFinite, false);
  assert.equal(prediction.label, "0"); // as NumPy's argmax
  assert.ok(record(prediction).includes("null"));
  assert.equal((await (await classifier(engineOf("probabilities", 1, NaN, 2, NaN))).classify("a")).label, "1");
});

test("a task refuses models and examples of another one", async () => {
  const model = await modelOf(metadataOf(TaskType.SINGLE_LABEL), engineOf("probabilities", 1, 0));
  assertRefused("task type embedding", () => new SentenceEncoding(model));
  await assertRejected("received a question with a context", () => taskOf(model).predict(new Example.Question("a", "b")));
  await assertRejected("received a prompt with choices", () => taskOf(model).predict(new Example.Prompt("a", ["b"])));
});
