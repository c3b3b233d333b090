import assert from "node:assert/strict";
import { test } from "node:test";

import { Json } from "../../core/file/json.js";
import { TaskType } from "../../core/file/task_type.js";
import { MaskedWords } from "../../core/tasks/masked_words.js";
import { assertRejected } from "../assert_refused.js";
import { FakeEngine, idOf, idsOf, metadataOf, modelOf, WORDS } from "../model/fake_model.js";

/** A task whose logits favour the token before each one, then `x`. */
async function taskOf() {
  const engine = new FakeEngine((run) => {
    const logits = new Float32Array(run.length * WORDS.length);
    for (let token = 1; token < run.ids.length; token++) {
      logits[token * WORDS.length + run.ids[token - 1]] = 3;
      logits[token * WORDS.length + idOf("x")] = 2;
    }
    return { logits };
  });
  const metadata = metadataOf(TaskType.MASKED_LM, { settings: { top: 2 } });
  return { engine, task: new MaskedWords(await modelOf(metadata, engine, WORDS.length)) };
}

test("the words of each mask, best first", async () => {
  const { task } = await taskOf();
  const prediction = await task.fill("a [MASK] b [MASK] .");
  assert.deepEqual(prediction.masks.map(({ start, end }) => [start, end]), [[2, 8], [11, 17]]);
  assert.deepEqual(prediction.masks.map(({ words }) => words.map(({ word }) => word)), [["a", "x"], ["b", "x"]]);
  const total = Math.exp(3) + Math.exp(2) + WORDS.length - 2;
  assert.ok(Math.abs(prediction.masks[0].words[0].probability - Math.exp(3) / total) < 1e-6);
  assert.equal(prediction.isCut, false);
});

test("positions are UTF-16 units, and code points in the record", async () => {
  const { task } = await taskOf();
  const prediction = await task.fill("\u{1F600} [MASK]");
  assert.equal(prediction.masks[0].start, 3);
  const record = Json.write(prediction.record());
  assert.ok(record.startsWith('{"text": "\u{1F600} [MASK]", "masks": [{"start": 2, "end": 8, "words": [{'), record);
});

test("a long text is read around its masks", async () => {
  // Rows have room for six tokens. The masks at 9 and 11 share a row, in its middle; those at 0 and 14 have their own.
  const { task, engine } = await taskOf();
  const words = Array.from({ length: 20 }, (_, place) => ([0, 9, 11, 14].includes(place) ? "[MASK]" : WORDS[5 + (place % 5)]));
  const prediction = await task.fill(words.join(" "));
  assert.ok(prediction.isCut);
  const row = (start) => idsOf(`[CLS] ${words.slice(start, start + 6).join(" ")} [SEP]`);
  assert.deepEqual(engine.runs.map((run) => run.ids), [row(0), row(7), row(11)]);
  assert.deepEqual(prediction.masks.map((mask) => mask.words[0].word), ["[CLS]", words[8], words[10], words[13]]);
});

test("a text without a mask is refused", async () => {
  const { task } = await taskOf();
  await assertRejected("expected a text with [MASK], received none in 'a b'", () => task.fill("a b"));
  await assertRejected("an empty one", () => task.fill(" \u00a0\n"));
});
