import assert from "node:assert/strict";
import { test } from "node:test";

import { LARGEST_MODEL, ModelLibrary } from "../../page/state/model_library.js";
import { assertRefused } from "../assert_refused.js";
import { SmallStore } from "./fakes.js";

const SITE = { models: [{ name: "intents", file: "models/intents.tflite", title: "intents", task: "single_label", bytes: 5 }] };
const FILE = new Blob(["model"]);

function library(store = new SmallStore(), index = async () => SITE) {
  return new ModelLibrary(index, store);
}

const placesOf = async (models) => (await models.entries()).map(({ name, place }) => `${name} ${place}`);

test("an opened model is in memory, and gone with the page", async () => {
  const store = new SmallStore();
  const models = library(store);
  const entry = await models.add("mine.tflite", FILE, "tagging");
  assert.deepEqual([entry.name, entry.type, entry.bytes], ["mine", "tagging", 5]);
  assert.deepEqual(await placesOf(models), ["intents site", "mine memory"]);
  assert.equal(models.reference("mine").file, FILE);
  assert.deepEqual(await placesOf(library(store)), ["intents site"]);
});

test("a kept model is found again, until it is deleted", async () => {
  const store = new SmallStore();
  const models = library(store);
  await models.add("mine.tflite", FILE, "tagging");
  await models.keep("mine");
  assert.deepEqual(await placesOf(models), ["intents site", "mine kept"]);
  const later = library(store);
  assert.deepEqual(await placesOf(later), ["intents site", "mine kept"]);
  assert.equal(await later.reference("mine").file.text(), "model");
  await later.remove("mine");
  assert.deepEqual(await placesOf(later), ["intents site"]);
  assert.deepEqual(await placesOf(library(store)), ["intents site"]);
});

test("a kept model whose name the site took is there under another one, and can be deleted", async () => {
  const store = new SmallStore();
  await store.write("model:intents", { type: "tagging", file: FILE });
  const models = library(store);
  assert.deepEqual(await placesOf(models), ["intents site", "intents (2) kept"]);
  await models.remove("intents (2)");
  assert.deepEqual(await placesOf(library(store)), ["intents site"]);
});

test("a model that cannot be kept stays in memory", async () => {
  const store = new SmallStore();
  const models = library(store);
  await models.add("mine.tflite", FILE, "tagging");
  store.isFull = true;
  await assert.rejects(models.keep("mine"), { name: "QuotaExceededError" });
  assert.deepEqual(await placesOf(models), ["intents site", "mine memory"]);
});

test("two models have two names", async () => {
  const models = library();
  await models.add("intents.tflite", FILE, "single_label");
  await models.add("intents.TFLITE", FILE, "single_label");
  assert.deepEqual(await placesOf(models), ["intents site", "intents (2) memory", "intents (3) memory"]);
});

test("the site's own models are not removed", async () => {
  const models = library();
  await models.remove("intents");
  assert.deepEqual(await placesOf(models), ["intents site"]);
});

test("a list that could not be read is read again", async () => {
  let tries = 0;
  const models = library(new SmallStore(), async () => {
    if (tries++ === 0) throw new Error("no network");
    return SITE;
  });
  await assert.rejects(models.entries(), (error) => error.failure.kind === "download" && /no network/.test(error.message));
  assert.deepEqual(await placesOf(models), ["intents site"]);
});

test("a browser without storage has the site's models", async () => {
  const store = new SmallStore();
  store.entries = async () => {
    throw new Error("forbidden");
  };
  assert.deepEqual(await placesOf(library(store)), ["intents site"]);
});

test("a file is refused by its size, before it is read", () => {
  const unread = { size: 500 * 2 ** 20, arrayBuffer: () => assert.fail("it was read") };
  assertRefused("at most 400 MB, received huge.tflite of 524 MB", () => library().checkSize("huge.tflite", unread));
  library().checkSize("large.tflite", { size: LARGEST_MODEL });
});
