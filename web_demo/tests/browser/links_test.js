import assert from "node:assert/strict";
import { test } from "node:test";

import { showPanel, TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

async function linkOf(page, panel) {
  await page.click(`#panel-${panel} .share`);
  await textOf(page, `#panel-${panel} .share`, /Copied/);
  return page.evaluate(() => navigator.clipboard.readText());
}

test("a link opens the panel, the model and the text that were shared", async () => {
  const page = await tests.open(CLIPBOARD);
  await page.selectOption("#model-classify", "entities");
  const text = "Ada & Bob: 50 % in London? #1 + \"2\" 😀\nشكرا";
  await page.fill("#classify-text", text);
  await page.waitForSelector("#classify-result mark");
  const link = await linkOf(page, "classify");
  assert.ok(link.startsWith(`${tests.url}#panel=classify&model=entities&text=Ada+%26+Bob`), link);
  const other = await tests.openIn(page.context(), link.slice(tests.url.length));
  await other.waitForSelector("#classify-result mark");
  assert.equal(await other.inputValue("#classify-text"), text);
  assert.equal(await other.inputValue("#model-classify"), "entities");
  assert.ok(!tests.server.asked.some((path) => path.includes("Ada")), "the text is not sent to the host");
  tests.assertClean();
  await page.context().close();
});

test("a link with a question is answered", async () => {
  const page = await tests.open(CLIPBOARD);
  await showPanel(page, "ask");
  await page.click("#ask-example");
  await page.waitForSelector("#ask-passage mark");
  const link = await linkOf(page, "ask");
  await page.goto("about:blank");
  await page.goto(link);
  await page.waitForSelector("#ask-passage mark");
  assert.match(await page.textContent("#ask-answer"), /1987/);
  tests.assertClean();
  await page.context().close();
});

test("a link that is opened in the same tab replaces what is there", async () => {
  const page = await tests.open();
  await page.fill("#classify-text", "wake me at half past six");
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  await page.evaluate(() => (location.hash = "#panel=classify&text=play+some+jazz"));
  await textOf(page, "#classify-result .is-chosen", /play_music/);
  assert.equal(await page.inputValue("#classify-text"), "play some jazz");
  tests.assertClean();
  await page.context().close();
});

test("a text that is too long for a link, and a link that is too long, are refused", async () => {
  const page = await tests.open(CLIPBOARD);
  await page.fill("#classify-text", "word ".repeat(3000));
  await page.click("#panel-classify .share");
  await textOf(page, "#notices", /Expected a link of at most 8,000 characters, received one of 15,\d\d\d; shorten the text/);
  await page.goto("about:blank");
  await page.goto(`${tests.url}#panel=classify&text=${"x".repeat(9000)}`);
  await textOf(page, "#notices", /Expected a link of at most 8,000 characters/);
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  tests.assertClean();
  await page.context().close();
});

test("a link to a model that is not here says so", async () => {
  const page = await tests.open({ hash: "#panel=classify&model=mine&text=hello" });
  await textOf(page, "#notices", /The link names the model mine, which is not here/);
  await textOf(page, "#classify-facts");
  tests.assertClean();
  await page.context().close();
});

test("a reload stays on the panel, and what was typed is in no address", async () => {
  const page = await tests.open();
  await showPanel(page, "search");
  await page.fill("#search-query", "secret");
  assert.ok(!page.url().includes("secret"));
  await page.reload();
  await page.waitForSelector("#panel-search:not([hidden])");
  assert.equal(await page.inputValue("#search-query"), "");
  tests.assertClean();
  await page.context().close();
});
