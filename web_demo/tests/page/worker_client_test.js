import assert from "node:assert/strict";
import { test } from "node:test";

import { CanceledError, FailedError } from "../../page/state/failure.js";
import { serve } from "../../page/worker/serve.js";
import { WorkerClient } from "../../page/worker_client.js";

class FakeWorker {
  sent = [];
  isTerminated = false;

  postMessage(message) {
    this.sent.push(message);
  }

  terminate() {
    this.isTerminated = true;
  }

  answer(message) {
    this.onmessage({ data: message });
  }
}

function started() {
  const workers = [];
  const client = new WorkerClient(() => {
    workers.push(new FakeWorker());
    return workers.at(-1);
  }, "wasm");
  return { client, workers };
}

function control() {
  const controller = new AbortController();
  const steps = [];
  return { controller, steps, signal: controller.signal, report: (...step) => steps.push(step) };
}

test("steps and the result of a call reach it, those of others do not", async () => {
  const { client, workers } = started();
  const one = control();
  const other = control();
  const [first, second] = [client.call("classify", { text: "a" }, one), client.call("classify", { text: "b" }, other)];
  const [worker] = workers;
  worker.answer({ id: worker.sent[1].id, step: [1, 2] });
  worker.answer({ id: worker.sent[1].id, result: "of b" });
  worker.answer({ id: worker.sent[0].id, result: "of a" });
  assert.deepEqual(await Promise.all([first, second]), ["of a", "of b"]);
  assert.deepEqual([one.steps, other.steps], [[], [[1, 2]]]);
});

test("a call that is canceled tells the worker, once, and ends when the worker has", async () => {
  const { client, workers } = started();
  const { controller, ...rest } = control();
  const call = client.call("index", {}, rest);
  controller.abort();
  const [worker] = workers;
  assert.deepEqual(worker.sent[1], { cancel: worker.sent[0].id });
  worker.answer({ id: worker.sent[0].id, isCanceled: true });
  await assert.rejects(call, CanceledError);
});

test("a result after which a call is canceled tells the worker nothing", async () => {
  const { client, workers } = started();
  const { controller, ...rest } = control();
  const call = client.call("classify", {}, rest);
  workers[0].answer({ id: workers[0].sent[0].id, result: 1 });
  await call;
  controller.abort();
  assert.equal(workers[0].sent.length, 1);
});

test("a worker that broke fails all calls, and the next call has another one", async () => {
  const { client, workers } = started();
  const calls = [client.call("classify", {}, control()), client.call("search", {}, control())];
  const failure = { kind: "engine", detail: "trap" };
  workers[0].answer({ id: workers[0].sent[0].id, failure, isFatal: true });
  for (const call of calls) await assert.rejects(call, (error) => error instanceof FailedError && error.failure.detail === "trap");
  assert.equal(workers[0].isTerminated, true);
  client.call("classify", {}, control());
  assert.equal(workers.length, 2);
});

test("a worker whose script does not load fails its calls", async () => {
  const { client, workers } = started();
  const call = client.call("classify", {}, control());
  workers[0].onerror({ message: "", preventDefault: () => {} });
  await assert.rejects(call, /expected the page's worker to run, received no answer/);
});

test("another accelerator has another worker, and the calls before are over", async () => {
  const { client, workers } = started();
  const call = client.call("classify", {}, control());
  client.use("webgpu");
  await assert.rejects(call, CanceledError);
  assert.equal(workers[0].isTerminated, true);
});

test("the worker says which failures are fatal", async () => {
  const sent = [];
  const trap = new Error("unreachable", { cause: new WebAssembly.RuntimeError("unreachable") });
  const failures = { trap, usual: new Error("usual"), canceled: new CanceledError() };
  const service = { call: async (method) => Promise.reject(failures[method]) };
  const receive = serve({ postMessage: (message) => sent.push(message) }, service);
  for (const [id, method] of Object.keys(failures).entries()) receive({ id, method, args: {} });
  await new Promise(setImmediate);
  assert.deepEqual(sent.map(({ isFatal, isCanceled }) => isFatal ?? isCanceled), [true, false, true]);
  assert.equal(sent[2].failure, undefined);
});
