import assert from "node:assert/strict";
import { test } from "node:test";

import { ClassifyPresenter } from "../../page/state/classify_presenter.js";
import { DevicePresenter } from "../../page/state/device_presenter.js";
import { tinyModel } from "../tiny_models.js";
import { FakePage } from "./fakes.js";

async function made() {
  const page = new FakePage("label.tflite");
  const presenter = new DevicePresenter(page.client, page.library, page.store);
  await presenter.refresh();
  return { page, presenter };
}

const fileOf = (name) => new Blob([tinyModel(name)]);

test("what the page keeps is listed, and the site's own models are not", async () => {
  const { page, presenter } = await made();
  assert.deepEqual([presenter.state.models, presenter.state.hasTexts, presenter.state.hasLabels], [[], false, false]);
  await page.library.add("mine.tflite", fileOf("tags.tflite"), "tagging");
  await page.store.write("search", {});
  await page.store.write("taught-labels", []);
  await presenter.refresh();
  const { models, hasTexts, hasLabels } = presenter.state;
  assert.deepEqual([models.map(({ name }) => name), hasTexts, hasLabels], [["mine"], true, true]);
  await presenter.deleteTexts();
  assert.equal(presenter.state.hasTexts, false);
});

test("a model is kept and deleted, and a full storage is told", async () => {
  const { page, presenter } = await made();
  await page.library.add("mine.tflite", fileOf("tags.tflite"), "tagging");
  page.store.isFull = true;
  await presenter.keep("mine");
  assert.deepEqual([presenter.state.failure.kind, presenter.state.models[0].place], ["storage", "memory"]);
  page.store.isFull = false;
  await presenter.keep("mine");
  assert.deepEqual([presenter.state.failure, presenter.state.models[0].place], [null, "kept"]);
  await presenter.remove("mine");
  assert.deepEqual(presenter.state.models, []);
});

test("another file under the name of a removed model is another model", async () => {
  const { page, presenter } = await made();
  const classify = new ClassifyPresenter(page.client, page.library);
  classify.write("the cat sat");
  const kinds = [];
  for (const name of ["label.tflite", "tags.tflite"]) {
    const { name: added } = await page.library.add("mine.tflite", fileOf(name), name === "tags.tflite" ? "tagging" : "single_label");
    assert.equal(added, "mine");
    classify.choose(added);
    await page.settled();
    kinds.push(classify.state.classified.result.kind);
    await presenter.remove(added);
  }
  assert.deepEqual(kinds, ["labels", "highlights"]);
});

test("a browser that forbids storage keeps nothing", async () => {
  const { page, presenter } = await made();
  page.store.has = async () => {
    throw new Error("forbidden");
  };
  await presenter.refresh();
  assert.deepEqual([presenter.state.hasTexts, presenter.state.hasLabels], [false, false]);
});
