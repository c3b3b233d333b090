import assert from "node:assert/strict";
import { test } from "node:test";

import { ModelFile } from "../../core/file/model_file.js";
import { assertRejected } from "../assert_refused.js";
import { tinyModel } from "../tiny_models.js";
import { litert, NEEDS_LITERT } from "./litert_or_skip.js";

const IDS = [2, 5, 9, 3];
const BATCH_MATMUL = 126; // in `BuiltinOperator`
const NO_OPERATOR = 250;

async function open(name, content = tinyModel(name)) {
  return (await litert()).open(content, ModelFile.of(content, name));
}

function inputs(length, ids = IDS) {
  const values = (of) => Int32Array.from({ length }, (_, place) => (place < ids.length ? of(ids[place]) : 0));
  return new Map([["input_ids", values((id) => id)], ["attention_mask", values(() => 1)], ["token_type_ids", values(() => 0)]]);
}

function changed(content, place) {
  const copy = content.slice();
  copy[place] = NO_OPERATOR;
  return copy;
}

function isSound(content) {
  try {
    return ModelFile.of(content, "a copy") !== null;
  } catch {
    return false;
  }
}

function assertNear(received, expected, most = 1e-5) {
  assert.equal(received.length, expected.length);
  received.forEach((value, place) => assert.ok(Math.abs(value - expected[place]) <= most, `${[...received]}, ${[...expected]}`));
}

test("signatures of several lengths give one answer, in any order", NEEDS_LITERT, async () => {
  const engine = await open("label.tflite");
  const run = async (signature, length, ids) => (await engine.run(signature, inputs(length, ids))).get("probabilities");
  const short = await run("serve_8", 8);
  assert.ok(Math.abs(short.reduce((sum, value) => sum + value, 0) - 1) < 1e-5);
  assertNear(await run("serve_16", 16), short);
  assertNear(await run("serve_8", 8), short, 0);
  assert.notDeepEqual(await run("serve_8", 8, [2, 6, 3]), short);
  assert.equal(engine.title, "LiteRT.js with WebAssembly");
  assert.deepEqual([engine.accelerator, engine.isPartial], ["wasm", false]);
  await engine.close();
});

test("a resizable file runs at any length", NEEDS_LITERT, async () => {
  const engine = await open("vector.tflite");
  const vectors = [];
  for (const length of [16, 8, 5, 16]) vectors.push((await engine.run("serve", inputs(length))).get("embedding"));
  assert.equal(vectors[0].length, 16);
  for (const vector of vectors) assertNear(vector, vectors[0]);
  await engine.close();
});

test("outputs of each token have the length of the row", NEEDS_LITERT, async () => {
  const engine = await open("tags.tflite");
  assert.equal((await engine.run("serve", inputs(16))).get("probabilities").length, 16 * 5);
  await engine.close();
});

test("runs that are started at once have the answers of single ones", NEEDS_LITERT, async () => {
  const engine = await open("label.tflite");
  const rows = Array.from({ length: 12 }, (_, number) => inputs(8, [2, 5 + number, 3]));
  const together = await Promise.all(rows.map((row) => engine.run("serve_8", row)));
  for (const [number, row] of rows.entries()) {
    assert.deepEqual(together[number].get("probabilities"), (await engine.run("serve_8", row)).get("probabilities"));
  }
  await engine.close();
});

test("what the model does not take is refused, and it runs on", NEEDS_LITERT, async () => {
  const engine = await open("label.tflite");
  await assertRejected("a signature among serve_", () => engine.run("serve", inputs(16)));
  const incomplete = new Map([["input_ids", new Int32Array(8)]]);
  await assertRejected("8 values of attention_mask, received none", () => engine.run("serve_8", incomplete));
  await assertRejected("8 values of attention_mask, received 9", () => engine.run("serve_8", inputs(9)));
  assert.equal((await engine.run("serve_8", inputs(8))).get("probabilities").length, 3);
  await engine.close();
});

test("a closed engine does not run, and closes once", NEEDS_LITERT, async () => {
  const engine = await open("label.tflite");
  const before = engine.run("serve_8", inputs(8));
  await engine.close();
  await engine.close();
  assert.equal((await before).get("probabilities").length, 3);
  await assertRejected("which was closed", () => engine.run("serve_8", inputs(8)));
});

test("a model that only the runtime refuses, is refused", NEEDS_LITERT, async () => {
  const content = tinyModel("label.tflite");
  const copies = [...content.keys()].filter((place) => content[place] === BATCH_MATMUL).map((place) => changed(content, place));
  let refused = 0;
  for (const copy of copies.filter(isSound)) {
    await open("label.tflite", copy).then((engine) => engine.close(), (error) => {
      assert.match(error.message, /^expected label.tflite to load with WebAssembly, received [^\n]+; convert the model again/);
      refused++;
    });
  }
  assert.ok(refused > 0);
});

test("WebGPU, which Node lacks, is refused, or WebAssembly runs all where that is allowed", NEEDS_LITERT, async () => {
  const content = tinyModel("label.tflite");
  const file = ModelFile.of(content, "label.tflite");
  const runtime = await litert();
  await assertRejected("expected WebGPU, received a browser without it", () => runtime.open(content, file, { accelerator: "webgpu" }));
  const engine = await runtime.open(content, file, { accelerator: "webgpu", allowFallback: true });
  assert.equal(engine.title, "LiteRT.js with WebAssembly");
  assert.equal(engine.accelerator, "wasm");
  await engine.close();
});

test("fifty models that are opened and closed take no memory", NEEDS_LITERT, async () => {
  const open50 = async () => {
    for (let number = 0; number < 50; number++) {
      const engine = await open("label.tflite");
      await engine.run("serve_8", inputs(8));
      await engine.close();
    }
    return process.memoryUsage().rss;
  };
  const before = await open50();
  const after = await open50();
  assert.ok(after - before < 20e6, `${(after - before) / 1e6} MB`);
});
