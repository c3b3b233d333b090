import assert from "node:assert/strict";
import { test } from "node:test";

import { NO_DEVICE, showPanel, TestBrowser, textOf } from "./test_browser.js";

const tests = new TestBrowser();

test("without WebGPU the page says so, and runs on WebAssembly when it is told to", async () => {
  const page = await tests.open();
  await page.fill("#classify-text", "wake me at half past six");
  await textOf(page, "#classify-facts");
  await page.check("input[value=webgpu]", { force: true });
  const failure = await textOf(page, "#panel-classify .failure-box");
  assert.match(failure, /^The model does not run on WebGPU here\.Expected WebGPU, received .*; choose WebAssembly\./);
  assert.equal(await page.textContent("#panel-classify .model-facts"), "", "it does not say that it runs");
  await showPanel(page, "search");
  await textOf(page, "#panel-search .failure-box", /WebGPU/);
  await showPanel(page, "classify");
  await page.click("text=Use WebAssembly");
  assert.match(await textOf(page, "#panel-classify .model-facts"), /runs on WebAssembly$/);
  await textOf(page, "#classify-result .is-chosen", /set_alarm/);
  assert.ok(await page.isChecked("input[value=wasm]"));
  await showPanel(page, "search");
  await textOf(page, "#panel-search .model-facts", /runs on WebAssembly$/);
  tests.assertClean([NO_DEVICE]);
  await page.context().close();
});
