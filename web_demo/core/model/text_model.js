import { KerasBertError } from "../error.js";
import { tokenizerOf } from "../text/tokenizer_of.js";
import { Lengths } from "./lengths.js";
import { CONFIDENCE, IDS, MASK, PortCheck } from "./port_check.js";
import { Outputs } from "./row.js";

/** A model file with its tokenizer and an engine that runs it. */
export class TextModel {
  #lengths;

  /**
   * @param {import("../file/model_file.js").ModelFile} file
   * @param {import("../text/tokenizer.js").Tokenizer} tokenizer the file's tokenizer
   * @param {import("./engine.js").Engine} engine
   */
  constructor(file, tokenizer, engine) {
    this.file = file;
    this.tokenizer = tokenizer;
    this.engine = engine;
    this.#lengths = new Lengths(file.metadata, tokenizer.maxLength);
    new PortCheck(file).check(this.#lengths);
  }

  /**
   * Opens a file with the tokenizer that it describes.
   *
   * @param {import("../file/model_file.js").ModelFile} file
   * @param {import("./engine.js").EngineFactory} openEngine
   * @returns {Promise<TextModel>}
   * @throws {KerasBertError} when the tokenizer is of a kind that is not supported here, or the runtime refuses the file
   */
  static async open(file, openEngine) {
    const tokenizer = tokenizerOf(file.metadata.tokenizer, file.metadata.vocabulary ?? []);
    new PortCheck(file).check(new Lengths(file.metadata, tokenizer.maxLength));
    return new TextModel(file, tokenizer, await openEngine(file));
  }

  /** Tokens of the longest row; longer texts are cut, or have several windows. */
  get length() {
    return this.#lengths.longest;
  }

  /** What runs the model. */
  get engineTitle() {
    return this.engine.title;
  }

  /** The length at which a row of some tokens runs, padding included. */
  lengthOf(tokens) {
    return this.#lengths.of(tokens);
  }

  /**
   * Runs the model on one row, at the shortest length of the file that it fits. A file with exits runs them in turn, until one is
   * confident.
   *
   * @param {import("./row.js").Row} row
   * @returns {Promise<Outputs>}
   * @throws {KerasBertError} when the row is too long, or the runtime fails
   */
  async run(row) {
    const length = this.#lengths.of(row.size);
    if (row.size > length) throw new KerasBertError(`expected at most ${length} tokens, received ${row.size}; cut the text`);
    const { metadata, signatures } = this.file;
    let outputs = new Map();
    let layers = null;
    for (const [number, name] of this.#lengths.stages(length).entries()) {
      const signature = signatures.find((each) => each.name === name);
      const inputs = [...signature.inputs.keys()].map((input) => [input, outputs.get(input) ?? this.#input(input, row, length)]);
      outputs = await this.engine.run(name, new Map(inputs));
      layers = metadata.exits?.[number] ?? null;
      if (metadata.exitThreshold !== null && outputs.get(CONFIDENCE)?.[0] >= metadata.exitThreshold) break;
    }
    for (const output of metadata.type.outputs) this.#check(output, outputs.get(output), length);
    return new Outputs(outputs, length, layers);
  }

  /** Frees the engine. */
  async close() {
    await this.engine.close();
  }

  #input(name, row, length) {
    const values = new Int32Array(length);
    if (name === MASK) return values.fill(1, 0, row.size);
    if (name === IDS) values.fill(this.tokenizer.padId, row.size);
    values.set(name === IDS ? row.ids : row.types);
    return values;
  }

  #check(name, values, length) {
    const { type, outputWidth } = this.file.metadata;
    const size = values?.length ?? 0;
    const width = type.perToken ? size / length : size;
    if (size > 0 && Number.isInteger(width) && (outputWidth === null || width === outputWidth)) return;
    throw new KerasBertError(
      `expected ${name} of ${this.file.name} for ${length} tokens, received ${values ? size : "no"} values; convert the model again`,
    );
  }
}
