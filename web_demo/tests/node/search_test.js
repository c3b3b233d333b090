import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { NEEDS_LITERT } from "../engine/litert_or_skip.js";
import { modelPath, run } from "./command_line.js";

const FOLDER = mkdtempSync(join(tmpdir(), "kerasbert-search-"));
const VECTOR = modelPath("vector");

after(() => rmSync(FOLDER, { recursive: true }));

function file(name, content) {
  const path = join(FOLDER, name);
  writeFileSync(path, content);
  return path;
}

const results = (out) => out.trimEnd().split("\n").map((line) => JSON.parse(line));

test("a text finds itself first, and then others", NEEDS_LITERT, async () => {
  const texts = ["the film was good", "a dull book", "who saw the river"];
  const { code, out, err } = await run(["search", VECTOR, file("texts.txt", texts.join("\n")), "--top", "2"], texts.join("\n"));
  assert.equal(code, 0);
  const [indexed, answered] = err.split("\n");
  assert.match(indexed, /^note: indexed 3 texts in [\d.]+ s; their vectors take 60 bytes$/);
  assert.match(answered, /^note: answered 3 queries: [\d.]+ ms for a vector, [\d.]+ ms for its search$/);
  for (const [number, { query, results: found }] of results(out).entries()) {
    assert.equal(query, texts[number]);
    assert.deepEqual([found.length, found[0].index, found[0].text], [2, number, query]);
    assert.ok(found[0].score > 0.98 && found[0].score >= found[1].score);
  }
});

test("the column of a table", NEEDS_LITERT, async () => {
  const table = file("texts.csv", "id,note,title\n1,a very long note,good film\n2,another long note,dull book\n");
  const [found] = results((await run(["search", VECTOR, table, "--column", "title"], "dull book")).out);
  assert.equal(found.results[0].text, "dull book");
  const other = await run(["search", VECTOR, table, "--column", "name"], "dull book");
  assert.equal(other.code, 2);
  assert.equal(other.err, "error: expected a column among id, note, title, received name; name one of them\n");
});

test("files without texts, and models of another task, are refused", NEEDS_LITERT, async () => {
  const missing = await run(["search", VECTOR, join(FOLDER, "none.txt")], "a");
  assert.equal(missing.code, 2);
  assert.match(missing.err, /which is not there; check the path/);
  const labels = await run(["search", modelPath("label"), file("one.txt", "a")], "a");
  assert.equal(labels.code, 2);
  assert.match(labels.err, /^error: expected a model of the task type embedding, received .* of single_label; open another\n$/);
});
