import assert from "node:assert/strict";
import { test } from "node:test";

import { ModelFile } from "../../core/file/model_file.js";
import { PackedFiles } from "../../core/file/packed_files.js";
import { TaughtClasses } from "../../core/search/taught_classes.js";
import { taughtFile } from "../../core/search/taught_file.js";
import { assertRefused } from "../assert_refused.js";
import { tinyModel } from "../tiny_models.js";

const ENCODER = tinyModel("vector.tflite");
const WIDTH = ModelFile.of(ENCODER, "vector.tflite").metadata.settings.width;

function classesOf(width = WIDTH, names = ["alarm", "musique é"]) {
  const classes = new TaughtClasses(width);
  for (let example = 0; example < 3; example++) {
    names.forEach((name, number) => {
      const vector = Float32Array.from({ length: width }, (_, place) => Math.sin(example + 7 * number + place) + number);
      classes.add(name, `${name} ${example}`, vector);
    });
  }
  classes.addClass("without examples");
  return classes;
}

test("a file has the graph of the encoder, and the labels and the layer beside it", () => {
  const classes = classesOf();
  const file = taughtFile(ENCODER, "vector.tflite", classes);
  const start = new PackedFiles(ENCODER, "vector.tflite").start();
  assert.deepEqual(file.subarray(0, start), ENCODER.subarray(0, start));
  const before = ModelFile.of(ENCODER, "vector.tflite");
  const { metadata, signatures } = ModelFile.of(file, "mine.tflite");
  assert.deepEqual(signatures.map(({ key }) => key), before.signatures.map(({ key }) => key));
  assert.equal(metadata.type.key, "few_shot");
  assert.equal(metadata.task, "FewShotClassifier");
  assert.deepEqual(metadata.labels, ["alarm", "musique é"]);
  assert.deepEqual(metadata.vocabulary, before.metadata.vocabulary);
  assert.equal(metadata.settings.method ?? "centre", classes.layer.method);
  const layer = new Float32Array(Uint8Array.from(atob(metadata.settings.layer), (each) => each.charCodeAt(0)).buffer);
  assert.deepEqual(layer, Float32Array.from(classes.layer.table));
});

test("the default prompt of the encoder stands before the texts of the file", () => {
  const content = tinyModel("prompted.tflite");
  const { metadata } = ModelFile.of(content, "prompted.tflite");
  const file = taughtFile(content, "prompted.tflite", classesOf(metadata.settings.width));
  const { settings } = ModelFile.of(file, "mine.tflite").metadata;
  const { prompts, default_prompt_name: name } = metadata.settings;
  assert.equal(settings.prompt ?? "", name ? prompts[name] : "");
});

test("what makes no file is refused", () => {
  assertRefused("a sentence encoder", () => taughtFile(tinyModel("label.tflite"), "label.tflite", classesOf()));
  assertRefused(`vectors of ${WIDTH} numbers`, () => taughtFile(ENCODER, "vector.tflite", classesOf(WIDTH + 1)));
  assertRefused("names of one line", () => taughtFile(ENCODER, "vector.tflite", classesOf(WIDTH, ["a\nb", "c"])));
  assertRefused("at least two classes", () => taughtFile(ENCODER, "vector.tflite", new TaughtClasses(WIDTH)));
  assertRefused("TFL3", () => taughtFile(new Uint8Array(40), "empty", classesOf()));
});
