import assert from "node:assert/strict";
import { test } from "node:test";

import { TopScores } from "../../core/top_scores.js";
import { randomNumbers } from "../text/random_numbers.js";

test("the largest are kept, and of equal ones those with small numbers, in any order of offers", () => {
  const draw = randomNumbers(3);
  for (let round = 0; round < 300; round++) {
    const scores = Array.from({ length: draw() % 80 }, () => draw() % 12);
    const count = draw() % 90;
    const top = new TopScores(count);
    const shuffled = [...scores.keys()].map((number) => [draw(), number]).sort(([one], [other]) => one - other);
    for (const [, number] of shuffled) top.offer(number, scores[number]);
    const best = [...scores.keys()].sort((one, other) => scores[other] - scores[one] || one - other).slice(0, count);
    assert.deepEqual(top.best(), best);
  }
});
