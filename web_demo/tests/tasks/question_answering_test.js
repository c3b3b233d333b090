import assert from "node:assert/strict";
import { test } from "node:test";

import { Json } from "../../core/file/json.js";
import { TaskType } from "../../core/file/task_type.js";
import { QuestionAnswering } from "../../core/tasks/question_answering.js";
import { assertRejected } from "../assert_refused.js";
import { FakeEngine, idOf, idsOf, metadataOf, modelOf } from "../model/fake_model.js";

/** Answers start with `x` and end with `y`; `z` is a little less likely an end. Padding must not be read. */
function engineOf(noAnswer = -5) {
  const logits = (run, scores) =>
    Float32Array.from({ length: run.length }, (_, place) => {
      if (place === 0) return noAnswer;
      if (place >= run.ids.length) return 99;
      const word = Object.keys(scores).find((each) => idOf(each) === run.ids[place]);
      return word ? scores[word] : 0;
    });
  return new FakeEngine((run) => ({ start_logits: logits(run, { x: 4 }), end_logits: logits(run, { y: 3, z: 2 }) }));
}

async function taskOf(settings = {}, { length = 12, engine = engineOf() } = {}) {
  return new QuestionAnswering(await modelOf(metadataOf(TaskType.QUESTION_ANSWERING, { settings, length }), engine));
}

/** A context of many words `a`, with other ones in some places. */
function contextOf(size, others) {
  return Array.from({ length: size }, (_, place) => others[place] ?? "a").join(" ");
}

test("the best span and further ones", async () => {
  const engine = engineOf();
  const prediction = await (await taskOf({ n_best: 3 }, { engine })).answer("who", "a x b y c z");
  const { probability, ...answer } = prediction.answer;
  assert.deepEqual(answer, { text: "x b y", start: 2, end: 7, score: 7 });
  assert.deepEqual(prediction.best.map(({ text }) => text), ["x b y", "x b y c z", "x"]);
  assert.deepEqual(prediction.best.map(({ score }) => score), [7, 6, 4]);
  assert.ok(Math.abs(probability - 1 / (1 + Math.exp(-1) + Math.exp(-3))) < 1e-12);
  assert.equal(prediction.noAnswerScore, -10);
  assert.equal(prediction.windows, 1);
  assert.deepEqual(engine.last.ids, idsOf("[CLS] who [SEP] a x b y c z [SEP]"));
  assert.deepEqual([...engine.last.inputs.get("token_type_ids")], [0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
});

test("the record has Python's fields, and code points", async () => {
  const prediction = await (await taskOf({ n_best: 1 })).answer("who", "\u{1F600} x y");
  assert.equal(
    Json.write(prediction.record()),
    '{"question": "who", "context": "\u{1F600} x y", "answer": "x y", "start": 2, "end": 5, "score": 7.0, "probability": 1.0, ' +
      '"no_answer_score": -10.0, "best": [{"answer": "x y", "start": 2, "end": 5, "score": 7.0, "probability": 1.0}]}',
  );
  assert.deepEqual([prediction.answer.start, prediction.answer.end], [3, 6]);
});

test("a span is no longer than the longest answer", async () => {
  const answer = async (longest) => (await (await taskOf({ longest_answer: longest, n_best: 1 })).answer("who", "a x b y")).answer.text;
  assert.equal(await answer(2), "x");
  assert.equal(await answer(3), "x b y");
});

test("no answer, where the model knows it", async () => {
  const engine = engineOf(4);
  const prediction = await (await taskOf({ no_answer: true, n_best: 2 }, { engine })).answer("who", "a x y");
  assert.equal(prediction.answer.text, "");
  assert.equal(prediction.answer.start, null);
  assert.equal(prediction.noAnswerScore, 8);
  assert.deepEqual(prediction.best.map(({ text }) => text), ["", "x y", "x"]);
  assert.equal(prediction.answer.probability, prediction.best[0].probability);
  assert.ok(Json.write(prediction.record()).includes('"answer": "", "start": null, "end": null, "score": 8.0'));
  assert.equal((await (await taskOf({ n_best: 2 }, { engine })).answer("who", "a x y")).answer.text, "x y");
});

/** Half the score of no answer, the threshold, and the answer, whose score is 7. Python and Kotlin have the same cases. */
const MARGINS = [
  [4, 1.5, "x y"], [4, 1, "x y"], [4, 0.5, ""], [3, 0, "x y"], [3, -1, "x y"], [3, -1.5, ""], [-5, -16.75, "x y"], [-5, -17.25, ""],
];

test("the threshold is a margin, which may be negative", async () => {
  for (const [half, threshold, expected] of MARGINS) {
    const settings = { no_answer: true, no_answer_threshold: threshold };
    const answer = async (given) => (await (await taskOf(given, { engine: engineOf(half) })).answer("who", "a x y")).answer.text;
    assert.equal(await answer(settings), expected, `${half} ${threshold}`);
    assert.equal(await answer({ ...settings, no_answer: false }), "x y");
  }
});

test("a long context is read in windows, and an answer of any of them is found", async () => {
  // [CLS] who [SEP] leaves room for eight tokens, and windows overlap by four.
  const context = contextOf(30, { 21: "x", 23: "y" });
  const done = [];
  const prediction = await (await taskOf({ n_best: 1 })).answer("who", context, (one, all) => done.push([one, all]));
  assert.equal(prediction.answer.text, "x a y");
  assert.equal(prediction.answer.start, 42);
  assert.equal(prediction.windows, 7);
  assert.deepEqual(done, [1, 2, 3, 4, 5, 6, 7].map((number) => [number, 7]));
  assert.equal((await (await taskOf({ stride: 100 }, { length: 40 })).answer("who", context)).windows, 1);
  assert.equal((await (await taskOf({ stride: 100 })).answer("who", context)).windows, 4);
});

test("a failure of what is told the progress ends the work", async () => {
  const engine = engineOf();
  const task = await taskOf({}, { engine });
  const stop = async () => {
    throw new Error("enough");
  };
  await assert.rejects(() => task.answer("who", contextOf(30, {}), stop), /enough/);
  assert.equal(engine.runs.length, 1);
});

test("no answer has its lowest score over all windows", async () => {
  const rising = new FakeEngine((run) => {
    const start = new Float32Array(run.length);
    start[0] = run.ids.includes(idOf("x")) ? -3 : 4;
    return { start_logits: start, end_logits: new Float32Array(run.length) };
  });
  const task = await taskOf({}, { engine: rising });
  assert.equal((await task.answer("who", contextOf(20, { 9: "x" }))).noAnswerScore, -3);
});

test("a context without tokens has no answer", async () => {
  const prediction = await (await taskOf()).answer("who", "");
  assert.equal(prediction.answer.text, "");
  assert.deepEqual(prediction.best.map(({ text }) => text), [""]);
  assert.equal(prediction.answer.probability, 1);
});

test("scores that are not finite are ignored", async () => {
  const broken = new FakeEngine((run) => ({
    start_logits: new Float32Array(run.length).fill(NaN).fill(1, 4, 5),
    end_logits: new Float32Array(run.length).fill(Infinity, 4, 5),
  }));
  const prediction = await (await taskOf({}, { engine: broken })).answer("who", "a b c");
  assert.equal(prediction.answer.text, "b c");
  assert.equal(prediction.noAnswerScore, 0);
});

test("scores are sums of doubles, and that of no answer one of floats", async () => {
  const [one, other] = [0.1, 0.7].map(Math.fround);
  const engine = new FakeEngine((run) => ({
    start_logits: new Float32Array(run.length).fill(one), end_logits: new Float32Array(run.length).fill(other),
  }));
  const prediction = await (await taskOf({}, { engine })).answer("who", "a");
  assert.equal(prediction.answer.score, one + other);
  assert.equal(prediction.noAnswerScore, Math.fround(one + other));
  assert.notEqual(one + other, Math.fround(one + other));
});

test("a long question is cut to half of the row", async () => {
  const engine = engineOf();
  const prediction = await (await taskOf({}, { engine })).answer("a b c d e a b", "x y");
  assert.ok(prediction.isCut);
  assert.deepEqual(engine.last.ids, idsOf("[CLS] a b c d [SEP] x y [SEP]"));
  await assertRejected("rows of at least 5 tokens", async () => (await taskOf({}, { length: 4 })).answer("a", "x"));
});
