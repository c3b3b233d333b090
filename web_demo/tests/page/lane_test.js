import assert from "node:assert/strict";
import { test } from "node:test";

import { Lane } from "../../page/state/lane.js";

function work(log, name) {
  const control = {};
  control.done = new Promise((resolve) => (control.finish = resolve));
  control.run = async (signal) => {
    log.push(`${name} begins`);
    await control.done;
    log.push(`${name} ${signal.aborted ? "was replaced" : "counts"}`);
  };
  return control;
}

test("work begins when the earlier work has ended, and work between is left out", async () => {
  const log = [];
  const lane = new Lane();
  const [first, second, third] = ["first", "second", "third"].map((name) => work(log, name));
  for (const each of [first, second, third]) lane.start(each.run);
  assert.deepEqual(log, ["first begins"]);
  first.finish();
  third.finish();
  await new Promise(setImmediate);
  assert.deepEqual(log, ["first begins", "first was replaced", "third begins", "third counts"]);
});

test("work that was dropped does not count, and the next one does", async () => {
  const log = [];
  const lane = new Lane();
  const [first, second] = ["first", "second"].map((name) => work(log, name));
  lane.start(first.run);
  lane.drop();
  lane.start(second.run);
  first.finish();
  second.finish();
  await new Promise(setImmediate);
  assert.deepEqual(log, ["first begins", "first was replaced", "second begins", "second counts"]);
});
