import assert from "node:assert/strict";
import { test } from "node:test";

import { passageAround, partsOf } from "../../page/state/text_parts.js";

const mark = (start, end) => ({ start, end });

test("the parts of a text are the text again", () => {
  const text = "Ada met 😀 Bob";
  const parts = partsOf(text, [mark(0, 3), mark(8, 10), mark(11, 14)]);
  assert.deepEqual(parts.map((part) => part.text), ["Ada", " met ", "😀", " ", "Bob"]);
  assert.deepEqual(parts.map((part) => part.mark !== null), [true, false, true, false, true]);
});

test("marks that overlap, are empty or lie outside are left out", () => {
  const text = "abcdef";
  const parts = partsOf(text, [mark(1, 3), mark(2, 4), mark(4, 4), mark(5, 9)]);
  assert.equal(parts.map((part) => part.text).join(""), text);
  assert.equal(parts.filter((part) => part.mark).length, 1);
});

test("a text without marks is one part, and an empty one none", () => {
  assert.deepEqual(partsOf("abc", []), [{ text: "abc", mark: null }]);
  assert.deepEqual(partsOf("", []), []);
});

test("a passage does not cut a surrogate pair", () => {
  const text = `${"😀".repeat(10)}answer${"😀".repeat(10)}`;
  for (let most = 0; most < 22; most++) {
    const { start, end } = passageAround(text, 20, 26, most);
    const passage = text.slice(start, end);
    assert.equal(passage.replace(/\p{Surrogate}/gu, "?"), passage, `${most} units around`);
    assert.ok(passage.includes("answer"));
    assert.ok(end - start <= 6 + 2 * (most + 1));
  }
});

test("a lone surrogate may be at the border of a passage", () => {
  assert.deepEqual(passageAround("\ud83d\ud83dabc", 2, 5, 1), { start: 1, end: 5 });
});
