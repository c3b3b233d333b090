// The child of `benchmarks.latency.web_demo`: times the page in Chromium, and prints one line of JSON.
//
//   node time_page.js '{"site": folder, "chromium": file, "modules": folder, "model": name, "texts": file, "sentences": file, "rounds": n}'
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { StaticServer } from "./static_server.js";

const PATIENCE = 1_800_000; // milliseconds; an index of 20,000 texts takes minutes
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-extensions"];

const asked = JSON.parse(process.argv[2]);
const texts = JSON.parse(readFileSync(asked.texts, "utf8"));
const { chromium } = createRequire(join(asked.modules, "package.json"))("playwright-core");
const FIRST_TEXT = `#panel=classify&model=${asked.model}&text=${encodeURIComponent(texts[0])}`;
const server = new StaticServer(asked.site);
const url = await server.start();
const browser = await chromium.launch({ executablePath: asked.chromium, headless: true, args: FLAGS });

/** Notes the time since the start of the navigation at which a part of the page first has a text. */
function noteFirst([selector, key]) {
  const look = () => {
    if (globalThis[key] === undefined && document.querySelector(selector)?.textContent.trim()) globalThis[key] = performance.now();
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
}

async function newPage(context, hash, watched) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  for (const each of watched) await page.addInitScript(noteFirst, each);
  await page.goto(url + hash);
  return page;
}

const valueOf = (page, key) => page.waitForFunction((name) => globalThis[name], key).then((handle) => handle.jsonValue());

const isKept = () => /^This page works offline/.test(document.querySelector("#device-offline")?.textContent);

/** The first visit, and one from what the browser keeps: milliseconds to the first answer. */
async function visits() {
  const context = await browser.newContext();
  const first = await newPage(context, FIRST_TEXT, [["#classify-facts", "answered"]]);
  const cold = await valueOf(first, "answered");
  await first.waitForFunction(isKept);
  const second = await newPage(context, FIRST_TEXT, [["#classify-facts", "answered"]]);
  const kept = await valueOf(second, "answered");
  await context.close();
  return { cold, kept };
}

/** The requests of a first visit until its answer, without those that keep the page for offline use. */
async function requests() {
  const context = await browser.newContext({ serviceWorkers: "block" });
  server.asked.length = 0;
  await valueOf(await newPage(context, FIRST_TEXT, [["#classify-facts", "answered"]]), "answered");
  await context.close();
  return server.asked.length;
}

/** Milliseconds from a changed text to its result on the page, with what the page itself says about the prediction. */
async function typing() {
  const context = await browser.newContext();
  const page = await newPage(context, `#panel=classify&model=${asked.model}&text=warm`, [["#classify-facts", "answered"]]);
  await valueOf(page, "answered");
  await page.waitForFunction(isKept);
  const times = await page.evaluate(async (all) => {
    const field = document.querySelector("#classify-text");
    const facts = document.querySelector("#classify-facts");
    const changed = () => new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (!facts.textContent) return;
        observer.disconnect();
        resolve();
      }).observe(facts, { childList: true, subtree: true, characterData: true });
    });
    const shown = [];
    for (const text of all) {
      facts.textContent = ""; // so that an equal line is a change as well
      const start = performance.now();
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      await changed();
      const time = performance.now() - start;
      shown.push({ shown: time, predicted: Number(/([\d.,]+) ms/.exec(facts.textContent)[1].replace(",", "")) });
    }
    return shown;
  }, texts);
  await context.close();
  return times;
}

/** Imports sentences: milliseconds to the first results and to the end, of queries, and to the results after a reload. */
async function searching() {
  const context = await browser.newContext();
  const page = await newPage(context, "#panel=search", []);
  await page.waitForFunction(() => /\d texts/.test(document.querySelector("#search-corpus")?.textContent));
  await page.fill("#search-query", texts[0]);
  await page.setInputFiles("#search-file", asked.sentences);
  const start = Date.now();
  await page.waitForFunction(() => document.querySelector("#search-progress progress") !== null);
  await page.waitForSelector("#search-hits li");
  const first = Date.now() - start;
  const done = (count) => new RegExp(`${count}.*texts`).test(document.querySelector("#search-corpus")?.textContent);
  const count = readFileSync(asked.sentences, "utf8").trim().split("\n").length;
  await page.waitForFunction(done, count.toLocaleString("en"));
  const indexed = Date.now() - start;
  const queries = [];
  for (const text of texts) {
    await page.fill("#search-query", text);
    await page.waitForFunction((query) => document.querySelector("#search-hits").dataset.query === query, text);
    queries.push(Number(/([\d.,]+) ms/.exec(await page.textContent("#search-facts"))[1].replace(",", "")));
  }
  const again = await newPage(context, `#panel=search&text=${encodeURIComponent(texts[0])}`, [["#search-hits", "found"]]);
  const kept = await valueOf(again, "found");
  await context.close();
  return { sentences: count, first, indexed, queries, kept };
}

try {
  const rounds = [];
  for (let round = 0; round < asked.rounds; round++) rounds.push(await visits());
  const times = { requests: await requests(), visits: rounds, typing: await typing(), search: await searching() };
  console.log(JSON.stringify({ browser: `Chromium ${browser.version()}`, ...times }));
} finally {
  await browser.close();
  server.stop();
}
