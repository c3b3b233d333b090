import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { combinedOrder, rerank } from "../../core/search/reranking.js";

// Orders of Python.
const CASES = JSON.parse(readFileSync(new URL("../../../android_demo/testdata/reranking.json", import.meta.url), "utf8"));

test("the order is that of Python", () => {
  for (const { cosines, scores, weight, order } of CASES) assert.deepEqual(combinedOrder(cosines, scores, weight), order);
});

test("texts that were found are scored as pairs with the query", async () => {
  const asked = [];
  const model = {
    async score(text, pair) {
      asked.push([text, pair]);
      return { score: pair.length };
    },
  };
  const found = [{ index: 4, text: "a", score: 0.9 }, { index: 2, text: "abc", score: 0.8 }, { index: 7, text: "ab", score: 0.1 }];
  const places = (each) => each.map(({ index }) => index);
  assert.deepEqual(places(await rerank("q", found, model)), [2, 4, 7]);
  assert.deepEqual(asked, [["q", "a"], ["q", "abc"], ["q", "ab"]]);
  const [first, second] = await rerank("q", found, model, 1);
  assert.deepEqual([first.index, first.score, first.cosine, second.index], [2, 3, 0.8, 7]);
  assert.deepEqual(places(await rerank("q", found, model, 0)), [4, 2, 7]);
  assert.deepEqual(await rerank("q", [], model), []);
});
