import assert from "node:assert/strict";
import { test } from "node:test";

import { ModelFile } from "../../core/file/model_file.js";
import { TextModel } from "../../core/model/text_model.js";
import { IndexFile } from "../../core/search/index_file.js";
import { SentenceSearch } from "../../core/search/sentence_search.js";
import { Int8Vector } from "../../core/search/vector_index.js";
import { taskOf } from "../../core/tasks/task_of.js";
import { SearchPresenter } from "../../page/state/search_presenter.js";
import { tinyModel } from "../tiny_models.js";
import { FakeEngines, FakePage, modelOf } from "./fakes.js";

const ROWS = [
  ["the film was good", "notes/films.md", 0], ["\u{1F600} a dull book", "notes/films.md", 2000], ["who saw the river", "faq.csv:3", 0],
];

/** The file of an index that the tiny model made, which Python opened as `search`. */
async function indexOf(rows) {
  const file = ModelFile.of(tinyModel("vector.tflite"), "vector.tflite");
  const encoder = taskOf(await TextModel.open(file, (each) => new FakeEngines().open(each, null, "wasm")));
  let search = null;
  for (const [text, document, start] of rows) {
    const { vector } = await encoder.encodeDocument(text);
    search ??= new SentenceSearch(encoder.vectorsName, vector.length, { openedAs: "search" });
    search.addStored(text, Int8Vector.of(vector), search.documentOf(document, 1), start);
  }
  return new Blob([IndexFile.write(search)]);
}

async function searching(page) {
  const presenter = new SearchPresenter(page.client, page.library);
  presenter.start();
  await page.settled();
  return presenter;
}

async function opened(page, rows = ROWS) {
  const presenter = await searching(page);
  presenter.importFile("notes.kbindex", await indexOf(rows));
  await page.settled();
  return presenter;
}

async function found(page, presenter, query) {
  presenter.write(query);
  await page.settled();
  return presenter.state.matches.map(({ text }) => text);
}

/** What the presenter says about its texts. */
function corpusOf({ state: { corpus } }) {
  return [corpus.name, corpus.count, corpus.index?.openedAs ?? null, corpus.index?.failure?.kind ?? null];
}

test("an index is searched as it is, with the places of its rows", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  const file = await indexOf(ROWS);
  const { runs } = page.engines;
  presenter.importFile("notes.kbindex", file);
  await page.settled();
  assert.equal(page.engines.runs, runs, "nothing is encoded");
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
  assert.equal(presenter.state.corpus.isKept, false);
  for (const [number, [text, document, start]] of ROWS.entries()) {
    await found(page, presenter, text);
    const { matches } = presenter.state;
    assert.equal(page.engines.runs, runs + number + 1, "only the query");
    const place = { document, start, end: start + [...text].length };
    assert.deepEqual(matches[0], { index: number, text, score: matches[0].score, place });
    assert.deepEqual(matches.map(({ index }) => index).sort(), [0, 1, 2]);
  }
  presenter.write("");
  assert.deepEqual(presenter.state.matches, []);
});

test("an index changes nothing of what is kept, and is left for it", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  presenter.importFile("mine.txt", new Blob(["the song\nthe sea"]));
  await page.settled();
  const kept = await page.store.read("search");
  presenter.importFile("notes.kbindex", await indexOf(ROWS));
  await page.settled();
  assert.deepEqual(await page.store.read("search"), kept);
  assert.deepEqual(corpusOf(await searching(page)), ["mine.txt", 2, null, null], "after a reload");
  assert.equal((await found(page, presenter, "the film was good"))[0], "the film was good");
  presenter.closeIndex();
  await page.settled();
  assert.deepEqual(corpusOf(presenter), ["mine.txt", 2, null, null]);
  assert.equal((await found(page, presenter, "the song"))[0], "the song");
  assert.equal(presenter.state.matches[0].place, null);
});

test("texts that are imported, and another index, take the place of an index", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await opened(page);
  presenter.importFile("other.kbindex", await indexOf(ROWS.slice(0, 1)));
  await page.settled();
  assert.deepEqual(corpusOf(presenter), ["other.kbindex", 1, "search", null]);
  assert.deepEqual(await found(page, presenter, "the river"), ["the film was good"]);
  presenter.importFile("mine.txt", new Blob(["the song\nthe sea"]));
  await page.settled();
  assert.deepEqual(corpusOf(presenter), ["mine.txt", 2, null, null]);
  assert.deepEqual((await found(page, presenter, "the sea")).sort(), ["the sea", "the song"]);
  page.client.use("webgpu");
  presenter.accelerate("webgpu");
  await page.settled();
  assert.deepEqual(corpusOf(presenter), ["mine.txt", 2, null, null]);
});

test("an import that is stopped leaves the index before", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await opened(page);
  page.engines.isSlow = true;
  presenter.write("who saw the river");
  presenter.importFile("mine.txt", new Blob([Array.from({ length: 400 }, (_, line) => `line ${line}`).join("\n")]));
  for (let round = 0; round < 500 && presenter.state.done === 0; round++) await new Promise(setImmediate);
  const asked = { query: "line 1", index: 1, isBuilding: false, model: page.library.reference("vector.tflite"), accelerator: "wasm" };
  const control = { signal: new AbortController().signal, report: () => {} };
  const { matches } = await page.client.call("search", asked, control);
  assert.equal(matches.length, 3, "what the page is about to leave is not searched");
  presenter.cancel();
  await page.settled();
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
  assert.equal(presenter.state.matches[0].text, "who saw the river");
});

test("an index that is opened while texts are indexed takes their place", async () => {
  const page = new FakePage("vector.tflite");
  page.sample = Array.from({ length: 400 }, (_, line) => `line ${line}`);
  page.engines.isSlow = true;
  const presenter = new SearchPresenter(page.client, page.library);
  presenter.start();
  for (let round = 0; round < 500 && presenter.state.done === 0; round++) await new Promise(setImmediate);
  presenter.importFile("notes.kbindex", await indexOf(ROWS));
  presenter.write("the film was good");
  for (let round = 0; round < 30; round++) await page.settled();
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
  assert.equal(presenter.state.total, 0);
  assert.equal(presenter.state.matches[0].text, "the film was good");
});

test("a damaged, torn or other file is refused in the core's words, and what was searched stays", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await opened(page);
  presenter.write("the film was good");
  await page.settled();
  const { matches } = presenter.state;
  const whole = new Uint8Array(await (await indexOf(ROWS)).arrayBuffer());
  const changed = (place, value) => whole.map((byte, at) => (at === place ? value : byte));
  const refused = {
    "a damaged one": changed(60, whole[60] ^ 1), "one that was cut short": whole.subarray(0, whole.length - 9),
    "another file": changed(0, 80), "one of version 9, where this program reads 2": changed(4, 9),
    "one that was cut short;": new Uint8Array(0),
  };
  for (const [received, bytes] of Object.entries(refused)) {
    presenter.importFile("torn.KBINDEX", new Blob([bytes]));
    await page.settled();
    const { kind, detail } = presenter.state.importFailure;
    assert.equal(kind, "unreadable_index");
    assert.ok(detail.startsWith(`expected a search index of this model, received ${received}`), detail);
    assert.match(detail, /; build the index again$/);
    assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
    assert.equal(presenter.state.matches, matches);
  }
  assert.equal((await found(page, presenter, "who saw the river"))[0], "who saw the river");
  presenter.importFile("large.kbindex", { size: 2 ** 30, arrayBuffer: () => assert.fail("it was read") });
  await page.settled();
  const tooLarge = "expected an index of at most 400 MB, received large.kbindex of 1074 MB; index fewer texts";
  assert.equal(presenter.state.importFailure.detail, tooLarge);
  presenter.importFile("moved.kbindex", { size: 9, arrayBuffer: () => Promise.reject(new Error("gone")) });
  await page.settled();
  assert.equal(presenter.state.importFailure.detail, "expected the file moved.kbindex, received none (gone); open it again");
  presenter.importFile("notes.kbindex", await indexOf(ROWS.slice(1)));
  await page.settled();
  assert.deepEqual([presenter.state.importFailure, presenter.state.corpus.count], [null, 2]);
});

/** A page with a second model of sentence vectors. */
async function pageOfTwo() {
  const page = new FakePage("vector.tflite");
  await page.library.add("other.tflite", new Blob([tinyModel("prompted.tflite")]), "embedding");
  return page;
}

async function choose(page, presenter, name) {
  presenter.choose(name);
  await page.settled();
  assert.equal(modelOf(presenter), `ready: ${name}`);
}

test("an index of another model is refused by its name, and opens once that model is chosen", async () => {
  const page = await pageOfTwo();
  const presenter = await searching(page);
  await choose(page, presenter, "other");
  presenter.importFile("notes.kbindex", await indexOf(ROWS));
  await page.settled();
  const { kind, detail } = presenter.state.importFailure;
  assert.equal(kind, "other_model");
  const received = "one of another model, named 'search'; open that model, or build the index again";
  assert.equal(detail, `expected a search index of this model, received ${received}`);
  assert.deepEqual(corpusOf(presenter), ["", 3, null, null], "the sample is searched as before");
  assert.equal((await found(page, presenter, "a film"))[0], "a film");
  await choose(page, presenter, "vector.tflite");
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
  assert.equal(presenter.state.importFailure, null);
  assert.equal(presenter.state.matches.length, 3);
  assert.equal((await found(page, presenter, "who saw the river"))[0], "who saw the river");
});

test("a refused index is forgotten when the person chooses something else", async () => {
  const page = await pageOfTwo();
  const presenter = await searching(page);
  await choose(page, presenter, "other");
  for (const leave of [() => presenter.useSample(), () => presenter.importFile("mine.txt", new Blob(["the song\nthe sea"]))]) {
    presenter.importFile("notes.kbindex", await indexOf(ROWS));
    await page.settled();
    leave();
    await page.settled();
    assert.equal(presenter.state.importFailure, null);
    await choose(page, presenter, "vector.tflite");
    assert.equal(presenter.state.corpus.index, null);
    await choose(page, presenter, "other");
  }
});

test("under another model an index says what it needs, and is searched again under its own", async () => {
  const page = await pageOfTwo();
  const presenter = await opened(page);
  presenter.write("the film was good");
  await page.settled();
  await choose(page, presenter, "other");
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", "other_model"]);
  assert.match(presenter.state.failure.detail, /named 'search'; open that model/);
  assert.deepEqual(await found(page, presenter, "who saw the river"), [], "vectors of two models are not compared");
  assert.deepEqual([presenter.state.failure.kind, presenter.state.milliseconds], ["other_model", null]);
  presenter.importFile("torn.kbindex", new Blob(["KBSI"]));
  await page.settled();
  assert.equal(presenter.state.importFailure.kind, "unreadable_index");
  assert.equal(presenter.state.failure.kind, "other_model");
  await choose(page, presenter, "vector.tflite");
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
  assert.equal(presenter.state.failure, null);
  assert.equal(presenter.state.matches[0].text, "who saw the river");
  await choose(page, presenter, "other");
  presenter.closeIndex();
  await page.settled();
  assert.deepEqual([...corpusOf(presenter), presenter.state.failure], ["", 3, null, null, null]);
});

test("an index is there on another accelerator, and when it came before the model", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = new SearchPresenter(page.client, page.library);
  presenter.importFile("notes.kbindex", await indexOf(ROWS));
  presenter.start();
  await page.settled();
  assert.deepEqual(corpusOf(presenter), ["notes.kbindex", 3, "search", null]);
  page.client.use("webgpu");
  presenter.accelerate("webgpu");
  await page.settled();
  assert.equal(page.workers.length, 2);
  assert.equal((await found(page, presenter, "who saw the river"))[0], "who saw the river");
});

test("deleting what is kept leaves an index", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await opened(page);
  presenter.forgetTexts();
  await page.settled();
  assert.equal(presenter.state.corpus.name, "notes.kbindex");
});
