import { KerasBertError } from "../error.js";
import { DamagedError, FlatBuffer } from "./flat_buffer.js";
import { GraphFaults } from "./graph_faults.js";
import { MetadataReader } from "./metadata_reader.js";
import { ModelGraph } from "./model_graph.js";
import { ModelStructure } from "./model_structure.js";
import { ModelVerifier } from "./model_verifier.js";
import { PackedFiles } from "./packed_files.js";

const IDENTIFIER = [0x54, 0x46, 0x4c, 0x33]; // TFL3
const IDENTIFIER_PLACE = 4;

/** A `.tflite` file of `kerasbert convert`: its metadata and its entry points. It is not run here, see `core/model/engine.js`. */
export class ModelFile {
  /**
   * @param {string} name the file's name in messages
   * @param {number} bytes the size of the file
   * @param {import("./metadata.js").Metadata} metadata task, tokenizer, vocabulary and labels
   * @param {import("./signature.js").Signature[]} signatures the entry points in the order of the file
   * @param {string | null} minRuntime the oldest TFLite runtime that has every operator, as the file states it; null where it does not
   */
  constructor(name, bytes, metadata, signatures, minRuntime) {
    this.name = name;
    this.bytes = bytes;
    this.metadata = metadata;
    this.signatures = signatures;
    this.minRuntime = minRuntime;
  }

  /**
   * Reads a file that is in memory.
   *
   * @param {Uint8Array} content the bytes of the whole file; they are not changed
   * @param {string} name the file's name in messages
   * @returns {ModelFile}
   * @throws {KerasBertError} when it is no `.tflite` file, damaged, or without kerasbert's metadata
   */
  static of(content, name) {
    checkIdentifier(content, name);
    const texts = new PackedFiles(content, name).read();
    if (texts === null) {
      throw new KerasBertError(
        `expected kerasbert metadata (vocabulary, labels) in ${name}, received a .tflite file without it; convert the model with ` +
          "`kerasbert convert`",
      );
    }
    const metadata = new MetadataReader(texts, name).read();
    const { signatures, minRuntime } = readGraph(content, name);
    return new ModelFile(name, content.length, metadata, signatures, minRuntime);
  }
}

function checkIdentifier(content, name) {
  if (IDENTIFIER.every((byte, index) => content[IDENTIFIER_PLACE + index] === byte)) return;
  throw new KerasBertError(
    `expected a .tflite file (identifier TFL3 at byte 4), received ${name} without it; pass the output of \`kerasbert convert\``,
  );
}

function readGraph(content, name) {
  try {
    const buffer = new FlatBuffer(content);
    new ModelVerifier(buffer).verify();
    for (const graph of new ModelStructure(buffer).graphs()) new GraphFaults(graph).check();
    const graph = new ModelGraph(buffer);
    return { signatures: graph.signatures(), minRuntime: graph.minRuntime() };
  } catch (damage) {
    if (!(damage instanceof DamagedError)) throw damage;
    throw new KerasBertError(
      `expected an intact .tflite file, received ${name}, truncated or damaged (${damage.message}); copy or convert it again`,
      { cause: damage },
    );
  }
}
