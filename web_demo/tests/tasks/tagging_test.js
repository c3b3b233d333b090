import assert from "node:assert/strict";
import { test } from "node:test";

import { Json } from "../../core/file/json.js";
import { TaskType } from "../../core/file/task_type.js";
import { Tagging } from "../../core/tasks/tagging.js";
import { Tags } from "../../core/tasks/tags.js";
import { FakeEngine, idsOf, metadataOf, modelOf, WORDS } from "../model/fake_model.js";

const LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"];
const TAG_OF = new Map([["a", "B-X"], ["b", "I-X"], ["c", "B-Y"], ["10", "B-Y"], ["\u{1F600}", "B-X"]]); // of each token

/** An engine with tags that depend on the token alone, and a probability by the position in the row. */
function engineOf(probability = () => 0.75) {
  return new FakeEngine((run) => {
    const probabilities = new Float32Array(run.length * LABELS.length);
    run.ids.forEach((id, place) => {
      probabilities[place * LABELS.length + LABELS.indexOf(TAG_OF.get(WORDS[id]) ?? "O")] = probability(place);
    });
    return { probabilities };
  });
}

async function taskOf({ engine = engineOf(), settings = {}, labels = LABELS } = {}) {
  return new Tagging(await modelOf(metadataOf(TaskType.TAGGING, { settings, labels }), engine));
}

test("words, tags and entities", async () => {
  const task = await taskOf();
  const prediction = await task.tag("e a b, c");
  assert.deepEqual(prediction.words.map(({ text }) => text), ["e", "a", "b", ",", "c"]);
  assert.deepEqual(prediction.words.map(({ tag }) => tag), ["O", "B-X", "I-X", "O", "B-Y"]);
  assert.deepEqual(prediction.entities, [
    { label: "X", text: "a b", start: 2, end: 5, score: 0.75 },
    { label: "Y", text: "c", start: 7, end: 8, score: 0.75 },
  ]);
  assert.equal(
    Json.write((await task.tag("c")).record()),
    '{"text": "c", "words": ["c"], "tags": ["B-Y"], "entities": [{"label": "Y", "text": "c", "start": 0, "end": 1, "score": 0.75}]}',
  );
});

test("entities are UTF-16 units, and code points in the record", async () => {
  // The first word is unknown, the second is not.
  const prediction = await (await taskOf()).tag("\u{1F600}\u{1F600} \u{1F600} c");
  assert.deepEqual(prediction.entities.map(({ start, end }) => [start, end]), [[5, 7], [8, 9]]);
  const record = Json.write(prediction.record());
  assert.ok(record.includes('"start": 3, "end": 4') && record.includes('"start": 5, "end": 6'), record);
});

test("a word is classified on its first token", async () => {
  const engine = engineOf();
  const prediction = await (await taskOf({ engine })).tag("as");
  assert.deepEqual(prediction.words.map(({ tag }) => tag), ["B-X"]);
  assert.deepEqual(engine.last.ids, idsOf("[CLS] a ##s [SEP]"));
});

test("each word of a long text has the tag of the window with most context", async () => {
  // Rows have room for six tokens, and start every three: the words 0..5, 3..8 and 6..11.
  const engine = engineOf((place) => place / 10); // shows the position in the row
  const words = Array.from({ length: 12 }, (_, place) => (place % 2 === 0 ? "a" : "e"));
  const done = [];
  const prediction = await (await taskOf({ engine, settings: { stride: 3 } })).tag(words.join(" "), (one, all) => done.push([one, all]));
  assert.deepEqual(done, [[1, 3], [2, 3], [3, 3]]);
  assert.deepEqual(prediction.words.map(({ tag }) => tag), words.map((word) => (word === "a" ? "B-X" : "O")));
  // Words 0 to 4 are tagged in the first window (4 has one word behind it in both, the first of equals counts), 5 to 7 in the second.
  const places = [1, 2, 3, 4, 5, 3, 4, 5, 3, 4, 5, 6];
  assert.deepEqual(prediction.words.map(({ score }) => Math.round(score * 10)), places);
});

test("the score of a long entity is the mean that NumPy computes", async () => {
  // NumPy adds eight sums side by side, and halves what is longer than 128: any other order of additions gives another last digit.
  for (const [size, mean] of [[32, 0.07291666704398142], [150, 0.062222222518910804]]) {
    const values = Array.from({ length: size }, (_, place) => 1 / 7 ** (place % 20));
    const engine = new FakeEngine((run) => {
      const probabilities = new Float32Array(run.length * LABELS.length);
      for (let place = 1; place <= size; place++) {
        probabilities[place * LABELS.length + LABELS.indexOf(place === 1 ? "B-X" : "I-X")] = values[place - 1];
      }
      return { probabilities };
    });
    const task = new Tagging(await modelOf(metadataOf(TaskType.TAGGING, { labels: LABELS, length: 160 }), engine));
    const [{ score }] = (await task.tag(Array(size).fill("a").join(" "))).entities;
    assert.equal(score, mean);
  }
});

test("words that share a token share its tag", () => {
  const tags = new Tags(LABELS);
  assert.deepEqual(tags.expand("B-X", 3), ["B-X", "I-X", "I-X"]);
  assert.deepEqual(tags.expand("O", 2), ["O", "O"]);
  assert.deepEqual(new Tags(["O", "S-X", "E-X"]).expand("S-X", 3), ["B-X", "I-X", "E-X"]);
  assert.deepEqual(new Tags(["NN", "VB"]).expand("NN", 2), ["NN", "NN"]);
  const bmes = new Tags(["0", "B-X", "M-X", "E-X", "S-X"]);
  assert.deepEqual(bmes.expand("S-X", 3), ["B-X", "M-X", "E-X"]);
  assert.equal(bmes.outside, "0");
  assert.deepEqual(bmes.spans(["B-X", "M-X", "E-X", "0", "S-X"]), [
    { label: "X", first: 0, end: 3 },
    { label: "X", first: 4, end: 5 },
  ]);
});

test("entities of all schemes, and of invalid tags", () => {
  const spans = (...tags) => new Tags(LABELS).spans(tags).map(({ label, first, end }) => `${label} ${first}-${end}`);
  assert.deepEqual(spans("B-X", "I-X", "B-X", "O"), ["X 0-2", "X 2-3"]);
  assert.deepEqual(spans("O", "I-X", "I-X", "O"), ["X 1-3"]);
  assert.deepEqual(spans("B-X", "I-Y"), ["X 0-1", "Y 1-2"]);
  assert.deepEqual(spans("B-X", "I-X", "E-X", "S-X", "S-X"), ["X 0-3", "X 3-4", "X 4-5"]);
  assert.deepEqual(spans("B-X", "L-X", "U-Y"), ["X 0-2", "Y 2-3"]);
  assert.deepEqual(spans("B", "I"), ["_ 0-2"]);
  assert.deepEqual(spans("NN", "NN"), ["NN 0-2"]);
  assert.deepEqual(spans("E-X", "I-X"), ["X 0-1", "X 1-2"]);
  assert.deepEqual(spans("O", "O"), []);
});

test("tags that mark no entities", async () => {
  const prediction = await (await taskOf({ labels: ["N", "V", "P", "Q", "R"] })).tag("a e");
  assert.deepEqual(prediction.words.map(({ tag }) => tag), ["V", "N"]);
  assert.deepEqual(prediction.entities, []);
});

test("a text without words, and words without tokens", async () => {
  const task = await taskOf();
  assert.deepEqual((await task.tag(" \n")).words, []);
  // A variation selector is a word to the splitter, and nothing to the tokenizer, which drops marks.
  const word = (await task.tag("a \u0301")).words.at(-1);
  assert.equal(word.tag, "O");
  assert.equal(word.score, 1);
});
