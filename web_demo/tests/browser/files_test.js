import assert from "node:assert/strict";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, ftruncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { ACCEPTED } from "../../page/state/task_types.js";
import { tinyModel } from "../tiny_models.js";
import { countModels } from "./site.js";
import { indexBuilt, showPanel, TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();
const folder = mkdtempSync(join(tmpdir(), "kerasbert-files-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** A file that takes no room on the disk. */
function sparseFile(name, size) {
  const path = join(folder, name);
  const descriptor = openSync(path, "w");
  ftruncateSync(descriptor, size);
  closeSync(descriptor);
  return path;
}

/** Drops a file on the page as a file manager does. */
async function drop(page, path) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver"]) await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
  await page.waitForSelector("#drop:not([hidden])");
  await session.send("Input.dispatchDragEvent", { type: "drop", x: 300, y: 300, data });
  await page.waitForSelector("#drop", { state: "hidden" });
}

const tiny = (name) => file(`my ${name}`, tinyModel(name));

test("a dropped model runs in the panel of its task, and is gone after a reload", async () => {
  const page = await tests.open();
  await page.evaluate(() => addEventListener("drop", (event) => (globalThis.isPrevented = event.defaultPrevented)));
  await drop(page, tiny("answer.tflite"));
  await textOf(page, "#notices", /Opened my answer\. It is in memory until you leave the page\./);
  assert.equal(await page.evaluate(() => globalThis.isPrevented), true, "the browser does not open the file itself");
  await page.waitForSelector("#panel-ask:not([hidden])");
  await textOf(page, "#panel-ask .model-facts", /^answers · 26 kB · runs on WebAssembly$/);
  await page.fill("#ask-text", "the film was good. the song was bad.");
  await page.fill("#ask-question", "the song?");
  await page.press("#ask-question", "Enter");
  assert.match(await textOf(page, "#ask-facts"), /windows? · /);
  await page.reload();
  await textOf(page, "#panel-ask .model-facts", /^sentence vectors/);
  assert.equal(await page.locator("#model-ask option").count(), 1);
  tests.assertClean();
  await page.context().close();
});

test("a model is kept when the person says so, and can be deleted", async () => {
  const page = await tests.open();
  await page.setInputFiles("#model-file", tiny("label.tflite"));
  await page.click("#notices >> text=Keep for offline use");
  await textOf(page, "#device-kept", /my label · 39 kB · kept on this device/);
  await page.reload();
  await page.waitForSelector("#model-classify option[value='my label']", { state: "attached" });
  await page.selectOption("#model-classify", "my label");
  await page.fill("#classify-text", "the film");
  await textOf(page, "#classify-facts");
  await page.click("[aria-label='Remove the model my label']");
  await textOf(page, "#panel-classify .model-facts", /4\.7 MB/);
  await page.reload();
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  assert.equal(await page.locator("#model-classify option[value='my label']").count(), 0);
  tests.assertClean();
  await page.context().close();
});

test("every kind of model opens in some panel", async () => {
  const page = await tests.open();
  const panels = { label: "classify", tags: "classify", vector: "ask", choice: "speed", mask: "speed" };
  for (const [name, panel] of Object.entries(panels)) {
    await page.setInputFiles("#model-file", tiny(`${name}.tflite`));
    await textOf(page, "#notices", new RegExp(`Opened my ${name}`));
    await page.waitForSelector(`#panel-${panel}:not([hidden])`);
    await textOf(page, `#panel-${panel} .model-facts`, /runs on/);
    if (name === "choice") await showPanel(page, "classify");
  }
  await page.click("#speed-measure:enabled");
  await textOf(page, "#speed-facts", /Median of 50 runs/);
  tests.assertClean();
  await page.context().close();
});

test("what is no model of kerasbert is refused in a sentence", async () => {
  const page = await tests.open();
  const model = readFileSync(join(tests.site.folder, "models", "intents.tflite"));
  const wrong = {
    "photo.jpg": ["not a model at all", /received photo\.jpg without it/],
    "empty.tflite": ["", /received empty\.tflite without it/],
    "half.tflite": [model.subarray(0, model.length / 2), /half\.tflite/],
    "bare.tflite": [Buffer.concat([Buffer.from([28, 0, 0, 0]), Buffer.from("TFL3"), Buffer.alloc(64)]), /bare\.tflite/],
  };
  for (const [name, [content, sentence]] of Object.entries(wrong)) {
    await drop(page, file(name, content));
    const notice = await textOf(page, "#notices", new RegExp(`This file is not a usable model of kerasbert\\..*${sentence.source}`));
    assert.match(notice, /\. Expected .*; (pass|copy|convert)/);
  }
  await textOf(page, "#panel-classify .model-facts", /4\.7 MB · runs on/);
  assert.equal(await page.locator("#model-classify option").count(), countModels(tests.site, ACCEPTED.classify), "nothing was added");
  tests.assertClean();
  await page.context().close();
});

test("a file of 500 MB is refused by its size", async () => {
  const page = await tests.open();
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  const start = Date.now();
  await drop(page, sparseFile("huge.tflite", 500 * 2 ** 20));
  await textOf(page, "#notices", /Expected a \.tflite file of at most 400 MB, received huge\.tflite of 524 MB/);
  await drop(page, sparseFile("huge.txt", 500 * 2 ** 20));
  await textOf(page, "#panel-search .failure-box", /Expected a file of at most 64 MB, received huge\.txt of 500 MB/);
  assert.ok(Date.now() - start < 10_000, "neither was read");
  tests.assertClean();
  await page.context().close();
});

test("dropped texts are searched: lines, and a column of a table", async () => {
  const page = await tests.open();
  await drop(page, file("notes.md", "# Notes\n\nthe cat sleeps on the roof\nthe train leaves at noon\n"));
  await textOf(page, "#search-corpus", /^notes\.md.*3 texts/);
  await page.fill("#search-query", "when does the train leave");
  await textOf(page, "#search-hits li:first-child", /the train leaves at noon/);
  await drop(page, file("table.csv", "id,comment\n1,\"good, quick\"\n2,slow\n"));
  await page.waitForSelector("#search-choice:not([hidden])");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search-column", "the question has the focus");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#search-choice", { state: "hidden" });
  await textOf(page, "#search-corpus", /^notes\.md/);
  await drop(page, file("table.csv", "id,comment\n1,\"good, quick\"\n2,slow\n"));
  await page.click("text=Index this column");
  await textOf(page, "#search-corpus", /^table\.csv.*2 texts/);
  await page.reload();
  await textOf(page, "#search-corpus", /^table\.csv.*2 texts/);
  await page.click("#search-sample");
  await indexBuilt(page);
  await textOf(page, "#search-corpus", /^Sample phrases/);
  tests.assertClean();
  await page.context().close();
});

test("texts in another encoding are refused, and an import can be stopped", async () => {
  const page = await tests.open({ hash: "#panel=search" });
  await indexBuilt(page);
  await drop(page, file("latin.txt", Buffer.from([0xe9, 0xff, 0xfe])));
  await textOf(page, "#panel-search .failure-box", /This file cannot be read as texts\.Expected UTF-8 in latin\.txt/);
  await drop(page, file("many.txt", Array.from({ length: 5000 }, (_, line) => `the text of line ${line}`).join("\n")));
  await page.click("#search-progress button");
  await textOf(page, "#search-corpus", /^Sample phrases.*1,654 texts/);
  tests.assertClean();
  await page.context().close();
});
