import assert from "node:assert/strict";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { ModelFile } from "../../core/file/model_file.js";
import { randomNumbers } from "../text/random_numbers.js";
import { TINY_MODELS, tinyModel } from "../tiny_models.js";
import { archiveStart } from "./archives.js";

const COUNT = Number(process.env.KERASBERT_FUZZ ?? 200); // damaged files of each kind
const MOST_SECONDS = 10;
const LARGE_NUMBERS = [-1, 2 ** 31 - 1, -(2 ** 31), 0x00ffffff, 0];

/** Whether a file is read; anything but an answer or our error fails the test. */
function isRead(content, name) {
  const start = performance.now();
  try {
    ModelFile.of(content, name);
    return true;
  } catch (error) {
    assert.ok(error instanceof KerasBertError, `${name}: ${error.stack}`);
    assert.match(error.message, /^expected .*received .*;/);
    return false;
  } finally {
    const seconds = (performance.now() - start) / 1000;
    assert.ok(seconds < MOST_SECONDS, `${name} took ${seconds} s`);
  }
}

const KINDS = {
  "an end": (content, draw) => content.subarray(0, draw() % content.length),
  "a changed byte in the graph": (content, draw) => changed(content, draw, 1, 0, archiveStart(content)),
  "changed bytes in the archive": (content, draw) => changed(content, draw, 3, archiveStart(content), content.length),
  "changed bytes": (content, draw) => changed(content, draw, 1 + (draw() % 50), 0, content.length),
  "a large number": (content, draw) => {
    const copy = Buffer.from(content);
    copy.writeInt32LE(LARGE_NUMBERS[draw() % LARGE_NUMBERS.length], draw() % (content.length - 4));
    return copy;
  },
  "a part twice": (content, draw) => {
    const [from, to] = [draw() % content.length, draw() % content.length].sort((one, other) => one - other);
    return Buffer.concat([content.subarray(0, to), content.subarray(from)]);
  },
};

function changed(content, draw, count, from, to) {
  const copy = Buffer.from(content);
  for (let number = 0; number < count; number++) copy[from + (draw() % (to - from))] = draw();
  return copy;
}

for (const name of TINY_MODELS) {
  test(`${name}, damaged at random: only answers and our errors come out`, (context) => {
    const content = tinyModel(name);
    const draw = randomNumbers(name.length + 1);
    for (const [kind, damage] of Object.entries(KINDS)) {
      let refused = 0;
      for (let number = 0; number < COUNT; number++) refused += !isRead(damage(content, draw), `${name}, ${kind}, number ${number}`);
      context.diagnostic(`${refused} of ${COUNT} files with ${kind} were refused`);
      assert.ok(refused > 0, `expected some files with ${kind} to be refused, received none`);
    }
  });
}

test("every byte of the smallest file is changed: only answers and our errors come out", (context) => {
  const content = tinyModel("tags.tflite");
  const graph = archiveStart(content);
  const refused = { graph: 0, archive: 0 };
  for (let place = 0; place < content.length; place++) {
    const copy = Buffer.from(content);
    copy[place] ^= 1 << (place % 8);
    if (!isRead(copy, `tags.tflite with another byte ${place}`)) refused[place < graph ? "graph" : "archive"]++;
  }
  const archive = content.length - graph;
  context.diagnostic(`${refused.graph} of ${graph} bytes of the graph and ${refused.archive} of ${archive} of the archive were noticed`);
  // Times and attributes in the archive's directory mean nothing here; all else has a checksum, or must agree with it.
  assert.ok(refused.archive > 0.85 * archive);
  assert.ok(refused.graph > 0.1 * graph);
});
