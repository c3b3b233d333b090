import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { showPanel, TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();

async function saved(page) {
  await textOf(page, "#device-offline", /This page works offline/);
}

test("the saved page loads and predicts without a network, also with models that were never used", async () => {
  const page = await tests.open();
  await saved(page);
  tests.server.asked.length = 0;
  await page.context().setOffline(true);
  tests.server.isDown = true;
  await page.selectOption("#model-classify", "sentiment"); // before any reload
  await page.fill("#classify-text", "The soup was simply dull.");
  await textOf(page, "#classify-result .is-chosen", /negative/);
  await page.reload();
  await page.fill("#classify-text", "wake me at half past six");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  await page.selectOption("#model-classify", "slots");
  await page.waitForSelector("#classify-result mark");
  await showPanel(page, "search");
  await page.fill("#search-query", "it is too dark in here");
  await page.waitForSelector("#search-hits li");
  await saved(page);
  assert.deepEqual(tests.server.asked, []);
  tests.server.isDown = false;
  tests.assertClean([/Failed to load resource: net::ERR_INTERNET_DISCONNECTED/]); // the look for a newer version
  await page.context().close();
});

test("the page can be installed, below a path too", async () => {
  const page = await tests.open();
  await saved(page);
  const session = await page.context().newCDPSession(page);
  const { errors, manifest } = await session.send("Page.getAppManifest");
  assert.deepEqual([errors, manifest.startUrl, manifest.scope, manifest.id], [[], tests.url, tests.url, tests.url]);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  const hindrances = installabilityErrors.map(({ errorId }) => errorId).filter((each) => each !== "in-incognito"); // as tests are
  assert.deepEqual(hindrances, []);
  tests.assertClean();
  await page.context().close();
});

/** Publishes another version of the site: other texts in some files, and the list that belongs to them. */
function publish(files) {
  const list = JSON.parse(readFileSync(join(tests.site.folder, "files.json"), "utf8"));
  for (const [path, change] of Object.entries(files)) {
    const content = Buffer.from(change(readFileSync(join(tests.site.folder, path), "utf8")));
    tests.server.changed.set(path, content);
    list.files[path] = { bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
  }
  list.version = createHash("sha256").update(JSON.stringify(list.files)).digest("hex");
  tests.server.changed.set("files.json", JSON.stringify(list));
}

/** Looks for changes in the script of the version that is active, as browsers do by themselves. */
async function lookForChanges(page) {
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update().catch(() => {}));
  await page.waitForTimeout(1000);
}

const RENAMED = {
  "index.html": (text) => text.replace("<h1>kerasbert</h1>", "<h1>second</h1>"),
  "page/panels/words.js": (text) => text.replace("runs on ${", "is run by ${"),
  "sw.js": (text) => `${text}// second`,
};

test("a newer version is loaded when the person says so, whole, in all tabs, with what was typed", async () => {
  const page = await tests.open();
  await saved(page);
  publish(RENAMED);
  await lookForChanges(page);
  tests.server.asked.length = 0;
  await page.reload();
  const other = await tests.openIn(page.context());
  assert.deepEqual(await Promise.all([page, other].map((each) => each.textContent("h1"))), ["kerasbert", "kerasbert"]);
  await textOf(page, "#notices", /A new version of this page is ready/);
  assert.match(await textOf(page, "#panel-classify .model-facts"), /runs on/, "the version before, whole");
  assert.deepEqual(tests.server.asked.filter((path) => path.endsWith(".tflite") || path.endsWith(".wasm")), [], "files that are the same");
  tests.server.isDown = true;
  await page.reload();
  assert.match(await textOf(page, "#panel-classify .model-facts"), /runs on/, "still the version before, without a network");
  tests.server.isDown = false;
  await page.reload();
  await textOf(page, "#notices", /A new version of this page is ready/);
  await page.fill("#classify-text", "wake me at half past six");
  await showPanel(other, "teach");
  await other.fill("#teach-text", "still typing");
  await page.click("#notices >> text=Reload");
  for (const each of [page, other]) await textOf(each, "h1", /second/);
  await textOf(page, "#panel-classify .model-facts", /is run by/);
  assert.equal(await page.inputValue("#classify-text"), "wake me at half past six");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  await other.waitForSelector("#panel-teach:not([hidden])");
  assert.equal(await other.inputValue("#teach-text"), "still typing");
  const caches = await page.evaluate(() => globalThis.caches.keys());
  assert.equal(caches.length, 1, "the version before was deleted");
  tests.server.changed.clear();
  tests.assertClean([/An unknown error occurred when fetching the script/]); // the look for a newer version
  await page.context().close();
});

test("a version that is published in parts is not taken", async () => {
  const page = await tests.open();
  await saved(page);
  publish(RENAMED);
  tests.server.changed.delete("page/panels/words.js"); // the list is newer than the file
  await page.reload();
  await page.waitForTimeout(3000);
  await saved(page);
  assert.equal(await page.locator("#notices .notice").count(), 0);
  assert.equal(await page.textContent("h1"), "kerasbert");
  await page.context().setOffline(true);
  await page.reload();
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  tests.server.changed.clear();
  tests.assertClean([/Failed to load resource: net::ERR_INTERNET_DISCONNECTED/]);
  await page.context().close();
});

test("where the storage is full, the page says so and works online", async () => {
  const context = await tests.newContext();
  const session = await context.newCDPSession(await context.newPage());
  await session.send("Storage.overrideQuotaForOrigin", { origin: tests.server.origin, quotaSize: 5_000_000 });
  const page = await tests.openIn(context);
  await textOf(page, "#notices", /The browser's storage is full: the page works, but online only/);
  await textOf(page, "#device-offline", /online only: the browser's storage is full/);
  await page.fill("#classify-text", "wake me at half past six");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  tests.assertClean();
  await context.close();
});
