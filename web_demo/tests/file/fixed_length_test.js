import assert from "node:assert/strict";
import { test } from "node:test";

import { isResizable, withLength } from "../../core/file/fixed_length.js";
import { ModelFile } from "../../core/file/model_file.js";
import { TINY_MODELS, tinyModel } from "../tiny_models.js";

const CONTENT = tinyModel("vector.tflite");

test("the files with an open length are known", () => {
  const resizable = TINY_MODELS.filter((name) => isResizable(ModelFile.of(tinyModel(name), name)));
  assert.deepEqual(resizable, ["score.tflite", "vector.tflite"]);
});

test("a copy has the length, and is a sound file", () => {
  for (const length of [1, 5, 16]) {
    const file = ModelFile.of(withLength(CONTENT, "serve", length), "a copy");
    for (const port of file.signatures[0].inputs.values()) assert.deepEqual(port.shape, [1, length]);
    assert.equal(isResizable(file), false);
  }
});

test("few bytes of the copy differ, and none of the file", () => {
  const copy = withLength(CONTENT, "serve", 16);
  withLength(Buffer.from(CONTENT.buffer), "serve", 5);
  const changed = copy.filter((byte, place) => byte !== CONTENT[place]).length;
  assert.ok(changed >= 3 && changed <= 3 * 5, `${changed} bytes`); // of three inputs, a length and a signature's 4 bytes
  assert.deepEqual(CONTENT, tinyModel("vector.tflite"));
});
