import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { ModelFile } from "../../core/file/model_file.js";
import { IndexFile } from "../../core/search/index_file.js";
import { SentenceSearch } from "../../core/search/sentence_search.js";
import { Prompts } from "../../core/tasks/prompts.js";
import { NEEDS_LITERT } from "../engine/litert_or_skip.js";
import { modelPath, run } from "./command_line.js";

const FOLDER = mkdtempSync(join(tmpdir(), "kerasbert-search-"));
const VECTOR = modelPath("vector");
const SCORE = modelPath("score");

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

test("a model of pairs orders what was found", NEEDS_LITERT, async () => {
  const texts = ["the film was good", "a dull book", "who saw the river", "a bad bank"];
  const path = file("pairs.txt", texts.join("\n"));
  const search = async (...more) => results((await run(["search", VECTOR, path, ...more], "the film was good")).out)[0].results;
  const [plain, both, alone] = [await search(), await search("--rerank", SCORE), await search("--rerank", SCORE, "--rerank-weight", "1")];
  const cosines = new Map(plain.map(({ index, score }) => [index, score]));
  for (const { index, cosine } of both) assert.equal(cosine, cosines.get(index));
  const scores = alone.map(({ score }) => score);
  assert.deepEqual(scores, [...scores].sort((one, other) => other - one));
  assert.notDeepEqual(alone.map(({ index }) => index), plain.map(({ index }) => index));
  const few = await search("--rerank", SCORE, "--rerank-weight", "1", "--candidates", "2", "--top", "1");
  assert.ok(plain.slice(0, 2).some(({ index }) => index === few[0].index), "the other texts are not scored");
  const without = await run(["search", VECTOR, path, "--candidates", "2"], "a");
  assert.equal(without.err, "error: expected --rerank with --candidates, received none; add it\n");
  const other = await run(["search", VECTOR, path, "--rerank", VECTOR], "a");
  assert.equal(other.code, 2);
  assert.match(other.err, /expected a model of the task type regression, received .* of embedding; open another\n$/);
});

test("an index is searched with the model that made it", NEEDS_LITERT, async () => {
  const search = new SentenceSearch("another", 16);
  search.add("a text", new Float32Array(16).fill(0.25));
  const other = await run(["search", VECTOR, file("other.kbindex", IndexFile.write(search))], "a");
  assert.equal(other.code, 2);
  assert.match(other.err, /another/);
  const named = new Prompts(ModelFile.of(new Uint8Array(readFileSync(VECTOR)), "vector").metadata).vectorsName;
  const own = new SentenceSearch(named, 16);
  own.add("a text", new Float32Array(16).fill(0.25));
  const [found] = results((await run(["search", VECTOR, file("own.kbindex", IndexFile.write(own))], "a")).out);
  assert.equal(found.results[0].text, "a text");
});

test("files without texts, and models of another task, are refused", NEEDS_LITERT, async () => {
  const missing = await run(["search", VECTOR, join(FOLDER, "none.txt")], "a");
  assert.equal(missing.code, 2);
  assert.match(missing.err, /which is not there; check the path/);
  const labels = await run(["search", modelPath("label"), file("one.txt", "a")], "a");
  assert.equal(labels.code, 2);
  assert.match(labels.err, /^error: expected a model of the task type embedding, received .* of single_label; open another\n$/);
});
