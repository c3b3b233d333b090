import { createHash } from "node:crypto";

import { openModel } from "./model_files.js";
import { Output } from "./streams.js";

/** Prints what a file says about itself: the fields of its `kerasbert.json`, its labels, a digest of its vocabulary, and its signatures. */
export async function run(given) {
  const { file } = openModel(given.model());
  const { metadata } = file;
  const record = {
    ...fieldsOf(metadata),
    labels: metadata.labels,
    vocabulary: metadata.vocabulary && { tokens: metadata.vocabulary.length, sha256: digest(metadata.vocabulary) },
    bytes: file.bytes,
    min_runtime_version: file.minRuntime,
    signatures: file.signatures.map(({ name, inputs, outputs }) => ({ name, inputs: ports(inputs), outputs: ports(outputs) })),
  };
  await Output.use((output) => output.write(record));
}

function fieldsOf(metadata) {
  return {
    task: metadata.task,
    problem: metadata.type.key,
    settings: metadata.settings,
    signature: metadata.signature,
    sequence_length: metadata.sequenceLength,
    row_length: metadata.rowLength,
    lengths: metadata.lengths,
    inputs: metadata.inputs,
    recipe: metadata.recipe,
    integer_only: metadata.integerOnly,
    target: metadata.target,
    parameters: metadata.parameters,
    weights: metadata.weights,
    vocab_size: metadata.vocabularySize,
    tokenizer: metadata.tokenizer,
    kerasbert: metadata.version,
    ...(metadata.exits !== null && { exits: metadata.exits, exit_threshold: metadata.exitThreshold }),
  };
}

function ports(entries) {
  return new Map([...entries].map(([name, { type, shape }]) => [name, { type, shape }]));
}

function digest(lines) {
  const sha256 = createHash("sha256");
  for (const line of lines) sha256.update(`${line}\n`);
  return sha256.digest("hex");
}
