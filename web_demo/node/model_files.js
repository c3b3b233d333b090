import { readFileSync, statSync } from "node:fs";

import { KerasBertError } from "../core/error.js";
import { ModelFile } from "../core/file/model_file.js";

const MAX_BYTES = 2 ** 31 - 1;

/**
 * Reads a model file.
 *
 * @param {string} path
 * @returns {{bytes: Uint8Array, file: ModelFile}} its content, and what that says about itself.
 * @throws {KerasBertError} when it is missing, no `.tflite` file, damaged, or without kerasbert's metadata.
 */
export function openModel(path) {
  const bytes = readModel(path);
  return { bytes, file: ModelFile.of(bytes, path) };
}

function readModel(path) {
  const facts = statSync(path, { throwIfNoEntry: false });
  if (!facts?.isFile()) {
    const kind = facts?.isDirectory() ? "a folder" : "not there";
    throw new KerasBertError(`expected a .tflite file, received ${path}, which is ${kind}; check the path`);
  }
  if (facts.size > MAX_BYTES) {
    throw new KerasBertError(
      `expected a .tflite file of at most 2 GB, the limit of a FlatBuffer, received ${path} of ${facts.size} bytes; convert the ` +
        "model again",
    );
  }
  try {
    return readFileSync(path);
  } catch (cause) {
    const message = `expected a readable .tflite file, received ${path} (${cause.message}); check the path and its permissions`;
    throw new KerasBertError(message, { cause });
  }
}
