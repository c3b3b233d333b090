/** LiteRT.js behind the contract of `core/model/engine.js`: the one file that knows it. */

import { KerasBertError } from "./core/error.js";
import { isResizable, withLength } from "./core/file/fixed_length.js";
import { Lengths } from "./core/model/lengths.js";

const WASM = "wasm";
const WEBGPU = "webgpu";
const TITLES = { [WASM]: "WebAssembly", [WEBGPU]: "WebGPU" };
const MOST_COPY_BYTES = 1 << 27; // of the copies of a resizable file that are kept
const MOST_LOG_LINES = 200;
const MOST_REASON = 200; // characters
const SPLIT = /(?<gpu>\d+|No) operations will run on the GPU, and (?:the remaining|all) (?<cpu>\d+) operations/;
const FAULT = /^(?:ERROR: (?!Following operations)|F\d{4} |Check failed|Aborted)|Failed to (?!load OpenCL)/;

/** LiteRT.js crashed, or lost its device: it runs nothing more, and another worker has to load it. */
export class LiteRtBrokenError extends KerasBertError {
  isFatal = true;
}

/** LiteRT.js. A worker or a page has one; for another build of it, another worker is started. */
export class LiteRt {
  #library;
  #accelerator;
  #log;
  #loss;

  /** Use `LiteRt.load`. */
  constructor(library, accelerator, log) {
    this.#library = library;
    this.#accelerator = accelerator;
    this.#log = log;
    this.#loss = lossOf(library.getWebGpuDevice());
    /** Whether the runtime crashed, after which only a new worker can load it again. */
    this.isBroken = false;
  }

  /**
   * Loads the build of LiteRT.js that an accelerator needs: with WebGPU, parts of a model may run with WebAssembly where the browser can
   * suspend a program of WebAssembly (JSPI).
   *
   * @param {object} library the module of LiteRT.js, `@litertjs/core`
   * @param {string} folder the URL of the folder of its WebAssembly builds, with a slash at the end
   * @param {object} [options]
   * @param {"wasm" | "webgpu"} [options.accelerator]
   * @param {string} [options.build] the name of a build's `.js` file, in place of the one that LiteRT.js would choose
   * @param {Uint8Array} [options.wasmBinary] the bytes of the build's `.wasm` file, where they cannot be fetched
   * @returns {Promise<LiteRt>}
   * @throws {KerasBertError} when it does not load
   */
  static async load(library, folder, { accelerator = WASM, build = "", wasmBinary } = {}) {
    const log = new Log();
    const print = (line) => log.add(line);
    // The glue looks for its `.wasm` file beside the worker, so it is told where that is. What LiteRT says is kept, and not printed.
    globalThis.Module = { locateFile: (file) => folder + file, print, printErr: print, ...(wasmBinary && { wasmBinary }) };
    try {
      await library.loadLiteRt(folder + build, { jspi: accelerator === WEBGPU && "Suspending" in WebAssembly });
    } catch (error) {
      throw refusal(`LiteRT.js to load from ${folder}`, log.reason(error), "reload the page, or use a newer browser", error);
    }
    return new LiteRt(library, accelerator, log);
  }

  /**
   * Loads a model.
   *
   * @param {Uint8Array} content the bytes of the file
   * @param {import("./core/file/model_file.js").ModelFile} file
   * @param {object} [options]
   * @param {"wasm" | "webgpu"} [options.accelerator] the one that LiteRT.js was loaded for, or `wasm`
   * @param {boolean} [options.allowFallback] whether WebAssembly may run all of it where WebGPU cannot; the engine says so
   * @returns {Promise<LiteRtEngine>}
   * @throws {KerasBertError} when the accelerator is not there, or the runtime refuses the model
   */
  async open(content, file, { accelerator = this.#accelerator, allowFallback = false } = {}) {
    const isMissing = accelerator === WEBGPU && !this.#library.getWebGpuDevice();
    if (isMissing && !allowFallback) {
      throw refusal("WebGPU", "a browser without it, or without a graphics adapter", "choose WebAssembly");
    }
    const compile = (bytes) => this.#compile(bytes, file, isMissing ? WASM : accelerator);
    const engine = new LiteRtEngine(this, content, file, compile);
    await engine.prepare();
    const reason = engine.accelerator === accelerator ? "" : this.#log.unsupported || "a device without WebGPU";
    if (reason && !allowFallback) {
      engine.close();
      throw refusal(`${file.name} to run with WebGPU`, reason, "choose WebAssembly, or convert the model for the target gpu");
    }
    return engine;
  }

  /** A tensor of int32 or float32 numbers. It must be deleted. */
  tensor(values, shape) {
    return new this.#library.Tensor(values, shape);
  }

  /**
   * Waits for the runtime.
   *
   * @param {string} expected what it is to do
   * @param {string} accelerator what does it
   * @param {() => Promise<any>} work
   * @throws {KerasBertError} when it fails; a `LiteRtBrokenError` when it crashed, or the device of WebGPU was lost
   */
  async call(expected, accelerator, work) {
    this.#log.clear();
    if (this.isBroken) throw broken(expected, "a runtime that crashed before");
    try {
      return await (accelerator === WEBGPU ? Promise.race([this.#loss, work()]) : work());
    } catch (error) {
      if (error instanceof KerasBertError) throw error;
      this.isBroken = error instanceof WebAssembly.RuntimeError;
      if (this.isBroken) throw broken(expected, this.#log.reason(error), error);
      throw refusal(expected, this.#log.reason(error), "convert the model again, or choose another accelerator", error);
    }
  }

  async #compile(bytes, file, accelerator) {
    const expected = `${file.name} to load with ${TITLES[accelerator]}`;
    // In 16 bits, the default, a square in a layer norm can overflow: the vectors of MiniLM are then wrong.
    const options = { accelerator, gpuOptions: { precision: "fp32" } };
    const model = await this.call(expected, accelerator, () => this.#library.loadAndCompile(bytes, options));
    const split = this.#log.split;
    const isOnGpu = model.options.accelerator === WEBGPU && (model.isFullyAccelerated || split?.gpu > 0);
    return { model, accelerator: isOnGpu ? WEBGPU : WASM, isPartial: isOnGpu && !model.isFullyAccelerated, split };
  }
}

/** A model in LiteRT.js. Runs that are started at once are run one after the other. */
export class LiteRtEngine {
  #litert;
  #content;
  #file;
  #compile;
  #isResizable;
  #models = new Map(); // a compiled model by its length; by null for a file that has its lengths inside
  #last = Promise.resolve();
  #isClosed = false;

  /** Use `LiteRt.open`. */
  constructor(litert, content, file, compile) {
    this.#litert = litert;
    this.#content = content;
    this.#file = file;
    this.#compile = compile;
    this.#isResizable = isResizable(file);
    /** What runs the model, `wasm` or `webgpu`. */
    this.accelerator = WASM;
    /** Whether WebAssembly runs some operators in spite of another accelerator. */
    this.isPartial = false;
    /** What runs the model, in a few words for people. */
    this.title = "";
  }

  /** Compiles the model, of a resizable file at its shortest length; for `LiteRt.open` only. */
  async prepare() {
    const { metadata } = this.#file;
    const compiled = await this.#modelOf(metadata.signature, new Lengths(metadata, null).of(1));
    this.accelerator = compiled.accelerator;
    this.isPartial = compiled.isPartial;
    this.title = titleOf(compiled);
  }

  /**
   * Runs a signature once.
   *
   * @param {string} signature
   * @param {Map<string, Int32Array | Float32Array>} inputs the values of each input by name, of a batch of one
   * @returns {Promise<Map<string, Float32Array>>} the values of each output by name
   * @throws {KerasBertError} when the runtime refuses the model or fails
   */
  async run(signature, inputs) {
    if (this.#isClosed) throw refusal("a model that is open", `${this.#file.name}, which was closed`, "open it again");
    const result = this.#last.then(() => this.#runNow(signature, inputs));
    this.#last = result.catch(() => {});
    return await result;
  }

  /** Frees the model after the runs that were started. It cannot run afterwards. */
  async close() {
    this.#isClosed = true;
    await this.#last;
    if (!this.#litert.isBroken) for (const { model } of this.#models.values()) model.delete();
    this.#models.clear();
  }

  async #runNow(signature, inputs) {
    const length = inputs.values().next().value?.length; // of ids; a resizable file has no exits
    const { model } = await this.#modelOf(signature, length);
    const runner = this.#checked(model, signature, inputs);
    const expected = `${this.#file.name} to run with ${TITLES[this.accelerator]}`;
    return this.#litert.call(expected, this.accelerator, () => this.#runOn(runner, inputs));
  }

  #checked(model, signature, inputs) {
    const runner = model.signatures[signature];
    if (!runner) throw refusal(`a signature among ${Object.keys(model.signatures).join(", ")}`, signature, "convert the model again");
    for (const { name, shape } of runner.getInputDetails()) {
      const values = inputs.get(name);
      const size = shape.reduce((product, each) => product * each, 1);
      if (values?.length === size) continue;
      throw refusal(`${size} values of ${name}`, values ? String(values.length) : "none", "convert the model again");
    }
    return runner;
  }

  async #runOn(runner, inputs) {
    const shapes = new Map(runner.getInputDetails().map(({ name, shape }) => [name, [...shape]]));
    const tensors = Object.fromEntries([...inputs].map(([name, values]) => [name, this.#litert.tensor(values, shapes.get(name))]));
    try {
      const outputs = Object.entries(await runner.run(tensors));
      try {
        const values = new Map();
        for (const [name, tensor] of outputs) values.set(name, await tensor.data());
        return values;
      } finally {
        for (const [, tensor] of outputs) tensor.delete();
      }
    } finally {
      for (const tensor of Object.values(tensors)) tensor.delete();
    }
  }

  /** The compiled model for a length. Of a resizable file, the copies that were used last are kept. */
  async #modelOf(signature, length) {
    const key = this.#isResizable ? length : null;
    const known = this.#models.get(key);
    const compiled = known ?? (await this.#compile(key === null ? this.#content : withLength(this.#content, signature, length)));
    this.#models.delete(key);
    this.#models.set(key, compiled); // at the end, as the newest
    this.#dropOldest();
    return compiled;
  }

  #dropOldest() {
    for (const [key, { model }] of this.#models) {
      if (this.#models.size * this.#content.length <= MOST_COPY_BYTES || this.#models.size === 1) return;
      this.#models.delete(key);
      model.delete();
    }
  }
}

/** The newest lines that LiteRT printed. */
class Log {
  #lines = [];

  add(line) {
    this.#lines.push(String(line));
    if (this.#lines.length > MOST_LOG_LINES) this.#lines.shift();
  }

  clear() {
    this.#lines = [];
  }

  /** How many operators run where, by the last graph; null where WebGPU has all, or none was asked for. */
  get split() {
    const found = this.#lines.findLast((line) => SPLIT.test(line))?.match(SPLIT).groups;
    return found ? { gpu: found.gpu === "No" ? 0 : Number(found.gpu), cpu: Number(found.cpu) } : null;
  }

  /** The operators that WebGPU does not have, with reasons; "" where none were named. */
  get unsupported() {
    const named = this.#lines.filter((line) => /^[A-Z0-9_]+: /.test(line) && !/^(?:INFO|WARNING|ERROR|VERBOSE): /.test(line));
    return [...new Set(named)].slice(0, 3).join("; ");
  }

  /** Why something failed: the first line that says so, or else the error's. */
  reason(error) {
    const line = this.#lines.find((each) => FAULT.test(each)) ?? String(error?.message ?? error);
    return line.split("\n")[0].replace(/^ERROR: /, "").slice(0, MOST_REASON);
  }
}

/** A promise that is rejected when a device of WebGPU is lost. */
function lossOf(device) {
  const loss = new Promise((_, reject) => {
    device?.lost.then(({ message }) => {
      reject(broken("WebGPU to run the model", `a device that was lost (${message || "no reason"})`));
    });
  });
  loss.catch(() => {}); // it matters to what runs then
  return loss;
}

function titleOf({ accelerator, isPartial, split }) {
  const runs = `LiteRT.js with ${TITLES[accelerator]}`;
  return isPartial ? `${runs}, ${split ? `${split.cpu} of ${split.cpu + split.gpu}` : "some"} operators with WebAssembly` : runs;
}

function refusal(expected, received, action, cause) {
  return new KerasBertError(`expected ${expected}, received ${received}; ${action}`, { cause });
}

function broken(expected, received, cause) {
  return new LiteRtBrokenError(`expected ${expected}, received ${received}; load the model again`, { cause });
}
