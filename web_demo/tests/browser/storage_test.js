import assert from "node:assert/strict";
import { test } from "node:test";

import { tinyModel } from "../tiny_models.js";
import { indexBuilt, showPanel, TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();

const lines = (word, count) => Buffer.from(Array.from({ length: count }, (_, line) => `the ${word} of line ${line}`).join("\n"));

async function addLabel(page, label, example) {
  await page.fill("#teach-label", label);
  await page.press("#teach-label", "Enter");
  await page.keyboard.type(example);
  await page.keyboard.press("Enter");
}

test("where the storage is full, the page works in memory and says so", async () => {
  const context = await tests.newContext();
  const session = await context.newCDPSession(await context.newPage());
  await session.send("Storage.overrideQuotaForOrigin", { origin: tests.server.origin, quotaSize: 5_000_000 });
  const page = await tests.openIn(context, "#panel=search");
  await indexBuilt(page);
  const long = Buffer.concat([lines("song", 199), Buffer.from(`\n${"word ".repeat(2_000_000)}`)]); // browsers let small entries pass
  await page.setInputFiles("#search-file", { name: "mine.txt", mimeType: "text/plain", buffer: long });
  await textOf(page, "#search-corpus", /^mine\.txt.*200 texts/);
  await textOf(page, "#panel-search .failure-box", /The browser did not store this\. It works until you leave the page\./);
  await page.fill("#search-query", "the song of line 150");
  await textOf(page, "#search-hits li:first-child", /line 150/);
  await page.evaluate(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
  });
  await showPanel(page, "teach");
  await addLabel(page, "fruit", "a ripe apple");
  await textOf(page, "#panel-teach .failure-box", /did not store this/);
  await addLabel(page, "weather", "it rains today");
  await page.fill("#teach-text", "the sun is shining");
  await textOf(page, "#teach-bars .is-chosen", /weather/);
  await page.setInputFiles("#model-file", { name: "mine.tflite", mimeType: "", buffer: Buffer.from(tinyModel("label.tflite")) });
  await page.click("#notices >> text=Keep for offline use");
  await textOf(page, "#notices", /did not store this/);
  await textOf(page, "#device-kept", /mine · 39 kB · in memory/);
  tests.assertClean();
  await context.close();
});

test("two tabs index at once: each has its own, and what is stored is the whole of one of them", async () => {
  const context = await tests.newContext();
  const [one, other] = [await tests.openIn(context, "#panel=search"), await tests.openIn(context, "#panel=search")];
  await Promise.all([one, other].map((page) => textOf(page, "#panel-search .model-facts", /runs on/)));
  await one.setInputFiles("#search-file", { name: "songs.txt", mimeType: "text/plain", buffer: lines("song", 300) });
  await other.setInputFiles("#search-file", { name: "films.txt", mimeType: "text/plain", buffer: lines("film", 300) });
  await textOf(one, "#search-corpus", /^songs\.txt.*300 texts/);
  await textOf(other, "#search-corpus", /^films\.txt.*300 texts/);
  for (const [page, word] of [[one, "song"], [other, "film"]]) {
    await page.fill("#search-query", "line 7");
    await textOf(page, "#search-hits li:first-child", new RegExp(word));
  }
  const third = await tests.openIn(context, "#panel=search");
  const stored = /^(song|film)s/.exec(await textOf(third, "#search-corpus", /^(song|film)s\.txt.*300 texts/))[1];
  await third.fill("#search-query", "line 7");
  await textOf(third, "#search-hits li:first-child", new RegExp(stored));
  tests.assertClean();
  await context.close();
});

test("labels that two tabs change are whole", async () => {
  const context = await tests.newContext();
  const [one, other] = [await tests.openIn(context, "#panel=teach"), await tests.openIn(context, "#panel=teach")];
  await addLabel(one, "fruit", "a ripe apple");
  await addLabel(other, "weather", "it rains today");
  await one.waitForTimeout(300);
  const third = await tests.openIn(context, "#panel=teach");
  assert.match(await textOf(third, "#teach-labels"), /^weather 1 example.*it rains today/);
  tests.assertClean();
  await context.close();
});

test("a newer version of the storage is not held up by this page, which says what to do", async () => {
  const context = await tests.newContext();
  const page = await tests.openIn(context, "#panel=teach");
  await addLabel(page, "fruit", "a ripe apple");
  await page.waitForTimeout(300);
  const upgraded = await page.evaluate(async () => {
    const [{ name, version }] = await indexedDB.databases();
    return new Promise((resolve) => {
      const request = indexedDB.open(name, version + 1);
      request.onblocked = () => resolve("blocked");
      request.onsuccess = () => {
        request.result.close();
        resolve("upgraded");
      };
    });
  });
  assert.equal(upgraded, "upgraded");
  await addLabel(page, "weather", "it rains today");
  await textOf(page, "#panel-teach .failure-box", /received that of a newer one; load the page again/);
  assert.equal(await page.locator("#teach-labels bdi").count(), 2, "labels go on in memory");
  tests.assertClean();
  await context.close();
});

test("a browser that forbids storage runs models", async () => {
  const context = await tests.newContext({ serviceWorkers: "block" });
  await context.addInitScript(() => Object.defineProperty(globalThis, "indexedDB", { get: () => undefined }));
  const page = await tests.openIn(context);
  await page.fill("#classify-text", "wake me at half past six");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  await showPanel(page, "teach");
  await addLabel(page, "fruit", "a ripe apple");
  await textOf(page, "#panel-teach .failure-box", /expected the browser's storage, received none/i);
  tests.assertClean([/Service Worker registration blocked by Playwright/]);
  await context.close();
});
