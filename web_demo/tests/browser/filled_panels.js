import { indexBuilt, showPanel, textOf } from "./test_browser.js";

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
