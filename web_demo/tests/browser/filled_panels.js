import { ModelFile } from "../../core/file/model_file.js";
import { IndexFile } from "../../core/search/index_file.js";
import { SentenceSearch } from "../../core/search/sentence_search.js";
import { Int8Vector } from "../../core/search/vector_index.js";
import { Prompts } from "../../core/tasks/prompts.js";
import { randomVectors } from "../search/random_vectors.js";
import { indexBuilt, showPanel, textOf } from "./test_browser.js";

const LONG_NAME = `notes/${"Donaudampfschifffahrtsgesellschaft".repeat(6)}.md`;

/**
 * Ways to fill each panel with a result, for tests that look at all of them. Each returns when the result is there.
 *
 * @type {Record<string, (page: import("playwright-core").Page) => Promise<void>>}
 */
export const FILLED = {
  async labels(page) {
    await showPanel(page, "classify");
    await page.selectOption("#model-classify", "intents");
    await page.fill("#classify-text", "wake me at half past six tomorrow");
    await textOf(page, "#classify-result .is-chosen", /set_alarm/);
    if ((await page.getAttribute("#classify-tokens-button", "aria-expanded")) === "false") await page.click("#classify-tokens-button");
    await page.waitForSelector("#classify-tokens li");
  },
  async entities(page) {
    await showPanel(page, "classify");
    await page.selectOption("#model-classify", "entities");
    await page.fill("#classify-text", "Ada Lovelace of the Royal Society wrote to Charles Babbage in London.");
    await page.waitForSelector("#classify-result mark");
  },
  async ask(page) {
    await showPanel(page, "ask");
    await page.click("#ask-example");
    await page.waitForSelector("#ask-passage mark");
  },
  async search(page) {
    await showPanel(page, "search");
    await indexBuilt(page);
    await page.fill("#search-query", "it is too dark in here");
    await page.waitForSelector("#search-hits li");
  },
  async index(page) {
    await showPanel(page, "search");
    await page.setInputFiles("#search-file", fileOf("notes.kbindex", await indexFor(page)));
    await textOf(page, "#search-corpus", /^notes\.kbindex.*40 rows/);
    await page.setInputFiles("#search-file", fileOf("torn.kbindex", Buffer.from("KBSI")));
    await page.waitForSelector("#search-failure .failure-box");
    await page.fill("#search-query", "it is too dark in here");
    await page.waitForSelector("#search-hits .source");
  },
  async teach(page) {
    await showPanel(page, "teach");
    if ((await page.locator("#teach-labels > li").count()) === 0) await page.click("#teach-sample");
    await page.fill("#teach-text", "when will it be here");
    await page.waitForSelector("#teach-bars li");
  },
  async speed(page) {
    await showPanel(page, "speed");
    await page.click("#speed-measure:enabled");
    await page.waitForSelector("#speed-facts dt");
  },
  async failure(page) {
    await showPanel(page, "speed");
    await page.check("input[value=webgpu]", { force: true });
    await page.waitForSelector("#panel-speed .failure-box");
    await page.setInputFiles("#model-file", { name: "photo.jpg", mimeType: "image/jpeg", buffer: Buffer.from("no model") });
    await textOf(page, "#notices", /photo\.jpg without/);
  },
};

/** A file for `setInputFiles`. */
export function fileOf(name, buffer) {
  return { name, mimeType: "", buffer };
}

/** An index of random vectors, which the site's model for search can search, with long names of documents. */
export async function indexFor(page, rows = 40) {
  const response = await fetch(new URL("models/search.tflite", page.url()));
  const { metadata, signatures } = ModelFile.of(new Uint8Array(await response.arrayBuffer()), "search.tflite");
  const dimensions = signatures[0].outputs.get("embedding").shape.at(-1);
  const search = new SentenceSearch(new Prompts(metadata).vectorsName, dimensions, { openedAs: "search" });
  const draw = randomVectors(3, dimensions);
  const document = search.documentOf(LONG_NAME, 0);
  for (let row = 0; row < rows; row++) search.addStored(`the text of row ${row}`, Int8Vector.of(draw()), document, 1000 * row);
  return Buffer.from(IndexFile.write(search));
}
