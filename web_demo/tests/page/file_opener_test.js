import assert from "node:assert/strict";
import { test } from "node:test";

import { FileOpener } from "../../page/state/file_opener.js";
import { panelFor } from "../../page/state/task_types.js";
import { tinyModel } from "../tiny_models.js";
import { FakePage } from "./fakes.js";

async function opened(name, file) {
  const page = new FakePage("label.tflite");
  const log = [];
  const opener = new FileOpener(page.client, page.library, {
    reading: (each) => log.push(`reading ${each}`),
    model: (entry) => log.push(`model ${entry.name} ${entry.type}`),
    texts: (each) => log.push(`texts ${each}`),
    failure: ({ kind, detail }) => log.push(`${kind}: ${detail}`),
  });
  await opener.open(name, file);
  return log;
}

test("a model is read by the worker, and added", async () => {
  assert.deepEqual(await opened("tags.tflite", new Blob([tinyModel("tags.tflite")])), ["reading tags.tflite", "model tags tagging"]);
});

test("texts are told from models by their names", async () => {
  for (const name of ["a.txt", "b.CSV", "c.tsv", "d.md", "e.kbindex"]) {
    assert.deepEqual(await opened(name, new Blob(["x"])), [`texts ${name}`]);
  }
});

test("a file that is no model is refused in a sentence", async () => {
  const files = { "photo.jpg": new Blob(["x".repeat(100)]), "empty.tflite": new Blob([]) };
  for (const [name, file] of Object.entries(files)) {
    const log = await opened(name, file);
    assert.match(log[1], new RegExp(`^unreadable_model: expected a .tflite file .*received ${name}`));
  }
});

test("a file that is too large is refused before it is read", async () => {
  const log = await opened("huge.tflite", { size: 500 * 2 ** 20, arrayBuffer: () => assert.fail("it was read") });
  assert.equal(log.length, 1);
  assert.match(log[0], /^unreadable_model: expected a .tflite file of at most 400 MB/);
});

test("a model is shown in the panel of its task", () => {
  assert.equal(panelFor("tagging", "classify"), "classify");
  assert.equal(panelFor("embedding", "teach"), "teach", "the panel stays if it fits");
  assert.equal(panelFor("question_answering", "search"), "ask");
  assert.equal(panelFor("masked_lm", "search"), "speed");
});
