import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { ModelFile } from "../../core/file/model_file.js";
import { indexBuilt, showPanel, TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();

test("labels appear while a person types, with tokens on demand", async () => {
  const page = await tests.open();
  await page.locator("#classify-text").pressSequentially("wake me at half past six");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  assert.match(await textOf(page, "#classify-facts"), /^8 tokens · [\d.,]+ ms$/);
  assert.match(await page.textContent("#panel-classify .model-facts"), /one label · 4\.7 MB · runs on WebAssembly/);
  await page.click("#classify-tokens-button");
  await page.waitForSelector("#classify-tokens li");
  const tokens = await page.locator("#classify-tokens li").allTextContents();
  assert.deepEqual(tokens, ["[CLS]", "wake", "me", "at", "half", "past", "six", "[SEP]"]);
  await page.click("#classify-clear");
  await page.waitForSelector("#classify-result", { state: "hidden" });
  tests.assertClean();
  await page.context().close();
});

test("entities are marked in the text", async () => {
  const page = await tests.open();
  await page.selectOption("#model-classify", "entities");
  await page.fill("#classify-text", "Ada Lovelace wrote to Charles Babbage in London.");
  await page.waitForSelector("#classify-result mark");
  const entities = await page.locator("#classify-result mark").evaluateAll((marks) => marks.map((mark) => {
    return [mark.querySelector("bdi").textContent, mark.querySelector("b").textContent];
  }));
  assert.deepEqual(entities, [["Ada Lovelace", "person"], ["Charles Babbage", "person"], ["London", "location"]]);
  const around = await page.locator(".highlighted").evaluate((shown) => {
    return [...shown.childNodes].map((node) => (node.nodeType === Node.TEXT_NODE ? node.data : "*")).join("");
  });
  assert.equal(around, "* wrote to * in *.");
  tests.assertClean();
  await page.context().close();
});

test("a question is answered in the text itself", async () => {
  const page = await tests.open();
  await showPanel(page, "ask");
  await page.fill("#ask-text", "The cat sleeps on the roof. The ferry began to run at night in 1987. Bread is baked in the morning.");
  await page.fill("#ask-question", "When did the ferry start to run at night?");
  await page.press("#ask-question", "Enter");
  await page.waitForSelector("#ask-passage mark");
  assert.equal(await page.textContent("#ask-passage mark"), "The ferry began to run at night in 1987.");
  assert.match(await page.textContent("#ask-facts"), /3 sentences/);
  await page.fill("#ask-text", "Another text.");
  await page.waitForSelector("#ask-passage", { state: "hidden" });
  tests.assertClean();
  await page.context().close();
});

test("texts are found while they are indexed, and after a reload from what is stored", async () => {
  const page = await tests.open();
  await showPanel(page, "search");
  const began = Date.now();
  await page.fill("#search-query", "it is too dark in here");
  await page.waitForSelector("#search-hits li");
  assert.match(await page.textContent("#search-progress"), /of 1,654 texts, searched already/, "before the end");
  await indexBuilt(page);
  const indexing = Date.now() - began;
  await textOf(page, "#search-hits li", /dark/);
  const found = await page.locator("#search-hits .text").allTextContents();
  assert.equal(found.length, 20);
  await page.reload();
  await page.fill("#search-query", "it is too dark in here");
  const start = Date.now();
  await page.waitForSelector("#search-hits li");
  assert.deepEqual(await page.locator("#search-hits .text").allTextContents(), found);
  assert.ok(Date.now() - start < Math.max(4000, indexing / 2), "the vectors were stored");
  assert.match(await page.textContent("#search-corpus"), /^Sample phrases.*1,654 texts · [\d.]+ kB of vectors$/);
  tests.assertClean();
  await page.context().close();
});

test("a query that is typed on has the results of its end", async () => {
  const page = await tests.open({ hash: "#panel=search" });
  await indexBuilt(page);
  await page.locator("#search-query").pressSequentially("what is the weather", { delay: 5 });
  await textOf(page, "#search-hits li", /weather/);
  await page.fill("#search-query", "");
  await page.waitForFunction(() => document.querySelectorAll("#search-hits li").length === 0);
  tests.assertClean();
  await page.context().close();
});

test("labels are taught, used at once, and found again", async () => {
  const page = await tests.open({ hash: "#panel=teach" });
  await textOf(page, "#panel-teach .state", /Add two or more labels/);
  for (const [label, example] of [["fruit", "a ripe apple"], ["weather", "it rains today"]]) {
    await page.fill("#teach-label", label);
    await page.press("#teach-label", "Enter");
    await page.keyboard.type(example); // the example's field has the focus
    await page.keyboard.press("Enter");
  }
  await page.fill("#teach-text", "the sun is shining");
  assert.match(await textOf(page, "#teach-bars .is-chosen"), /^weather/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#teach-save")]);
  assert.equal(download.suggestedFilename(), "taught.tflite");
  const saved = new Uint8Array(readFileSync(await download.path()));
  assert.deepEqual(ModelFile.of(saved, "taught.tflite").metadata.labels, ["fruit", "weather"]);
  await page.reload();
  await page.waitForSelector("#teach-labels li li");
  assert.deepEqual(await page.locator("#teach-labels bdi").allTextContents(), ["a ripe apple", "it rains today"]);
  await page.click("[aria-label='Remove the label fruit']");
  await textOf(page, "#panel-teach .state", /Give two labels/);
  await page.click("[aria-label^='Delete: Teach']");
  await page.waitForFunction(() => document.querySelectorAll("#teach-labels > li").length === 0);
  tests.assertClean();
  await page.context().close();
});

test("the speed is measured", async () => {
  const page = await tests.open({ hash: "#panel=speed" });
  await page.click("#speed-measure:enabled");
  const facts = await textOf(page, "#speed-facts", /Median of 50 runs/);
  assert.match(facts, /Ran onWebAssembly/);
  assert.match(facts, /Tokens32Size of the file4\.7 MB/);
  assert.doesNotMatch(facts, /Same answer/);
  tests.assertClean();
  await page.context().close();
});

test("a measurement is stopped by Esc", async () => {
  const page = await tests.open({ hash: "#panel=speed" });
  await page.click("#speed-measure:enabled");
  await textOf(page, "#speed-progress", /Run [2-9]/);
  await page.keyboard.press("Escape");
  assert.equal(await textOf(page, "#speed-measure", /Measure/), "Measure");
  await page.waitForTimeout(1000);
  assert.equal(await page.locator("#speed-facts dt").count(), 0, "there is no report");
  tests.assertClean();
  await page.context().close();
});
