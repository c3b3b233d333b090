import assert from "node:assert/strict";
import { test } from "node:test";

import { linkOf, LONGEST_LINK, readLink } from "../../page/state/share_link.js";
import { assertRefused } from "../assert_refused.js";

const PAGE = "https://example.org/sub/path/?x=1#panel=speed";

test("a link holds a panel, a model's name and texts in its fragment", () => {
  const shared = { panel: "ask", model: "answers (2)", text: "a & b = c #1\n50 % + 1 €😀", question: "wo?" };
  const link = linkOf(PAGE, shared);
  const url = new URL(link);
  assert.equal(link.slice(0, link.indexOf("#")), "https://example.org/sub/path/?x=1");
  assert.deepEqual({ ...readLink(url.hash) }, shared);
});

test("a lone surrogate does not break a link", () => {
  const link = linkOf(PAGE, { panel: "classify", model: "", text: "a\ud83d b", question: "" });
  assert.equal(readLink(new URL(link).hash).text, "a\ufffd b");
});

test("a link that is too long is refused, in both directions", () => {
  const text = "x".repeat(LONGEST_LINK);
  assertRefused("at most 8,000 characters", () => linkOf(PAGE, { panel: "classify", model: "", text, question: "" }));
  assertRefused("at most 8,000 characters", () => readLink(`#panel=classify&text=${text}`));
});

test("a fragment that names no panel is none of a link", () => {
  const others = ["", "#", "#top", "#panel=", "#panel=constructor", "#text=abc", "#panel=%E0%A4%A"];
  for (const hash of others) assert.equal(readLink(hash), null, hash);
});
