import assert from "node:assert/strict";
import { test } from "node:test";

import { percent } from "../../page/panels/words.js";
import { tinyModel, tinyPredictions } from "../tiny_models.js";
import { TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();

/** Opens a tiny model with exits in the panel of its task. */
async function openedPage(name) {
  const page = await tests.open();
  const buffer = Buffer.from(tinyModel(name));
  await page.setInputFiles("#model-file", { name, mimeType: "application/octet-stream", buffer });
  await textOf(page, "#panel-classify .model-facts", /^(one label|entities) · \d+ kB · runs on WebAssembly$/);
  return page;
}

/** Types a text, and returns what the page says about the run of that text. */
async function factsOf(page, text) {
  await page.evaluate(() => (document.querySelector("#classify-facts").textContent = ""));
  await page.fill("#classify-text", "");
  await page.fill("#classify-text", text);
  await page.waitForFunction(() => !document.querySelector("#classify-result").parentElement.matches(".is-stale, [hidden]"));
  return textOf(page, "#classify-facts");
}

test("each text ends at the exit at which it ends in Python, with the same label", async () => {
  const page = await openedPage("exits.tflite");
  const ran = new Set();
  for (const { text, label, score, layers } of tinyPredictions()["exits.tflite"]) {
    assert.match(await factsOf(page, text), new RegExp(`^\\d+ tokens · ${layers} of 3 layers · [\\d.]+ ms$`), text);
    assert.equal(await page.textContent("#classify-result .is-chosen .caption span:first-child"), label, text);
    assert.equal(await page.textContent("#classify-result .is-chosen .caption span:last-child"), percent(score), text);
    ran.add(layers);
  }
  assert.deepEqual([...ran].sort(), [1, 2, 3], "texts end at every exit");
  tests.assertClean();
  await page.context().close();
});

test("windows of a tagger end at exits, and the most layers are shown", async () => {
  const page = await openedPage("exits_tags.tflite");
  for (const { text, layers } of tinyPredictions()["exits_tags.tflite"]) {
    assert.match(await factsOf(page, text), new RegExp(` · ${layers} of 3 layers · `), text);
  }
  tests.assertClean();
  await page.context().close();
});

test("the speed panel measures a file with exits", async () => {
  const page = await openedPage("exits.tflite");
  await page.click("#tab-speed");
  await page.selectOption("#model-speed", "exits");
  await page.click("#speed-measure:enabled");
  await textOf(page, "#speed-facts", /Median of 50 runs/);
  tests.assertClean();
  await page.context().close();
});
