import assert from "node:assert/strict";
import { test } from "node:test";

import { CanceledError } from "../../page/state/failure.js";
import { Models } from "../../page/worker/models.js";
import { Turns } from "../../page/worker/turns.js";
import { tinyModel } from "../tiny_models.js";
import { FakeEngines } from "./fakes.js";

const NAMES = ["label.tflite", "tags.tflite", "vector.tflite"];

function made() {
  const engines = new FakeEngines();
  const reads = [];
  const read = async ({ name }, report) => {
    reads.push(name);
    await new Promise(setImmediate);
    report(1, 2);
    return tinyModel(name);
  };
  return { engines, reads, models: new Models(engines, read, new Turns()) };
}

function job() {
  const controller = new AbortController();
  const steps = [];
  return { isLong: false, controller, signal: controller.signal, steps, report: (...step) => steps.push(step) };
}

test("at most two models stay open, the most recently used ones", async () => {
  const { engines, models } = made();
  for (const name of NAMES) await models.use({ name }, "wasm", job(), () => {});
  assert.deepEqual([engines.opened, engines.closed], [3, 1]);
  await models.use({ name: "tags.tflite" }, "wasm", job(), () => {});
  assert.equal(engines.opened, 3, "it was open");
  await models.use({ name: "label.tflite" }, "wasm", job(), () => {});
  assert.equal(engines.opened, 4, "it had been closed");
});

test("a model that is in use is not closed", async () => {
  const { engines, models } = made();
  let finish;
  const long = models.use({ name: "label.tflite" }, "wasm", job(), () => new Promise((resolve) => (finish = resolve)));
  for (const name of ["tags.tflite", "vector.tflite"]) await models.use({ name }, "wasm", job(), () => {});
  assert.equal(engines.closed, 1, "one that was not in use");
  await models.use({ name: "label.tflite" }, "wasm", job(), () => {});
  assert.equal(engines.opened, 3);
  finish();
  await long;
});

test("a model that two jobs wait for is read once, and both are told of its progress", async () => {
  const { reads, models } = made();
  const [one, other] = [job(), job()];
  await Promise.all([one, other].map((each) => models.use({ name: "label.tflite" }, "wasm", each, () => {})));
  assert.deepEqual(reads, ["label.tflite"]);
  assert.deepEqual([one.steps, other.steps], [[[1, 2]], [[1, 2]]]);
});

test("a job that is canceled while its model loads ends at once, and the model is there for the next one", async () => {
  const { reads, models } = made();
  const canceled = job();
  const use = models.use({ name: "label.tflite" }, "wasm", canceled, () => assert.fail("it ran"));
  canceled.controller.abort();
  await assert.rejects(use, CanceledError);
  await models.use({ name: "label.tflite" }, "wasm", job(), () => {});
  assert.deepEqual(reads, ["label.tflite"]);
});

test("a model that failed to load is tried again", async () => {
  const { engines, models } = made();
  engines.failure = new Error("no memory");
  await assert.rejects(models.use({ name: "label.tflite" }, "wasm", job(), () => {}), /no memory/);
  engines.failure = null;
  assert.equal(await models.use({ name: "label.tflite" }, "wasm", job(), () => "runs"), "runs");
});

test("a model that was removed is closed, and read anew under its name", async () => {
  const { engines, reads, models } = made();
  await models.use({ name: "label.tflite" }, "wasm", job(), () => {});
  await models.forget("label.tflite");
  assert.equal(engines.closed, 1);
  await models.use({ name: "label.tflite" }, "wasm", job(), () => {});
  assert.equal(reads.length, 2);
});
