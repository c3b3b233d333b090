import assert from "node:assert/strict";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { ModelFile } from "../../core/file/model_file.js";
import { IndexFile } from "../../core/search/index_file.js";
import { SentenceSearch } from "../../core/search/sentence_search.js";
import { AskPresenter } from "../../page/state/ask_presenter.js";
import { ClassifyPresenter } from "../../page/state/classify_presenter.js";
import { SearchPresenter } from "../../page/state/search_presenter.js";
import { SpeedPresenter } from "../../page/state/speed_presenter.js";
import { TeachPresenter } from "../../page/state/teach_presenter.js";
import { FakePage, modelOf, reached } from "./fakes.js";

async function started(presenter, page) {
  presenter.start();
  await page.settled();
  return presenter;
}

const classifying = (page) => started(new ClassifyPresenter(page.client, page.library), page);
const asking = (page) => started(new AskPresenter(page.client, page.library), page);
const searching = (page, now) => started(new SearchPresenter(page.client, page.library, now), page);
const teaching = (page, sample = []) => started(new TeachPresenter(page.client, page.library, page.store, sample), page);
const lines = (...texts) => new Blob([texts.join("\n")]);

test("the first model that fits is loaded, the preferred type first", async () => {
  const page = new FakePage("vector.tflite", "tags.tflite", "label.tflite");
  assert.equal(modelOf(await classifying(page)), "ready: label.tflite");
});

test("without a model that fits the panel says so", async () => {
  assert.equal(modelOf(await searching(new FakePage("label.tflite"))), "failed: no_model");
});

test("a model for another task, and one that is not there, are refused", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await teaching(page);
  presenter.choose("label.tflite");
  await page.settled();
  assert.equal(modelOf(presenter), "failed: other_task");
  presenter.choose("missing");
  await page.settled();
  assert.equal(modelOf(presenter), "failed: no_model");
});

test("of several texts only the newest is predicted", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await classifying(page);
  for (const text of ["a", "ab", "abc", "abcd"]) presenter.write(text);
  await page.settled();
  assert.equal(presenter.state.classified.text, "abcd");
  assert.equal(presenter.state.isRunning, false);
  assert.ok(page.engines.runs <= 2, `expected the first and the last text, received ${page.engines.runs} runs`);
});

test("a blank text has no result", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await classifying(page);
  presenter.write("abc");
  await page.settled();
  assert.ok(presenter.state.classified);
  presenter.write("  ");
  assert.equal(presenter.state.classified, null);
});

test("a text that came before the model is predicted when it is ready", async () => {
  const page = new FakePage("label.tflite");
  const presenter = new ClassifyPresenter(page.client, page.library);
  presenter.start();
  presenter.write("abc");
  await page.settled();
  assert.equal(presenter.state.classified.text, "abc");
});

test("a failure is shown, and the next text works", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await classifying(page);
  page.engines.failure = new RangeError("Array buffer allocation failed");
  presenter.write("abc");
  await page.settled();
  assert.equal(presenter.state.failure.kind, "memory");
  page.engines.failure = null;
  presenter.write("abcd");
  await page.settled();
  assert.equal(presenter.state.failure, null);
  assert.ok(presenter.state.classified);
});

test("the tokens of a text are shown on demand", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await classifying(page);
  presenter.write("abc");
  await page.settled();
  assert.equal(presenter.state.tokens, null);
  presenter.showTokens(true);
  await page.settled();
  assert.equal(presenter.state.tokens[0], "[CLS]");
  presenter.showTokens(false);
  assert.equal(presenter.state.tokens, null);
});

test("entities are parts of the text", async () => {
  const page = new FakePage("tags.tflite");
  const presenter = await classifying(page);
  const text = "the cat sat on the mat";
  presenter.write(text);
  await page.settled();
  const { kind, highlights } = presenter.state.classified.result;
  assert.equal(kind, "highlights");
  assert.ok(highlights.every(({ start, end }) => start < end && end <= text.length));
});

test("a question is answered with a part of the text", async () => {
  const page = new FakePage("vector.tflite", "answer.tflite");
  const presenter = await asking(page);
  assert.equal(modelOf(presenter), "ready: answer.tflite");
  presenter.writeText("the cat sat on the mat. the dog ran.");
  presenter.writeQuestion("who sat?");
  presenter.answer();
  await page.settled();
  const { answered } = presenter.state;
  for (const { start, end, text } of answered.answer.parts) assert.equal(answered.text.slice(start, end), text);
  presenter.writeText("another text");
  assert.equal(presenter.state.answered, null, "the answer was to another text");
});

test("where only vectors are there, sentences answer, and each is encoded once", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await asking(page);
  presenter.writeText("The cat sat.  The dog ran!\nThe end");
  presenter.writeQuestion("who sat?");
  presenter.answer();
  await page.settled();
  const { kind, parts } = presenter.state.answered.answer;
  assert.equal(kind, "sentences");
  assert.deepEqual(parts.map(({ text }) => text).sort(), ["The cat sat.", "The dog ran!", "The end"]);
  const { runs } = page.engines;
  presenter.writeQuestion("who ran?");
  presenter.answer();
  await page.settled();
  assert.equal(page.engines.runs - runs, 1, "only the question");
});

test("a question that came before the model is answered when it is ready", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = new AskPresenter(page.client, page.library);
  presenter.start();
  presenter.writeText("The cat sat.");
  presenter.writeQuestion("who sat?");
  presenter.answer();
  await page.settled();
  assert.equal(presenter.state.answered.question, "who sat?");
});

test("imported texts are searched, kept, and found again", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  assert.deepEqual([presenter.state.corpus.name, presenter.state.corpus.count], ["", 3]);
  presenter.importFile("mine.txt", lines("the film", "the song", "the river", "the sea"));
  await page.settled();
  assert.equal(presenter.state.corpus.count, 4);
  presenter.write("the song");
  await page.settled();
  assert.equal(presenter.state.matches[0].text, "the song");
  const { runs } = page.engines;
  const again = await searching(page);
  assert.deepEqual([again.state.corpus.name, again.state.corpus.count], ["mine.txt", 4]);
  assert.equal(page.engines.runs, runs, "the vectors were stored as well");
});

test("texts are found while the index is built, and anew as it grows", async () => {
  const page = new FakePage("vector.tflite");
  let now = 0;
  const presenter = await searching(page, () => (now += 1000));
  const texts = Array.from({ length: 400 }, (_, number) => number.toString(2).replaceAll("0", "film ").replaceAll("1", "song ").trim());
  const found = [];
  page.engines.isSlow = true;
  presenter.observe(({ total, done, matches }) => total > 0 && matches.length > 0 && found.push([done, matches[0].text]));
  presenter.importFile("mine.txt", lines(...texts));
  presenter.write(texts[300]);
  for (let round = 0; round < 500 && presenter.state.corpus.name === ""; round++) await page.settled();
  await page.settled();
  assert.equal(presenter.state.corpus.count, 400);
  assert.ok(found.some(([done]) => done < 300), "there were results before the end");
  assert.ok(found.some(([, text]) => text === texts[300]), "later results came before the end too");
  assert.equal(presenter.state.matches[0].text, texts[300]);
});

test("a canceled import leaves the texts before", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  page.engines.isSlow = true;
  presenter.importFile("mine.txt", lines(...Array.from({ length: 400 }, (_, line) => `line ${line}`)));
  await reached(presenter, ({ done }) => done > 0);
  presenter.cancel();
  await page.settled();
  presenter.write("a film");
  await page.settled();
  assert.equal(presenter.state.total, 0);
  assert.equal(presenter.state.corpus.count, 3);
  assert.equal(presenter.state.matches[0].text, "a film");
});

test("texts that cannot be stored are searched all the same, also on another accelerator", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  page.store.isFull = true;
  presenter.importFile("mine.txt", lines("the film", "the song", "the river", "the sea"));
  await page.settled();
  assert.equal(presenter.state.corpus.count, 4);
  assert.equal(presenter.state.corpus.isKept, false);
  assert.equal(presenter.state.failure.kind, "storage");
  page.client.use("webgpu");
  presenter.accelerate("webgpu");
  await page.settled();
  assert.equal(presenter.state.corpus.count, 4);
});

test("a table asks for its column", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  presenter.importFile("mine.csv", new Blob(["id,text\n1,the cat\n2,the dog\n"]));
  await page.settled();
  assert.equal(presenter.state.choice.likeliest, 1);
  presenter.chooseColumn(null);
  await page.settled();
  assert.equal(presenter.state.corpus.count, 3, "nothing was imported");
  presenter.importFile("mine.csv", new Blob(["id,text\n1,the cat\n2,the dog\n"]));
  await page.settled();
  presenter.chooseColumn(1);
  await page.settled();
  assert.deepEqual([presenter.state.corpus.name, presenter.state.corpus.count], ["mine.csv", 2]);
});

test("a column without texts is refused, and the texts before stay", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  presenter.importFile("mine.csv", new Blob(["id,text\n1,\n2,\n"]));
  await page.settled();
  presenter.chooseColumn(1);
  await page.settled();
  assert.equal(presenter.state.importFailure.kind, "unreadable_texts");
  assert.match(presenter.state.importFailure.detail, /expected texts in the column 'text', received none/);
  assert.equal(presenter.state.corpus.count, 3);
});

test("a file that is no text, and one that is too large, are refused in a sentence", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await searching(page);
  presenter.importFile("mine.txt", new Blob([new Uint8Array([0xff, 0xfe, 0xfd])]));
  await page.settled();
  assert.equal(presenter.state.importFailure.kind, "unreadable_texts");
  assert.match(presenter.state.importFailure.detail, /expected UTF-8/);
  presenter.importFile("large.txt", { size: 2 ** 30 });
  await page.settled();
  assert.match(presenter.state.importFailure.detail, /expected a file of at most 64 MB, received large.txt of 1024 MB/);
});

test("another model encodes stored texts again", async () => {
  const page = new FakePage("vector.tflite");
  const other = new SentenceSearch("another model", 2);
  for (const text of ["the film", "the song"]) other.add(text, new Float32Array([1, 0]));
  await page.store.write("search", { name: "mine.txt", texts: null, index: IndexFile.write(other) });
  const presenter = await searching(page);
  assert.deepEqual([presenter.state.corpus.name, presenter.state.corpus.count], ["mine.txt", 2]);
  assert.equal(page.engines.runs, 2);
});

test("texts whose index was not finished are indexed after a reload", async () => {
  const page = new FakePage("vector.tflite");
  await page.store.write("search", { name: "mine.txt", texts: ["the film", "the song"], index: null });
  const presenter = await searching(page);
  assert.deepEqual([presenter.state.corpus.name, presenter.state.corpus.count], ["mine.txt", 2]);
});

test("a damaged index is left out, and the sample takes its place", async () => {
  const page = new FakePage("vector.tflite");
  await page.store.write("search", { name: "mine.txt", texts: null, index: new Uint8Array([1, 2, 3]) });
  assert.equal((await searching(page)).state.corpus.name, "");
});

test("labels are taught, kept, and forgotten", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await teaching(page);
  presenter.addLabel(" fruit ");
  presenter.addLabel("fruit");
  presenter.addLabel("color");
  presenter.addExample("fruit", "an apple");
  presenter.addExample("fruit", "an apple");
  presenter.write("a pear");
  await page.settled();
  assert.equal(presenter.state.bars, null, "one label has no example");
  presenter.addExample("color", "dark\nred");
  await page.settled();
  assert.equal(presenter.state.bars.length, 2);
  const { runs } = page.engines;
  presenter.write("a plum");
  await page.settled();
  assert.equal(page.engines.runs - runs, 1, "the vectors of examples are kept");
  assert.ok(Math.abs(presenter.state.bars.reduce((sum, bar) => sum + bar.probability, 0) - 1) < 1e-9);
  const labels = [{ name: "fruit", examples: ["an apple"] }, { name: "color", examples: ["dark red"] }];
  assert.deepEqual((await teaching(page)).state.labels, labels);
  presenter.removeExample("fruit", "an apple");
  presenter.removeLabel("color");
  await page.settled();
  assert.deepEqual((await teaching(page)).state.labels, [{ name: "fruit", examples: [] }]);
  presenter.clear();
  await page.settled();
  assert.equal(await page.store.has("taught-labels"), false);
});

test("labels become a file, which a change of them takes back", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await teaching(page, [{ name: "fruit", examples: ["a plum"] }, { name: "color", examples: ["red"] }]);
  presenter.makeFile();
  await page.settled();
  assert.equal(presenter.state.file, null, "there is nothing to save yet");
  presenter.addSample();
  presenter.makeFile();
  assert.equal(presenter.state.isMaking, true);
  await page.settled();
  assert.equal(presenter.state.isMaking, false);
  assert.deepEqual(ModelFile.of(presenter.state.file, "taught.tflite").metadata.labels, ["fruit", "color"]);
  presenter.addExample("color", "blue");
  assert.equal(presenter.state.file, null);
  presenter.makeFile();
  presenter.removeLabel("color");
  await page.settled();
  assert.equal(presenter.state.file, null, "a file of labels that are gone is dropped");
});

test("labels that cannot be stored are used all the same", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await teaching(page, [{ name: "fruit", examples: ["a plum"] }, { name: "color", examples: ["red"] }]);
  page.store.isFull = true;
  presenter.addSample();
  presenter.write("a pear");
  await page.settled();
  assert.equal(presenter.state.bars.length, 2);
  assert.equal(presenter.state.failure.kind, "storage");
});

test("a sample does not replace the person's own examples", async () => {
  const page = new FakePage("vector.tflite");
  const presenter = await teaching(page, [{ name: "fruit", examples: ["a plum"] }]);
  presenter.addLabel("fruit");
  presenter.addExample("fruit", "an apple");
  presenter.addSample();
  assert.deepEqual(presenter.state.labels, [{ name: "fruit", examples: ["an apple", "a plum"] }]);
});

test("what is stored in another form is left out", async () => {
  const page = new FakePage("vector.tflite");
  await page.store.write("taught-labels", [{ name: "good", examples: ["a"] }, { name: 1 }, null, { name: "bad", examples: [2] }]);
  assert.deepEqual((await teaching(page)).state.labels, [{ name: "good", examples: ["a"] }]);
});

test("an accelerator is compared with WebAssembly", async () => {
  const page = new FakePage("label.tflite");
  page.engines.wrongOn = "webgpu";
  const presenter = await started(new SpeedPresenter(page.client, page.library), page);
  presenter.measure();
  for (let round = 0; round < 50 && !presenter.state.report; round++) await page.settled();
  assert.equal(presenter.state.report.same, null, "nothing to compare WebAssembly with");
  assert.equal(presenter.state.report.latency.runs, 50);
  page.client.use("webgpu");
  presenter.accelerate("webgpu");
  await page.settled();
  assert.equal(presenter.state.report, null);
  presenter.measure();
  for (let round = 0; round < 50 && !presenter.state.report; round++) await page.settled();
  const { report } = presenter.state;
  assert.equal(report.engine.accelerator, "webgpu");
  assert.equal(report.compared, 3);
  assert.ok(report.same < 3, "the fake WebGPU gives other outputs");
  assert.ok(report.wasmMedian >= 0);
  assert.equal(page.engines.closed, 3, "models of a measurement are closed");
});

test("a measurement can be stopped", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await started(new SpeedPresenter(page.client, page.library), page);
  page.engines.isSlow = true;
  presenter.measure();
  await reached(presenter, ({ done }) => done >= 2);
  presenter.stop();
  for (let round = 0; round < 20; round++) await page.settled();
  assert.deepEqual([presenter.state.total, presenter.state.report], [0, null]);
  assert.equal(page.engines.opened - page.engines.closed, 1, "only the panel's own model is open");
});

test("an engine that is refused is an error, and not another accelerator", async () => {
  const page = new FakePage("label.tflite");
  page.engines.failure = new KerasBertError("expected WebGPU, received none; choose WebAssembly");
  const presenter = new ClassifyPresenter(page.client, page.library);
  page.client.use("webgpu");
  presenter.accelerate("webgpu");
  presenter.choose("label.tflite");
  await page.settled();
  const { kind, detail } = presenter.state.model.failure;
  assert.deepEqual([kind, detail], ["accelerator", "expected WebGPU, received none; choose WebAssembly"]);
  page.engines.failure = null;
  page.client.use("wasm");
  presenter.accelerate("wasm");
  await page.settled();
  assert.equal(presenter.state.model.engine.accelerator, "wasm");
});

test("a device that is lost while a model runs is an error of the accelerator, and the next try has a new worker", async () => {
  const page = new FakePage("label.tflite");
  const presenter = new ClassifyPresenter(page.client, page.library);
  page.client.use("webgpu");
  presenter.accelerate("webgpu");
  presenter.choose("label.tflite");
  await page.settled();
  page.engines.failure = new KerasBertError("expected WebGPU to run the model, received a device that was lost");
  presenter.write("abc");
  await page.settled();
  assert.equal(presenter.state.failure.kind, "accelerator");
  page.engines.failure = null;
  const before = page.workers.length;
  presenter.retry();
  await page.settled();
  assert.ok(presenter.state.classified);
  assert.equal(page.workers.length, before + 1);
});

test("a model that was removed is replaced by another one", async () => {
  const page = new FakePage("label.tflite");
  const presenter = await classifying(page);
  presenter.forget("label.tflite");
  await page.settled();
  assert.equal(modelOf(presenter), "ready: label.tflite");
});
