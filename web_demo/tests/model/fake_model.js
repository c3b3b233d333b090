import { Metadata } from "../../core/file/metadata.js";
import { ModelFile } from "../../core/file/model_file.js";
import { Port, Signature } from "../../core/file/signature.js";
import { Lengths } from "../../core/model/lengths.js";
import { TextModel } from "../../core/model/text_model.js";

/** Words of a tiny vocabulary; a text of them has one token a word. */
export const WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e who where . \u{1F600} ##s 10 x y z".split(" ");

/** The id of a word. */
export function idOf(word) {
  const id = WORDS.indexOf(word);
  if (id < 0) throw new Error(`no word ${word}`);
  return id;
}

/** The ids of words that spaces separate. */
export function idsOf(words) {
  return words.split(" ").map(idOf);
}

/** One run of a fake engine. */
class Run {
  constructor(signature, inputs) {
    this.signature = signature;
    this.inputs = inputs;
  }

  /** The ids without padding. */
  get ids() {
    const size = this.inputs.get("attention_mask").reduce((sum, value) => sum + value, 0);
    return [...this.inputs.get("input_ids").subarray(0, size)];
  }

  /** The length, padding included. */
  get length() {
    return this.inputs.get("input_ids").length;
  }
}

/** Returns what a function makes of each run, and remembers the runs. */
export class FakeEngine {
  /** @param {(run: Run) => Record<string, Float32Array>} outputs */
  constructor(outputs) {
    this.outputs = outputs;
    this.runs = [];
    this.isClosed = false;
    this.title = "a fake";
  }

  /** The run before now. */
  get last() {
    return this.runs.at(-1);
  }

  async run(signature, inputs) {
    const run = new Run(signature, inputs);
    this.runs.push(run);
    return new Map(Object.entries(this.outputs(run)));
  }

  async close() {
    this.isClosed = true;
  }
}

/** Metadata of a model with the tiny vocabulary. */
export function metadataOf(type, { lengths = null, length = 8, ...fields } = {}) {
  return new Metadata({
    task: "Fake", type, lengths, sequenceLength: lengths?.at(-1) ?? length, rowLength: 32,
    signature: lengths ? `serve_${lengths.at(-1)}` : "serve", vocabulary: WORDS, vocabularySize: WORDS.length,
    tokenizer: { kind: "wordpiece", lowercase: true }, ...fields,
  });
}

/** A file whose signatures fit its metadata. */
export function fileOf(metadata, width = metadata.labels?.length ?? 2) {
  const signatures = new Lengths(metadata, null).signatures.flat().map((name) => {
    const length = Number(name.split("serve_")[1] ?? metadata.sequenceLength ?? -1);
    const inputs = ["attention_mask", "input_ids", "token_type_ids"].map((input) => new Port(input, "int32", [1, length]));
    const { outputs, perToken, rank } = metadata.type;
    const shape = [1, ...(perToken ? [length] : []), ...(perToken && rank === 2 ? [] : [width])];
    return new Signature(name, byName(inputs), byName(outputs.map((output) => new Port(output, "float32", shape))));
  });
  return new ModelFile("fake.tflite", 1, metadata, signatures, null);
}

/** Ports by their name. */
export function byName(ports) {
  return new Map(ports.map((port) => [port.name, port]));
}

/** A model that a fake engine runs. */
export function modelOf(metadata, engine, width) {
  return TextModel.open(fileOf(metadata, width), () => engine);
}
