import assert from "node:assert/strict";
import { test } from "node:test";

import { Numbers } from "../../page/state/numbers.js";

const numbers = new Numbers("en");

test("numbers are shown in three digits or so", () => {
  assert.deepEqual([0.0049, 5, 45.678, 4567.8].map((time) => numbers.milliseconds(time)), ["0.00", "5.00", "45.7", "4,568"]);
  assert.deepEqual([4699858, 999, 53459].map((size) => numbers.bytes(size)), ["4.7 MB", "1 kB", "53 kB"]);
  assert.equal(numbers.similarity(-0.123), "-0.12");
  assert.equal(numbers.whole(20000), "20,000");
});

test("only what is nearly 0 or 1 is shown as 0 or 100 percent", () => {
  const shown = [0, 0.0004, 0.0006, 0.5, 0.9994, 0.9996, 1].map((each) => numbers.percent(each));
  assert.deepEqual(shown, ["0", "0", "0.1", "50.0", "99.9", "100", "100"]);
});
