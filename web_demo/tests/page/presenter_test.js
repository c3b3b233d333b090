import assert from "node:assert/strict";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { CanceledError, FailedError, failure, failureOf } from "../../page/state/failure.js";
import { Lane } from "../../page/state/lane.js";
import { Presenter } from "../../page/state/presenter.js";

const settled = () => new Promise(setImmediate);

test("states are immutable, and observers see the present one and each new one", () => {
  const presenter = new Presenter({ text: "" });
  const seen = [];
  const end = presenter.observe(({ text }) => seen.push(text));
  presenter.show({ text: "a" });
  end();
  presenter.show({ text: "b" });
  assert.deepEqual(seen, ["", "a"]);
  assert.throws(() => (presenter.state.text = "c"), TypeError);
});

test("a result, a failure and a step that come too late are dropped", async () => {
  const presenter = new Presenter({});
  const lane = new Lane();
  const log = [];
  const callbacks = (name) => ({
    done: (result) => log.push(`${name} done ${result}`),
    failed: ({ detail }) => log.push(`${name} failed ${detail}`),
    progressed: (step) => log.push(`${name} step ${step}`),
  });
  const late = async ({ report }) => {
    await settled();
    report(1);
    return "late";
  };
  presenter.run(lane, "engine", late, callbacks("first"));
  presenter.run(lane, "engine", async () => Promise.reject(new Error("late")), callbacks("second"));
  presenter.run(lane, "engine", async ({ report }) => {
    report(2);
    return "newest";
  }, callbacks("third"));
  await settled();
  await settled();
  assert.deepEqual(log, ["third step 2", "third done newest"]);
});

test("work that the worker gave up has neither a result nor a failure", async () => {
  const presenter = new Presenter({});
  const fail = () => assert.fail("it was told");
  presenter.run(new Lane(), "engine", async () => Promise.reject(new CanceledError()), { done: fail, failed: fail });
  await settled();
});

test("a failure has the kind that it tells, or else that of the work", () => {
  const full = Object.assign(new Error("full"), { name: "QuotaExceededError" });
  const kinds = [
    new FailedError(failure("memory", "a")), new FailedError(failure(null, "b")), new KerasBertError("c"), new TypeError("d"), full,
    new RangeError("Array buffer allocation failed"), new RangeError("out of bounds"),
  ].map((error) => failureOf(error, "engine"));
  assert.deepEqual(kinds.map(({ kind }) => kind), ["memory", "engine", "engine", "engine", "storage", "memory", "engine"]);
  assert.deepEqual(kinds.slice(0, 4).map(({ detail }) => detail), ["a", "b", "c", "TypeError: d"]);
});
