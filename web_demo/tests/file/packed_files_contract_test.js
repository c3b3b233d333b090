import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { ModelFile } from "../../core/file/model_file.js";
import { PackedFiles } from "../../core/file/packed_files.js";
import { tinyModel } from "../tiny_models.js";
import { archive, archiveStart } from "./archives.js";

// The same cases as `tests/export/tflite/test_packed_files.py` and `PackedFilesContractTest.kt`.
const CONTRACT = JSON.parse(readFileSync(new URL("../../../android_demo/testdata/packed_files.json", import.meta.url), "utf8"));
const CONTENT = Buffer.from(tinyModel(CONTRACT.file.replace("models/", "")));
const TOKENS = 45;

function changed({ vocabulary, tokens, set = [], cut = 0, append = "", times = 1 }) {
  const content = Buffer.from(vocabulary === undefined ? CONTENT : repacked(vocabulary, tokens));
  for (const [place, value] of set) content[content.length - place] = Number.parseInt(value, 16);
  const further = Array.from({ length: times }, () => Buffer.from(append, "hex"));
  return Buffer.concat([content.subarray(0, content.length - cut), ...further]);
}

function repacked(furtherLines, tokens) {
  const texts = new PackedFiles(CONTENT, "a file").read();
  const size = (text) => text.replace(`"vocab_size": ${TOKENS}`, `"vocab_size": ${tokens}`);
  const files = [...texts].map(([name, text]) => [name, name === "vocab.txt" ? text + furtherLines : size(text)]);
  return Buffer.concat([CONTENT.subarray(0, archiveStart(CONTENT)), archive(files)]);
}

function read(content) {
  try {
    return ModelFile.of(content, "a file").metadata;
  } catch (error) {
    if (error instanceof KerasBertError) return null;
    throw error;
  }
}

for (const each of CONTRACT.cases) {
  test(`${each.case}: ${each.read ? "read" : "refused"}, as in Python`, () => {
    const metadata = read(changed(each));
    assert.equal(metadata !== null, each.read);
    if (metadata !== null) assert.equal(metadata.vocabulary.length, each.tokens ?? TOKENS);
  });
}
