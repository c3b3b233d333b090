/** LiteRT.js with WebGPU, of which a fake library plays what a browser does. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { ModelFile } from "../../core/file/model_file.js";
import { LiteRt, LiteRtBrokenError } from "../../litert_engine.js";
import { assertRejected } from "../assert_refused.js";
import { tinyModel } from "../tiny_models.js";

const CONTENT = tinyModel("label.tflite");
const FILE = ModelFile.of(CONTENT, "label.tflite");
const INPUTS = new Map(["input_ids", "attention_mask", "token_type_ids"].map((name) => [name, new Int32Array(8)]));
const SPLIT = [
  "GATHER: Only support 1D indices",
  "202 operations will run on the GPU, and the remaining 6 operations will run on the CPU.",
];

/** A library that is loaded with some options, and compiles models that have run on some accelerator. */
class FakeLibrary {
  live = 0; // tensors and models that were not deleted
  compiled = []; // the bytes of each model
  device = { lost: new Promise((resolve) => (this.lose = resolve)) };
  model = { accelerator: "webgpu", isFullyAccelerated: true, lines: [], run: async () => ({ probabilities: new this.Tensor([1]) }) };

  constructor() {
    const library = this;
    this.Tensor = class {
      constructor(values) {
        this.values = values;
        library.live++;
      }

      async data() {
        return Float32Array.from(this.values);
      }

      delete() {
        library.live--;
      }
    };
  }

  async loadLiteRt(path, options) {
    this.loaded = { path, options };
    this.print = globalThis.Module.printErr;
    this.locateFile = globalThis.Module.locateFile;
    if (this.failure) throw this.failure;
  }

  getWebGpuDevice() {
    return this.device;
  }

  async loadAndCompile(bytes, { accelerator, gpuOptions }) {
    this.compiled.push(bytes);
    this.precision = gpuOptions.precision;
    const { lines, isFullyAccelerated, run } = this.model;
    lines.forEach(this.print);
    if (this.failure) throw this.failure;
    this.live++;
    const ports = [...INPUTS.keys()].map((name) => ({ name, shape: Int32Array.of(1, 8) }));
    return {
      options: { accelerator: accelerator === "webgpu" ? this.model.accelerator : accelerator },
      isFullyAccelerated: accelerator === "webgpu" && isFullyAccelerated,
      signatures: { serve_8: { getInputDetails: () => ports, run }, serve: { getInputDetails: () => [], run } },
      delete: () => this.live--,
    };
  }
}

let library;

beforeEach(() => {
  library = new FakeLibrary();
});

const load = (options) => LiteRt.load(library, "https://a.test/litert/", options);
const openOn = async (options) => (await load({ accelerator: "webgpu" })).open(CONTENT, FILE, options);

test("the build is found beside LiteRT.js, and that of WebGPU may be suspended where the browser can", async () => {
  await load();
  assert.deepEqual(library.loaded, { path: "https://a.test/litert/", options: { jspi: false } });
  assert.equal(library.locateFile("a.wasm"), "https://a.test/litert/a.wasm");
  await load({ accelerator: "webgpu" });
  assert.equal(library.loaded.options.jspi, "Suspending" in WebAssembly);
});

test("a library that does not load is refused with the reason", async () => {
  library.failure = new Error("Aborted(no memory)\nBuild with more");
  await assertRejected("LiteRT.js to load from https://a.test/litert/, received Aborted(no memory);", load);
});

test("WebGPU runs all", async () => {
  const engine = await openOn();
  assert.deepEqual([engine.title, engine.accelerator, engine.isPartial], ["LiteRT.js with WebGPU", "webgpu", false]);
  assert.equal(library.precision, "fp32");
  assert.deepEqual([...(await engine.run("serve_8", INPUTS)).get("probabilities")], [1]);
  await engine.close();
  assert.equal(library.live, 0);
});

test("WebAssembly runs some operators, and the title counts them", async () => {
  Object.assign(library.model, { isFullyAccelerated: false, lines: SPLIT });
  const engine = await openOn();
  assert.equal(engine.title, "LiteRT.js with WebGPU, 6 of 208 operators with WebAssembly");
  assert.deepEqual([engine.accelerator, engine.isPartial], ["webgpu", true]);
  library.model.lines = [];
  await assertRejected("expected label.tflite to run with WebGPU", openOn); // nothing says that an operator runs there
});

test("LiteRT.js falls back by itself: that is refused, or told where it is allowed", async () => {
  Object.assign(library.model, { accelerator: "wasm", isFullyAccelerated: false, lines: SPLIT });
  await assertRejected("to run with WebGPU, received GATHER: Only support 1D indices; choose WebAssembly", openOn);
  assert.equal(library.live, 0);
  const engine = await openOn({ allowFallback: true });
  assert.deepEqual([engine.title, engine.accelerator, engine.isPartial], ["LiteRT.js with WebAssembly", "wasm", false]);
});

test("a model none of whose operators run on the GPU is no model on WebGPU", async () => {
  const lines = ["No operations will run on the GPU, and all 208 operations will run on the CPU."];
  Object.assign(library.model, { isFullyAccelerated: false, lines });
  await assertRejected("expected label.tflite to run with WebGPU", openOn);
  assert.equal((await openOn({ allowFallback: true })).accelerator, "wasm");
});

test("without a device WebGPU is refused, or WebAssembly runs all where that is allowed", async () => {
  library.device = null;
  await assertRejected("expected WebGPU, received a browser without it", openOn);
  assert.equal((await openOn({ allowFallback: true })).title, "LiteRT.js with WebAssembly");
});

test("a device that is lost ends a run that would never end", async () => {
  const engine = await openOn();
  library.model.run = () => new Promise(() => {});
  const hanging = await openOn();
  library.lose({ message: "the driver crashed" });
  await assertRejected("a device that was lost (the driver crashed); load the model again", () => hanging.run("serve_8", INPUTS));
  await assertRejected("a device that was lost", () => engine.run("serve_8", INPUTS));
  await assert.rejects(() => engine.run("serve_8", INPUTS), (error) => error instanceof LiteRtBrokenError && error.isFatal);
  await hanging.close();
});

test("a lost device does not matter to a model on WebAssembly", async () => {
  const runtime = await load({ accelerator: "webgpu" });
  library.lose({ message: "" });
  await new Promise(setImmediate);
  await assertRejected("a device that was lost (no reason)", () => runtime.open(CONTENT, FILE));
  const engine = await runtime.open(CONTENT, FILE, { accelerator: "wasm" });
  assert.equal((await engine.run("serve_8", INPUTS)).size, 1);
});

test("a runtime that crashed runs nothing more, and says so", async () => {
  const runtime = await load();
  library.model.run = async () => {
    throw new WebAssembly.RuntimeError("memory access out of bounds");
  };
  const engine = await runtime.open(CONTENT, FILE);
  await assertRejected("to run with WebAssembly, received memory access out of bounds", () => engine.run("serve_8", INPUTS));
  assert.ok(runtime.isBroken);
  await assert.rejects(() => engine.run("serve_8", INPUTS), LiteRtBrokenError);
  await assertRejected("received a runtime that crashed before; load the model again", () => engine.run("serve_8", INPUTS));
  await assertRejected("received a runtime that crashed before", () => runtime.open(CONTENT, FILE));
  await engine.close();
});

test("runs that are started at once are run one after the other", async () => {
  let running = 0;
  library.model.run = async () => {
    running++;
    await new Promise(setImmediate);
    assert.equal(running--, 1);
    return {};
  };
  const engine = await openOn();
  await Promise.all([1, 2, 3].map(() => engine.run("serve_8", INPUTS)));
  await engine.close();
});

test("tensors are freed when a run fails", async () => {
  const engine = await openOn();
  const before = library.live;
  library.model.run = async () => {
    throw new Error("no");
  };
  const failing = await openOn();
  await assertRejected("received no; convert the model again", () => failing.run("serve_8", INPUTS));
  await assert.rejects(() => failing.run("serve_8", INPUTS), (error) => !(error instanceof LiteRtBrokenError));
  assert.equal(library.live, before + 1); // the second model
  await engine.close();
});

test("of a large resizable file only the copies that were used last are kept", async () => {
  const small = tinyModel("vector.tflite");
  const content = new Uint8Array(50_000_000); // as that file with a larger vocabulary
  content.set(small);
  const engine = await (await load()).open(content, ModelFile.of(small, "vector.tflite"));
  const lengths = [16, 5, 16, 9, 16, 5];
  for (const length of lengths) {
    await engine.run("serve", new Map([["input_ids", new Int32Array(length)]]));
    assert.ok(library.live <= 2 + 1, `${library.live} models and tensors`); // two models, and the output of the fake
  }
  assert.equal(library.compiled.length, 4); // 16, 5, 9, and 5 again
  await engine.close();
});
