import assert from "node:assert/strict";
import { test } from "node:test";

import { LatencyClock } from "../../core/timing/latency_clock.js";

/** A clock whose time passes in its runs only. */
function clockOf() {
  let time = 0;
  const clock = new LatencyClock(() => time);
  const pass = (milliseconds) => async () => {
    time += milliseconds;
    return "done";
  };
  return { clock, pass, run: async (times) => {
    for (const milliseconds of times) await clock.run(pass(milliseconds));
  } };
}

test("loading and the first run are apart from the others", async () => {
  const { clock, pass, run } = clockOf();
  assert.equal(await clock.load(pass(80)), "done");
  await run([50, 4, 1, 3, 2]);
  const { p95, ...latency } = clock.latency();
  assert.deepEqual(latency, { load: 80, first: 50, p50: 2.5, runs: 4 });
  assert.ok(Math.abs(p95 - 3.85) < 1e-9);
});

test("quantiles are those of NumPy", async () => {
  const { clock, run } = clockOf();
  await run([0, ...Array.from({ length: 200 }, (_, number) => (number * 37) % 200)]);
  const { p50, p95, runs } = clock.latency();
  assert.ok(Math.abs(p50 - 99.5) < 1e-9);
  assert.ok(Math.abs(p95 - 189.05) < 1e-9);
  assert.equal(runs, 200);
});

test("nothing is measured before a run", () => {
  assert.deepEqual(new LatencyClock().latency(), { load: null, first: null, p50: null, p95: null, runs: 0 });
});
