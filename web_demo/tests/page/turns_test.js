import assert from "node:assert/strict";
import { test } from "node:test";

import { CanceledError } from "../../page/state/failure.js";
import { Turns } from "../../page/worker/turns.js";

function job(isLong, controller = new AbortController()) {
  return { isLong, signal: controller.signal, report: () => {} };
}

test("one run at a time, and short jobs before long ones", async () => {
  const turns = new Turns();
  const log = [];
  let running = 0;
  const run = (name) => async () => {
    assert.equal(++running, 1, "alone");
    await new Promise(setImmediate);
    running -= 1;
    log.push(name);
  };
  const long = job(true);
  await Promise.all([
    turns.take(long, run("long 1")), turns.take(long, run("long 2")), turns.take(job(false), run("short 1")),
    turns.take(job(false), run("short 2")),
  ]);
  assert.deepEqual(log, ["long 1", "short 1", "short 2", "long 2"]);
});

test("a canceled job runs no more, and the others go on", async () => {
  const turns = new Turns();
  const controller = new AbortController();
  const first = turns.take(job(false), () => new Promise(setImmediate));
  const second = turns.take(job(false, controller), () => assert.fail("it ran"));
  const third = turns.take(job(false), async () => "third");
  controller.abort();
  await first;
  await assert.rejects(second, CanceledError);
  assert.equal(await third, "third");
});

test("a run that fails leaves the turn to the next one", async () => {
  const turns = new Turns();
  await assert.rejects(turns.take(job(false), async () => Promise.reject(new Error("failed"))), /failed/);
  assert.equal(await turns.take(job(false), async () => "next"), "next");
});

test("messages are received during a long job", async () => {
  const turns = new Turns();
  let messages = 0;
  const timer = setInterval(() => (messages += 1), 0);
  const until = performance.now() + 5000;
  while (messages < 3 && performance.now() < until) await turns.take(job(true), async () => {});
  clearInterval(timer);
  assert.equal(messages, 3, `expected other tasks to run, received ${messages}`);
});
