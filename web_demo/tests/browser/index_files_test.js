import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { tinyModel } from "../tiny_models.js";
import { fileOf } from "./filled_panels.js";
import { runKerasbert } from "./site.js";
import { indexBuilt, showPanel, TestBrowser, textOf } from "./test_browser.js";

const CLOSE = 0.02; // LiteRT.js and Python round activations in a different order; the page shows two digits
const QUERIES = ["when do I get my money back", "how can I follow my parcel", "a thief has my card", "\u{1F600} smile"];

const FILES = {
  "notes/delivery.md": "# Delivery\n\nA parcel arrives in two days. We send you a link to follow it. It costs nothing. " +
    "\u{1F600} We like to see you smile! A courier rings twice. Then your neighbour gets the parcel, and you find a card in " +
    "your letter box.\n",
  "notes/refunds.md": "# Refunds\n\nYou get your money back within a week after you return the goods. Nobody asks you why.\n",
  "notes/hours.txt": "The shop is open from nine to five. It is closed on Sundays and in the night.\n",
  "faq.csv": "text\n\"My card was stolen, what now?\"\nHow can I pay?\nCan I pay later?\n",
};

const tests = new TestBrowser();
const folder = mkdtempSync(join(tmpdir(), "kerasbert-index-"));
const kinds = { "notes.kbindex": [], "signs.kbindex": ["--vectors", "bit"] };
const expected = {}; // what Python finds, by the index's name

before(() => {
  mkdirSync(join(folder, "notes"));
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  for (const [name, options] of Object.entries(kinds)) {
    runKerasbert(["index", "notes", "faq.csv", "-o", name, "--chunk", "16", ...options], folder);
    expected[name] = JSON.parse(runKerasbert(["search", name, ...QUERIES, "--top-k", "20", "--json"], folder)).results;
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

const bytesOf = (name) => readFileSync(join(folder, name));

/** Drops a file on the page as a file manager does. */
async function drop(page, path) {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [path], dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
}

/** The results of a query, as the page shows them. */
async function found(page, query) {
  await page.fill("#search-query", query);
  await page.waitForFunction((wanted) => document.querySelector("#search-hits").dataset.query === wanted, query);
  return page.locator("#search-hits li").evaluateAll((hits) => hits.map((hit) => ({
    text: hit.querySelector(".text").textContent,
    source: hit.querySelector(".source")?.textContent,
    score: Number(hit.querySelector(".score-value").lastChild.textContent),
  })));
}

function assertFound(hits, matches) {
  assert.ok(matches.length > 8, "parts of documents");
  const line = ({ text, document, start, end }) => `${document} · characters ${start} to ${end}: ${text}`;
  const scores = new Map(matches.map((match) => [line(match), match.score]));
  const shown = hits.map(({ source, text }) => `${source}: ${text}`);
  assert.deepEqual([...shown].sort(), [...scores.keys()].sort());
  for (const [rank, each] of shown.entries()) {
    assert.ok(Math.abs(hits[rank].score - scores.get(each)) < CLOSE, `${each}: ${hits[rank].score}, in Python ${scores.get(each)}`);
    assert.ok(rank === 0 || scores.get(each) < scores.get(shown[rank - 1]) + CLOSE, `the order of ${each}`);
  }
  assert.equal(shown[0], [...scores.keys()][0]);
}

test("an index of Python is dropped or chosen, and gives Python's results", async () => {
  const page = await tests.open();
  await drop(page, join(folder, "notes.kbindex"));
  await page.waitForSelector("#panel-search:not([hidden])");
  const { length } = expected["notes.kbindex"][0].matches;
  const facts = `^notes\\.kbindex${length} rows · [\\d.]+ kB of vectors.*Made with the model search\\. It is in memory`;
  await textOf(page, "#search-corpus", new RegExp(facts));
  await textOf(page, "#announcements", new RegExp(`Opened notes\\.kbindex, ${length} rows`));
  for (const { query, matches } of expected["notes.kbindex"]) assertFound(await found(page, query), matches);
  await page.setInputFiles("#search-file", join(folder, "signs.kbindex"));
  await textOf(page, "#search-corpus", /^signs\.kbindex/);
  for (const { query, matches } of expected["signs.kbindex"]) assertFound(await found(page, query), matches);
  tests.assertClean();
  await page.context().close();
});

test("an index is left for the texts that the page keeps, by the keyboard too, and is gone after a reload", async () => {
  const page = await tests.open({ hash: "#panel=search" });
  await textOf(page, "#panel-search .model-facts", /runs on/);
  await page.setInputFiles("#search-file", fileOf("mine.txt", Buffer.from("the cat sleeps on the roof\nthe train leaves at noon\n")));
  await textOf(page, "#search-corpus", /^mine\.txt.*2 texts/);
  for (const leave of [() => page.press("#search-close", "Enter"), () => page.reload()]) {
    await page.setInputFiles("#search-file", join(folder, "notes.kbindex"));
    await textOf(page, "#search-corpus", /^notes\.kbindex/);
    assert.equal(await page.isVisible("#search-sample"), false, "which would replace the texts that are kept");
    await leave();
    await textOf(page, "#search-corpus", /^mine\.txt.*2 texts/);
    assert.equal(await page.isVisible("#search-close"), false);
  }
  await page.setInputFiles("#search-file", join(folder, "notes.kbindex"));
  await page.press("#search-close", "Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "search-import", "the focus is not lost with the button");
  const [hit] = await found(page, "when does the train leave");
  assert.deepEqual([hit.text, hit.source], ["the train leaves at noon", undefined]);
  tests.assertClean();
  await page.context().close();
});

test("damaged files are refused in a sentence, and the texts before stay", async () => {
  const page = await tests.open({ hash: "#panel=search" });
  await indexBuilt(page);
  const whole = bytesOf("notes.kbindex");
  const version = Buffer.from(whole);
  version[4] = 3;
  const damaged = Buffer.from(whole);
  damaged[whole.length - 40] ^= 1;
  const wrong = {
    "torn.kbindex": [whole.subarray(0, whole.length - 8), "one that was cut short"],
    "empty.kbindex": [Buffer.alloc(0), "one that was cut short"],
    "damaged.kbindex": [damaged, "a damaged one"], "photo.kbindex": [Buffer.from("no index at all"), "another file"],
    "newer.kbindex": [version, "one of version 3, where this program reads 2"],
  };
  for (const [name, [content, received]] of Object.entries(wrong)) {
    await page.setInputFiles("#search-file", fileOf(name, content));
    const box = page.locator("#search-failure [role=alert]", { hasText: `received ${received}; build the index again.` });
    assert.match(await box.textContent(), /^This file cannot be read as a search index\.Expected a search index of this model, received /);
    await textOf(page, "#search-corpus", /^Sample phrases.*1,654 texts/);
  }
  assert.match((await found(page, "it is too dark in here"))[0].text, /dark/);
  tests.assertClean();
  await page.context().close();
});

test("an index of another model names it, and is searched once it is chosen", async () => {
  const page = await tests.open({ hash: "#panel=search" });
  await textOf(page, "#panel-search .model-facts", /runs on/);
  await page.setInputFiles("#model-file", fileOf("tiny.tflite", Buffer.from(tinyModel("vector.tflite"))));
  await indexBuilt(page);
  const refusal = /^This index needs another model\.Expected .*, received one of another model, named 'search'; open that model/;
  await drop(page, join(folder, "notes.kbindex"));
  await textOf(page, "#search-failure .failure-box", refusal);
  await textOf(page, "#search-corpus", /^Sample phrases/);
  await page.selectOption("#model-search", "search");
  await textOf(page, "#search-corpus", /^notes\.kbindex/);
  assert.equal(await page.locator("#search-failure .failure-box").count(), 0);
  const [{ query, matches }] = expected["notes.kbindex"];
  assertFound(await found(page, query), matches);
  await page.selectOption("#model-search", "tiny");
  await textOf(page, "#panel-search .state .failure-box", refusal);
  await textOf(page, "#search-corpus", /It needs another model\. Choose or open that one to search it\.$/);
  assert.equal(await page.locator("#search-hits li").count(), 0);
  await showPanel(page, "classify");
  await showPanel(page, "search");
  await page.selectOption("#model-search", "search");
  await page.waitForSelector("#search-hits li");
  assert.equal(await page.locator("#panel-search .failure-box").count(), 0);
  tests.assertClean();
  await page.context().close();
});
