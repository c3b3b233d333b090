import assert from "node:assert/strict";
import { test } from "node:test";

import { GoldenComparison } from "./golden_comparison.js";
import { GoldenFolder, SMALL } from "./golden_folder.js";

const golden = new GoldenFolder(SMALL);

test("there are golden vectors of all kinds of tokenizers", () => {
  assert.ok(golden.texts.length >= 600);
  assert.ok(golden.cases.length >= 6);
});

for (const each of golden.cases) {
  test(`every token, place, sequence, window and word of ${each.name} equals Python's`, () => {
    const comparison = new GoldenComparison(each, golden.texts).all();
    assert.deepEqual(comparison.mismatches, {}, String(comparison));
    assert.equal(comparison.rows.tokens, golden.texts.length);
    for (const name of ["pairs", "windows", "words"]) assert.ok(comparison.rows[name] >= 40, name);
  });
}
