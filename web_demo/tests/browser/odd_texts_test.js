import assert from "node:assert/strict";
import { test } from "node:test";

import { showPanel, TestBrowser, textOf } from "./test_browser.js";

const MEGABYTE = 2 ** 20;
const LONGEST_TASK = 2000; // milliseconds of the page's thread, on a slow machine; the worker takes far longer

const tests = new TestBrowser();

const TEXTS = {
  "lone surrogates": "wake \ud83d me \udc00 at six \ud83d",
  "only emoji": "😀👩\u200d👩\u200d👧👍🏽",
  "right to left": "أيقظني في السادسة שָׁלוֹם \u202eabc",
  "joiners of zero width": "wa\u200dke\u200c me\ufeff at\u2060 six\u200b",
  "controls and separators": "wake\u0000me\u2028at\u2029six\u0007",
};

for (const [name, text] of Object.entries(TEXTS)) {
  test(`${name}: read as they are`, async () => {
    const page = await tests.open();
    for (const model of ["intents", "entities"]) {
      await page.selectOption("#model-classify", model);
      await setText(page, "#classify-text", text);
      await textOf(page, "#classify-facts");
      await page.waitForSelector(model === "intents" ? "#classify-result .bars li" : "#classify-result .highlighted");
    }
    const shown = await page.evaluate(() => [...document.querySelectorAll(".highlighted")].map((each) => {
      each.querySelectorAll("mark b").forEach((label) => label.remove());
      return each.textContent;
    }));
    assert.deepEqual(shown, [text]);
    tests.assertClean();
    await page.context().close();
  });
}

test("texts, labels and file names never become HTML", async () => {
  const evil = "<img src=x onerror=\"document.title='hit'\"><b id=hit>London</b><script>document.title='hit'</script>";
  const page = await tests.open();
  await page.selectOption("#model-classify", "entities");
  await page.fill("#classify-text", evil);
  await page.waitForSelector("#classify-result .highlighted");
  await page.click("#classify-tokens-button");
  await showPanel(page, "teach");
  for (const label of [evil, "other"]) {
    await page.fill("#teach-label", label);
    await page.press("#teach-label", "Enter");
    await page.keyboard.type(evil);
    await page.keyboard.press("Enter");
  }
  await page.fill("#teach-text", evil);
  await page.waitForSelector("#teach-bars li");
  await showPanel(page, "ask");
  await page.fill("#ask-text", evil);
  await page.fill("#ask-question", evil);
  await page.press("#ask-question", "Enter");
  await page.waitForSelector("#ask-passage mark");
  await page.setInputFiles("#search-file", { name: "<b id=hit>.txt", mimeType: "text/plain", buffer: Buffer.from(`${evil}\nother\n`) });
  await showPanel(page, "search");
  await textOf(page, "#search-corpus", /<b id=hit>/);
  await page.fill("#search-query", evil);
  await page.waitForSelector("#search-hits li");
  await page.setInputFiles("#model-file", { name: "<b id=hit>.tflite", mimeType: "", buffer: Buffer.from(evil) });
  await textOf(page, "#notices", /<b id=hit>/);
  assert.equal(await page.title(), "kerasbert");
  assert.equal(await page.locator("#hit, main img:not([src^='icons/']), main script").count(), 0);
  tests.assertClean();
  await page.context().close();
});

test("a text of a megabyte does not hold up the page, and the next letter has its result", async () => {
  const page = await tests.open();
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  await page.selectOption("#model-classify", "entities");
  await textOf(page, "#panel-classify .model-facts", /entities · .*runs on/);
  await watchTasks(page);
  await setText(page, "#classify-text", "Ada met Bob in London. ".repeat(MEGABYTE / 23));
  await page.waitForTimeout(500);
  await setText(page, "#classify-text", "Ada met Bob in Paris.");
  await textOf(page, "#classify-result", /Paris/);
  assert.ok((await longestTask(page)) < LONGEST_TASK, `expected short tasks, received one of ${await longestTask(page)} ms`);
  tests.assertClean();
  await page.context().close();
});

test("a question about a megabyte is answered in the text around the answer, and can be stopped", async () => {
  const page = await tests.open({ hash: "#panel=ask" });
  const words = "Bread is baked in the morning by the baker of the town and his two sons, who live near the mill at the river ";
  const text = `${words.repeat(MEGABYTE / words.length)}. The ferry began to run at night in 1987. Yes.`;
  await setText(page, "#ask-text", text);
  await page.fill("#ask-question", "When did the ferry start to run at night?");
  await watchTasks(page);
  await page.press("#ask-question", "Enter");
  await page.waitForSelector("#ask-passage mark");
  assert.equal(await page.textContent("#ask-passage mark"), "The ferry began to run at night in 1987.");
  await page.waitForSelector("#ask-passage-note:not([hidden])");
  await textOf(page, "#ask-passage-note", /Characters [\d,]+ to [\d,]+ of 1,04\d,\d\d\d are shown/);
  assert.ok((await page.textContent("#ask-passage")).length < 30_000, "a part of the text");
  await setText(page, "#ask-text", "One sentence. ".repeat(20_000));
  await page.press("#ask-question", "Enter");
  await textOf(page, "#ask-progress", /Reading part/);
  await page.click("#ask-progress button");
  await page.waitForSelector("#ask-progress", { state: "hidden" });
  assert.ok((await longestTask(page)) < LONGEST_TASK, `expected short tasks, received one of ${await longestTask(page)} ms`);
  tests.assertClean();
  await page.context().close();
});

/** Sets a text as a paste does. Unlike `fill`, it passes lone surrogates on. */
function setText(page, selector, text) {
  const units = JSON.stringify(text).replace(/[\ud800-\udfff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  return page.evaluate(([field, json]) => {
    const target = document.querySelector(field);
    target.value = JSON.parse(json);
    target.dispatchEvent(new Event("input", { bubbles: true }));
  }, [selector, units]);
}

async function watchTasks(page) {
  await page.evaluate(() => {
    globalThis.longest = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, duration);
    });
    observer.observe({ type: "longtask" });
  });
}

function longestTask(page) {
  return page.evaluate(() => globalThis.longest);
}
