import assert from "node:assert/strict";
import { test } from "node:test";

import { lowContrasts } from "./contrast.js";
import { FILLED } from "./filled_panels.js";
import { NO_DEVICE, showPanel, TestBrowser, textOf } from "./test_browser.js";

const NAMED = [
  "button", "textbox", "searchbox", "combobox", "tab", "tabpanel", "tablist", "radio", "progressbar", "list", "group", "region",
];
const LARGEST_SHIFT = 0.1; // what is rated as good

const tests = new TestBrowser();

/** What has the focus: its id, or else its name or text. */
function focused(page) {
  return page.evaluate(() => {
    const element = document.activeElement;
    return element.id || element.getAttribute("aria-label") || element.value || element.textContent.trim();
  });
}

async function walk(page, stops, key = "Tab") {
  const order = [];
  for (let stop = 0; stop < stops; stop++) {
    await page.keyboard.press(key);
    order.push(await focused(page));
  }
  return order;
}

test("the keyboard reaches everything in the order of the page, and its place is seen", async () => {
  const page = await tests.open();
  await textOf(page, "#panel-classify .model-facts", /runs on/);
  const order = [
    "wasm", "tab-classify", "model-classify", "Open a file…", "classify-text", "Clear", "Copy link", "wake me at half past six tomorrow",
    "The soup was simply dull, but the waiter made us laugh.", "Ada Lovelace wrote to Charles Babbage in London.", "Show tokens",
  ].map((name) => ({ Clear: "classify-clear", "Show tokens": "classify-tokens-button" })[name] ?? name);
  assert.deepEqual(await walk(page, order.length), order);
  assert.deepEqual(await walk(page, order.length - 1, "Shift+Tab"), order.slice(0, -1).reverse());
  const unseen = [];
  for (const name of order.slice(1)) {
    await page.keyboard.press("Tab");
    const isSeen = await page.evaluate(() => {
      const style = getComputedStyle(document.activeElement);
      return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
    });
    if (!isSeen) unseen.push(name);
  }
  assert.deepEqual(unseen, []);
  tests.assertClean();
  await page.context().close();
});

test("arrow keys, Home and End move between the tabs", async () => {
  const page = await tests.open();
  await page.focus("#tab-classify");
  const shown = [];
  for (const key of ["ArrowRight", "ArrowRight", "End", "ArrowRight", "ArrowLeft", "Home"]) {
    await page.keyboard.press(key);
    shown.push(await page.evaluate(() => document.activeElement.id));
    const panels = await page.locator("[role=tabpanel]:visible").evaluateAll((all) => all.map((each) => each.id));
    assert.deepEqual(panels, [shown.at(-1).replace("tab", "panel")]);
    assert.equal(await page.locator("[role=tab][aria-selected=true]").count(), 1);
  }
  assert.deepEqual(shown, ["tab-ask", "tab-search", "tab-speed", "tab-classify", "tab-speed", "tab-classify"]);
  tests.assertClean();
  await page.context().close();
});

test("the accelerator is chosen by arrow keys", async () => {
  const page = await tests.open();
  await page.focus("input[value=wasm]");
  await page.keyboard.press("ArrowRight");
  await textOf(page, "#panel-classify .failure-box", /WebGPU/);
  await page.keyboard.press("ArrowLeft");
  await textOf(page, "#panel-classify .model-facts", /runs on WebAssembly/);
  tests.assertClean([NO_DEVICE]);
  await page.context().close();
});

test("everything that can be used has a name for a screen reader, in every panel", async () => {
  const page = await tests.open();
  const session = await page.context().newCDPSession(page);
  const nameless = [];
  let named = 0;
  for (const [state, fill] of Object.entries(FILLED)) {
    await fill(page);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    for (const { role, name, ignored, properties = [] } of nodes) {
      if (ignored || !NAMED.includes(role?.value)) continue;
      named += 1;
      const isLeftOut = role.value === "list" && properties.length === 0;
      if (!name?.value?.trim() && !isLeftOut) nameless.push(`${state}: ${role.value}`);
    }
  }
  assert.deepEqual(nameless, []);
  assert.ok(named > 100, `expected the parts of all panels, received ${named}`);
  tests.assertClean([NO_DEVICE]);
  await page.context().close();
});

test("results are told to screen readers once a person stops typing", async () => {
  const page = await tests.open();
  await page.fill("#classify-text", "wake me at half past six tomorrow");
  await textOf(page, "#announcements", /^set_alarm, [\d.]+ %$/);
  await page.selectOption("#model-classify", "entities");
  await page.fill("#classify-text", "Ada met Bob in London.");
  await textOf(page, "#announcements", /^\d entities$/);
  assert.equal(await page.getAttribute("#announcements", "aria-live"), "polite");
  tests.assertClean();
  await page.context().close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`texts have a contrast of 4.5 and fields one of 3, ${colorScheme}`, async () => {
    const page = await tests.open({ colorScheme, reducedMotion: "reduce" });
    const low = [];
    for (const [state, fill] of Object.entries(FILLED)) {
      await fill(page);
      await page.waitForTimeout(100);
      low.push(...(await page.evaluate(lowContrasts)).map((line) => `${state}: ${line}`));
    }
    assert.deepEqual(low, []);
    tests.assertClean([NO_DEVICE]);
    await page.context().close();
  });
}

test("nothing scrolls sideways at 390 pixels, whatever a text contains", async () => {
  const page = await tests.open({ viewport: { width: 390, height: 844 } });
  const word = "Donaudampfschifffahrtsgesellschaft".repeat(12);
  const wide = [];
  const check = async (state) => {
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > 390) wide.push(`${state}: ${width}`);
  };
  for (const [state, fill] of Object.entries(FILLED)) {
    await fill(page);
    await check(state);
  }
  await page.check("input[value=wasm]", { force: true });
  await showPanel(page, "classify");
  await page.fill("#classify-text", word);
  await textOf(page, "#classify-facts");
  await check("a long word");
  await showPanel(page, "teach");
  await page.fill("#teach-label", word);
  await page.press("#teach-label", "Enter");
  await page.keyboard.type(word);
  await page.keyboard.press("Enter");
  await check("a long label");
  const file = { name: `${word.slice(0, 200)}.txt`, mimeType: "text/plain", buffer: Buffer.from(`${word}\nb\n`) };
  await page.setInputFiles("#search-file", file);
  await showPanel(page, "search");
  await textOf(page, "#search-corpus", /Donau/);
  await page.fill("#search-query", word);
  await page.waitForSelector("#search-hits li");
  await check("a long name of a file");
  assert.deepEqual(wide, []);
  tests.assertClean([NO_DEVICE]);
  await page.context().close();
});

for (const width of [1280, 390]) {
  test(`nothing jumps while the page loads and results appear, ${width} pixels`, async () => {
    const context = await tests.newContext({ viewport: { width, height: 844 } });
    await context.addInitScript(() => {
      globalThis.shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
          const moved = sources.map(({ node }) => node?.id || node?.className || node?.nodeName).join(" ");
          globalThis.shifts.push({ value, startTime, hadRecentInput, moved });
        }
      }).observe({ type: "layout-shift", buffered: true });
    });
    tests.server.delay = 20;
    const page = await tests.openIn(context);
    await textOf(page, "#panel-classify .model-facts", /runs on/);
    for (const name of ["labels", "entities", "ask", "search", "teach", "speed"]) await FILLED[name](page);
    await textOf(page, "#device-offline", /works offline/);
    tests.server.delay = 0;
    const shifts = await page.evaluate(() => globalThis.shifts);
    const largest = cumulativeShift(shifts.filter(({ hadRecentInput }) => !hadRecentInput));
    assert.ok(largest < LARGEST_SHIFT, `expected less than ${LARGEST_SHIFT}, received ${largest}: ${JSON.stringify(shifts, null, 1)}`);
    tests.assertClean();
    await context.close();
  });
}

/** Cumulative Layout Shift of Web Vitals: the largest sum of shifts less than 1 s apart, within 5 s. */
function cumulativeShift(shifts) {
  let [largest, sum, first, last] = [0, 0, -Infinity, -Infinity];
  for (const { value, startTime } of shifts) {
    if (startTime - last >= 1000 || startTime - first >= 5000) [sum, first] = [0, startTime];
    last = startTime;
    sum += value;
    largest = Math.max(largest, sum);
  }
  return largest;
}

test("a person who wants no motion sees none", async () => {
  const page = await tests.open({ reducedMotion: "reduce" });
  await page.fill("#classify-text", "wake me at half past six");
  await page.waitForSelector("#classify-result .track div");
  const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((each) => {
    const { transitionDuration, animationDuration } = getComputedStyle(each);
    return [transitionDuration, animationDuration].some((duration) => duration.split(",").some((time) => parseFloat(time) > 0));
  }).length);
  assert.equal(moving, 0);
  tests.assertClean();
  await page.context().close();
});
