import assert from "node:assert/strict";
import { test } from "node:test";

import { KerasBertError } from "../../core/error.js";
import { FlatBuffer } from "../../core/file/flat_buffer.js";
import { ModelFile } from "../../core/file/model_file.js";
import { PackedFiles } from "../../core/file/packed_files.js";
import { TaskType } from "../../core/file/task_type.js";
import { assertRefused } from "../assert_refused.js";
import { tinyModel } from "../tiny_models.js";
import { archive, archiveStart, directoryStart } from "./archives.js";

const CONTENT = tinyModel("label.tflite");
const GRAPH = CONTENT.subarray(0, archiveStart(CONTENT)); // the FlatBuffer without what is packed behind it
const TEXTS = new PackedFiles(CONTENT, "a file").read();
const DESCRIPTION = TEXTS.get("kerasbert.json");

const open = (bytes) => ModelFile.of(bytes, "a file");
const packed = (files, options) => Buffer.concat([GRAPH, archive(files, options)]);
const described = (description) => packed([["kerasbert.json", description]]);

function changed(old, replacement) {
  assert.ok(DESCRIPTION.includes(old), `expected ${old} in ${DESCRIPTION}`);
  const others = ["vocab.txt", "labels.txt"].map((name) => [name, TEXTS.get(name)]);
  return packed([["kerasbert.json", DESCRIPTION.replace(old, replacement)], ...others]);
}

function refuse(part, bytes) {
  assertRefused(part, () => open(bytes));
}

test("metadata, labels and signatures of a file are read", () => {
  const file = open(CONTENT);
  assert.equal(file.bytes, CONTENT.length);
  assert.equal(file.metadata.type, TaskType.SINGLE_LABEL);
  assert.deepEqual(file.metadata.labels, ["negative", "positive", "neither"]);
  assert.deepEqual(file.metadata.lengths, [8, 16]);
  assert.equal(file.metadata.sequenceLength, 16);
  assert.equal(file.metadata.signature, "serve_16");
  assert.equal(file.metadata.vocabulary[0], "[PAD]");
  assert.ok(file.metadata.vocabulary.includes("\u{1F600}"));
  assert.equal(file.metadata.recipe, "float32");
  assert.deepEqual(file.signatures.map(({ name }) => name).sort(), ["serve_16", "serve_8"]);
  const signature = file.signatures.find(({ name }) => name === "serve_8");
  assert.deepEqual([...signature.inputs.keys()].sort(), ["attention_mask", "input_ids", "token_type_ids"]);
  assert.equal(String(signature.inputs.get("input_ids")), "input_ids int32[1, 8]");
  assert.equal(String(signature.outputs.get("probabilities")), "probabilities float32[1, 3]");
  assert.match(file.minRuntime, /^2\.\d+\.\d+$/);
});

test("an open length is -1, and settings are those of the task", () => {
  const vector = open(tinyModel("vector.tflite"));
  assert.equal(vector.metadata.sequenceLength, null);
  assert.equal(vector.metadata.rowLength, 16);
  assert.deepEqual(vector.signatures[0].inputs.get("input_ids").shape, [1, -1]);
  assert.equal(vector.metadata.labels, null);
  const { metadata } = open(tinyModel("answer.tflite"));
  assert.equal(metadata.settings.no_answer, true);
  assert.equal(metadata.settings.longest_answer, 6);
  assert.equal(metadata.lengths, null);
});

test("what is no model is refused", () => {
  refuse("identifier TFL3", new Uint8Array(0));
  refuse("identifier TFL3", Buffer.from("PK\u0003\u0004 a zip file"));
  refuse("without it; convert the model", GRAPH);
});

test("a file that is cut anywhere is refused", () => {
  for (let size = 0; size < CONTENT.length; size += 61) refuse("expected", CONTENT.subarray(0, size));
  refuse("cut short", CONTENT.subarray(0, CONTENT.length - 10));
  refuse("cut short", Buffer.concat([CONTENT, Buffer.alloc(100_000)]));
});

test("a comment of the archive may follow, which the format allows and kerasbert does not write", () => {
  const comment = Buffer.from("hello");
  const commented = Buffer.concat([CONTENT, comment]);
  commented[CONTENT.length - 2] = comment.length;
  assert.equal(open(commented).metadata.labels.length, 3);
});

test("archives that kerasbert does not write are refused", () => {
  const own = ["kerasbert.json", DESCRIPTION];
  refuse("a packed file '../../vocab.txt'", packed([own, ["../../vocab.txt", "a"]]));
  refuse("17 packed files", packed([own, ...Array.from({ length: 16 }, (_, number) => [`f${number}`, ""])]));
  refuse("a compressed kerasbert.json", packed([own], { isCompressed: true }));
  refuse("without it", packed([["other.txt", "a"]]));
  refuse("vocab.txt of 33554433 bytes", packed([own, ["vocab.txt", "a".repeat((32 << 20) + 1)]]));
  refuse("the same packed file twice", packed([own, ["labels.txt", "a\n"], ["labels.txt", "b\n"]]));
  refuse("it is not UTF-8", described(Uint8Array.of(0x22, 0xff)));
  const otherContent = Buffer.from(described(DESCRIPTION).toString("latin1").replace('"task"', '"tusk"'), "latin1");
  refuse("its checksum is wrong", otherContent);
});

test("a small archive that would unpack into 100 MB is not unpacked", () => {
  const bomb = packed([["kerasbert.json", " ".repeat(100 << 20)]], { isCompressed: true });
  assert.ok(bomb.length < 1 << 18);
  refuse("a compressed kerasbert.json, where stored files belong", bomb);
});

test("a size of 4 GB in an archive takes no memory", () => {
  for (const place of [20, 24, 42]) {
    const bytes = described(DESCRIPTION);
    bytes.writeUInt32LE(2 ** 32 - 1, directoryStart(bytes) + place);
    refuse("expected kerasbert metadata", bytes);
  }
  const longer = described(DESCRIPTION);
  for (const place of [20, 24]) longer.writeUInt32LE(1_000_000, directoryStart(longer) + place);
  refuse("it is longer than the file", longer);
  const bytes = described(DESCRIPTION);
  bytes.writeUInt32LE(2 ** 32 - 1, bytes.length - 22 + 12);
  refuse("a directory outside the file", bytes);
});

test("descriptions that do not fit are refused", () => {
  refuse("metadata of format 2", changed('"format": 1', '"format": 2'));
  refuse("is not JSON", changed("{", "{{"));
  refuse("is not JSON", changed('"task"', `"nested": ${"[".repeat(200)}${"]".repeat(200)}, "task"`));
  refuse("not a JSON object", described("[1]"));
  refuse("problem 'poetry'", changed('"single_label"', '"poetry"'));
  refuse("problem 'toString'", changed('"single_label"', '"toString"'));
  refuse("'task' = 5", changed('"TextClassifier"', "5"));
  refuse("sequence_length 0", changed('"sequence_length": 16', '"sequence_length": 0'));
  refuse("'sequence_length' = true", changed('"sequence_length": 16', '"sequence_length": true'));
  refuse("'sequence_length' = 16.5", changed('"sequence_length": 16', '"sequence_length": 16.5'));
  refuse("lengths [8, 8]", changed("8,\n    16", "8,\n    8"));
  refuse("lengths [16, 8]", changed("8,\n    16", "16,\n    8"));
  refuse("exits [2, 2]", changed('"recipe"', '"exits": [2, 2],\n  "recipe"'));
  refuse("exits [4]", changed('"recipe"', '"exits": [4],\n  "recipe"'));
  refuse("'exit_threshold' = 2", changed('"recipe"', '"exit_threshold": 2,\n  "recipe"'));
  refuse("the setting 'stride'", changed('"settings": {}', '"settings": {"stride": 4}'));
  refuse("the setting 'constructor'", changed('"settings": {}', '"settings": {"constructor": 4}'));
  refuse("'vocab_size' = -1", changed('"vocab_size": 45', '"vocab_size": -1'));
  refuse("a vocabulary of", changed('"vocab_size": 45', '"vocab_size": 9999'));
  refuse("a vocabulary of", changed('"vocab_size": 45', '"vocab_size": 9'));
  refuse("inputs 'sound'", changed('"recipe"', '"inputs": "sound", "recipe"'));
  refuse("an empty labels.txt", packed([["kerasbert.json", DESCRIPTION], ["labels.txt", ""]]));
  refuse("an entry with a line break in labels.txt", packed([["kerasbert.json", DESCRIPTION], ["labels.txt", "a\rb\n"]]));
});

test("prompts are checked", () => {
  const prompted = (settings) => {
    const embedding = DESCRIPTION.replace('"single_label"', '"embedding"');
    return open(described(embedding.replace('"settings": {}', `"settings": ${JSON.stringify(settings)}`))).metadata.settings;
  };
  const settings = { prompts: { query: "q: " }, default_prompt_name: "query" };
  assert.deepEqual(prompted(settings), settings);
  for (const prompts of [["q: "], { query: 3 }, { query: "x".repeat(10_001) }]) {
    assertRefused("as 'prompts'", () => prompted({ prompts }));
  }
  for (const refused of [{}, { prompts: { a: "b" } }]) {
    for (const name of ["query", "toString", 3]) {
      assertRefused("as 'default_prompt_name'", () => prompted({ ...refused, default_prompt_name: name }));
    }
  }
});

test("files of the first versions lack some fields", () => {
  const old = DESCRIPTION.replace(/\s*"(weights|integer_only|settings|row_length)": [^\n]*/g, "");
  const { metadata } = open(packed([["kerasbert.json", old], ["labels.txt", "a\nb\r\n"]]));
  assert.equal(metadata.weights, "");
  assert.equal(metadata.integerOnly, false);
  assert.equal(metadata.rowLength, null);
  assert.deepEqual(metadata.labels, ["a", "b"]);
  assert.equal(metadata.vocabulary, null);
});

test("a vocabulary may hold what Unicode calls a line break", () => {
  const small = DESCRIPTION.replace('"vocab_size": 45', '"vocab_size": 5');
  const { metadata } = open(packed([["kerasbert.json", small], ["vocab.txt", "a\u2028b\nc\u0085\n\n d \ne"]]));
  assert.deepEqual(metadata.vocabulary, ["a\u2028b", "c\u0085", "", " d ", "e"]);
});

test("damage that no program reads here, and a runtime would, is refused", () => {
  const unterminated = Buffer.from(CONTENT);
  unterminated[unterminated.indexOf("input_ids\0") + "input_ids".length] = 0x78;
  refuse("a text without its end", unterminated);
});

test("tensors that contradict each other are refused", () => {
  const model = new FlatBuffer(CONTENT).root;
  const tensors = model.tables(8).at(0).tables(4).map((tensor) => tensor);
  const weights = tensors.find((tensor) => tensor.int32s(4).length === 2 && model.tables(12).at(tensor.uint32(8)).vector(4, 1)?.count);
  const larger = Buffer.from(CONTENT);
  larger.writeInt32LE(weights.int32s(4)[0] + 1, weights.vector(4, 4).start);
  refuse("bytes for float32[", larger);
});

test("offsets of a FlatBuffer that lead out of the file are refused", () => {
  const words = Math.floor(GRAPH.length / 4) - 1;
  let refused = 0;
  for (let word = 0; word < words; word++) {
    const bytes = Buffer.from(CONTENT);
    bytes.writeInt32LE(0x7ffffff0, 4 * word);
    try {
      open(bytes);
    } catch (error) {
      assert.ok(error instanceof KerasBertError, error.stack);
      refused++;
    }
  }
  // Weights are numbers of any value; offsets and counts are about a fifth of this small file.
  assert.ok(refused > words / 10, `only ${refused} of ${words} changed words were refused`);
});
