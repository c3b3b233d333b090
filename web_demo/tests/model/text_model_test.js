import assert from "node:assert/strict";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { Metadata } from "../../core/file/metadata.js";
import { ModelFile } from "../../core/file/model_file.js";
import { Port, Signature } from "../../core/file/signature.js";
import { TaskType } from "../../core/file/task_type.js";
import { Row } from "../../core/model/row.js";
import { TextModel } from "../../core/model/text_model.js";
import { assertRejected } from "../assert_refused.js";
import { byName, FakeEngine, fileOf, metadataOf, modelOf } from "./fake_model.js";

const { SINGLE_LABEL, TAGGING } = TaskType;
const numbers = (length, of) => Int32Array.from({ length }, (_, token) => of(token));
const row = (tokens) => new Row(numbers(tokens, (token) => 5 + token), numbers(tokens, (token) => token % 2));
const engineOf = (values = Float32Array.of(0.25, 0.75)) => new FakeEngine(() => ({ probabilities: values }));

async function runOf(metadata, tokens) {
  const engine = engineOf();
  await (await modelOf(metadata, engine)).run(row(tokens));
  return engine.last;
}

test("a row is padded and runs at the shortest length of the file", async () => {
  const metadata = metadataOf(SINGLE_LABEL, { lengths: [4, 8, 16] });
  for (const [tokens, length] of [[1, 4], [4, 4], [5, 8], [8, 8], [9, 16], [16, 16]]) {
    const run = await runOf(metadata, tokens);
    assert.equal(run.signature, `serve_${length}`);
    assert.equal(run.length, length);
  }
  const { inputs } = await runOf(metadata, 3);
  assert.deepEqual([...inputs.get("input_ids")], [5, 6, 7, 0]);
  assert.deepEqual([...inputs.get("attention_mask")], [1, 1, 1, 0]);
  assert.deepEqual([...inputs.get("token_type_ids")], [0, 1, 0, 0]);
});

test("a resizable file runs at multiples of 16 up to its row length", async () => {
  const metadata = metadataOf(SINGLE_LABEL, { length: null });
  for (const [tokens, length] of [[1, 16], [16, 16], [17, 32], [32, 32]]) {
    const run = await runOf(metadata, tokens);
    assert.equal(run.signature, "serve");
    assert.equal(run.length, length);
  }
  assert.equal((await modelOf(metadata, engineOf())).length, 32);
});

test("a file of one length runs at it, and refuses longer rows", async () => {
  const metadata = metadataOf(SINGLE_LABEL);
  assert.equal((await runOf(metadata, 2)).length, 8);
  await assertRejected("at most 8 tokens, received 9", () => runOf(metadata, 9));
});

/** A file with three exits, and an engine whose exits have these confidences. */
async function exitsOf(confidences, threshold, change = () => {}) {
  const metadata = metadataOf(SINGLE_LABEL, { labels: ["n", "p"], exits: [2, 4, 6], exitThreshold: threshold });
  const plain = fileOf(metadata);
  const hidden = new Port("hidden", "float32", [1, 8, 4]);
  const confidence = new Port("confidence", "float32", [1]);
  const signatures = plain.signatures.map(({ name, inputs, outputs }, number) => {
    const later = byName([inputs.get("attention_mask"), hidden]);
    const before = byName([...outputs.values(), confidence, hidden]);
    return new Signature(name, number === 0 ? inputs : later, number === 2 ? outputs : before);
  });
  change(signatures);
  const engine = new FakeEngine(({ signature }) => {
    const number = Number(signature.split("_")[1]);
    const answer = { probabilities: Float32Array.of(0.1 * number, 1 - 0.1 * number) };
    const hidden = new Float32Array(32).fill(number);
    return number === 3 ? answer : { ...answer, confidence: Float32Array.of(confidences[number - 1]), hidden };
  });
  const model = await TextModel.open(new ModelFile("fake.tflite", 1, metadata, signatures, null), () => engine);
  return { model, engine };
}

test("exits run in turn until one is confident", async () => {
  for (const [confidences, threshold, ran] of [[[0.5, 0.9], 0.8, 2], [[0.8, 0], 0.8, 1], [[0.5, 0.5], 0.8, 3], [[1, 1], null, 3]]) {
    const { model, engine } = await exitsOf(confidences, threshold);
    const outputs = await model.run(row(3));
    assert.deepEqual(engine.runs.map(({ signature }) => signature), ["exit_1", "exit_2", "exit_3"].slice(0, ran));
    assert.equal(outputs.layers, 2 * ran);
    assert.ok(Math.abs(outputs.get("probabilities")[0] - 0.1 * ran) < 1e-6);
    if (ran === 1) continue;
    assert.deepEqual([...engine.runs[1].inputs.keys()].sort(), ["attention_mask", "hidden"]);
    assert.equal(engine.runs[ran - 1].inputs.get("hidden")[0], ran - 1);
  }
});

test("exits that do not follow each other are refused", async () => {
  await assertRejected("a signature exit_2", () => exitsOf([1, 1], 0.8, (signatures) => signatures.splice(1, 1)));
  const wider = ([, second]) => second.inputs.set("hidden", new Port("hidden", "float32", [1, 8, 5]));
  await assertRejected("a signature exit_2 of fixed lengths that takes the output hidden of exit_1", () => exitsOf([1, 1], 0.8, wider));
  const more = ([, , third]) => third.outputs.set("hidden", new Port("hidden", "float32", [1, 8, 4]));
  await assertRejected("3 exits, as its metadata say, of fake.tflite, received more: exit_3", () => exitsOf([1, 1], 0.8, more));
});

test("only the inputs of the signature are passed", async () => {
  const whole = fileOf(metadataOf(SINGLE_LABEL));
  const [{ inputs, outputs }] = whole.signatures;
  inputs.delete("token_type_ids");
  const file = new ModelFile(whole.name, 1, whole.metadata, [new Signature("serve", inputs, outputs)], null);
  const engine = engineOf();
  await (await TextModel.open(file, () => engine)).run(row(2));
  assert.deepEqual([...engine.last.inputs.keys()].sort(), ["attention_mask", "input_ids"]);
});

test("outputs are cut into tokens", async () => {
  const tagger = new FakeEngine((run) => ({ probabilities: Float32Array.from({ length: 2 * run.length }, (_, place) => place) }));
  const outputs = await (await modelOf(metadataOf(TAGGING), tagger)).run(row(2));
  assert.deepEqual([...outputs.at("probabilities", 1)], [2, 3]);
  assert.equal(outputs.get("probabilities").length, 16);
});

test("files that do not fit are refused before the runtime is asked", async () => {
  const refuse = (part, file) => assertRejected(part, () => TextModel.open(file, () => assert.fail("the runtime was asked")));
  const changed = ({ inputs = {}, outputs = {}, without = "" }) => {
    const file = fileOf(metadataOf(SINGLE_LABEL, { labels: ["n", "p"] }));
    const [signature] = file.signatures;
    for (const [side, ports] of [["inputs", inputs], ["outputs", outputs]]) {
      signature[side].delete(without);
      for (const [name, [type, shape]] of Object.entries(ports)) signature[side].set(name, new Port(name, type, shape));
    }
    return file;
  };

  await refuse("takes texts", fileOf(metadataOf(SINGLE_LABEL, { inputs: Metadata.TEXT })));
  const part = changed({});
  part.signatures[0].inputs = byName([new Port("hidden", "int8", [1, 8, 4]), new Port("attention_bias", "int8", [1, 8])]);
  await refuse("two files", part);
  await refuse("expected inputs among", changed({ without: "input_ids" }));
  await refuse("expected inputs among", changed({ inputs: { more: ["int32", [1, 8]] } }));
  await refuse("expected int32 inputs", changed({ inputs: { input_ids: ["int64", [1, 8]] } }));
  await refuse("expected outputs probabilities", changed({ without: "probabilities" }));
  await refuse("expected probabilities in float32", changed({ outputs: { probabilities: ["int8", [1, 2]] } }));
  await refuse("of 2 axes", changed({ outputs: { probabilities: ["float32", [1, 8, 2]] } }));
  await refuse("2 labels and 3 classes", changed({ outputs: { probabilities: ["float32", [1, 3]] } }));
  const lacking = fileOf(metadataOf(SINGLE_LABEL, { lengths: [4, 8] }));
  lacking.signatures.shift();
  await refuse("a signature serve_4", lacking);
  await refuse("kind wordpiece", fileOf(metadataOf(SINGLE_LABEL, { tokenizer: { kind: "other" } })));
});

test("outputs of another size are refused", async () => {
  const labelled = metadataOf(SINGLE_LABEL, { labels: ["n", "p"] });
  for (const values of [undefined, new Float32Array(0), new Float32Array(3)]) {
    const engine = new FakeEngine(() => (values ? { probabilities: values } : {}));
    const model = await modelOf(labelled, engine);
    await assertRejected("convert the model again", () => model.run(row(2)));
  }
  const tagger = await modelOf(metadataOf(TAGGING), engineOf(new Float32Array(15)));
  await assertRejected("received 15 values", () => tagger.run(row(2)));
});

test("closing frees the engine, and failures of the runtime are passed on", async () => {
  const engine = engineOf();
  await (await modelOf(metadataOf(SINGLE_LABEL), engine)).close();
  assert.ok(engine.isClosed);
  const failing = new FakeEngine(() => {
    throw new KerasBertError("expected memory, received none");
  });
  const model = await modelOf(metadataOf(SINGLE_LABEL), failing);
  await assertRejected("expected memory", () => model.run(row(1)));
});
