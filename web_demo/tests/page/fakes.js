import { ModelLibrary } from "../../page/state/model_library.js";
import { MemoryStore } from "../../page/storage/store.js";
import { serve } from "../../page/worker/serve.js";
import { Service } from "../../page/worker/service.js";
import { WorkerClient } from "../../page/worker_client.js";
import { randomNumbers } from "../text/random_numbers.js";
import { tinyModel } from "../tiny_models.js";

const TYPES = {
  "label.tflite": "single_label", "tags.tflite": "tagging", "vector.tflite": "embedding", "answer.tflite": "question_answering",
  "choice.tflite": "multiple_choice", "mask.tflite": "masked_lm", "taught.tflite": "few_shot",
};

/** Engines whose outputs depend on the ids only: random numbers with the ids as their seed. They count what was opened, run and closed. */
export class FakeEngines {
  opened = 0;
  closed = 0;
  runs = 0;
  failure = null;
  wrongOn = "";
  isSlow = false; // whether messages arrive while it runs

  async open(file, content, accelerator) {
    if (this.failure) throw this.failure;
    this.opened += 1;
    return {
      title: `fake ${accelerator}`,
      accelerator,
      isPartial: false,
      run: (signature, inputs) => this.#run(file, signature, inputs, accelerator),
      close: () => {
        this.closed += 1;
      },
    };
  }

  async #run(file, signature, inputs, accelerator) {
    if (this.isSlow) await new Promise((resolve) => setImmediate(resolve));
    if (this.failure) throw this.failure;
    this.runs += 1;
    const ids = inputs.get("input_ids");
    const seed = ids.reduce((sum, id) => (31 * sum + id) % 2147483647, 7) + (accelerator === this.wrongOn ? 1 : 0);
    const draw = randomNumbers(seed);
    const ports = file.signatures.find((each) => each.name === signature).outputs;
    return new Map([...ports].map(([name, { shape }]) => {
      const size = shape.reduce((product, axis) => product * (axis < 0 ? ids.length : axis), 1);
      return [name, Float32Array.from({ length: size }, () => draw() / 2 ** 32)];
    }));
  }
}

/** A store that may be full. */
export class SmallStore extends MemoryStore {
  isFull = false;

  async write(name, value) {
    if (this.isFull) throw Object.assign(new Error("full"), { name: "QuotaExceededError" });
    await super.write(name, structuredClone(value));
  }
}

/** The page without its document: a client, whose worker is in this process, with some of the tiny models. */
export class FakePage {
  engines = new FakeEngines();
  store = new SmallStore();
  workers = [];

  /**
   * @param {...string} names the tiny models of the site
   */
  constructor(...names) {
    const models = names.map((name) => ({ name, file: name, title: name, task: TYPES[name], bytes: tinyModel(name).length }));
    this.client = new WorkerClient((accelerator) => this.#worker(accelerator), "wasm");
    this.library = new ModelLibrary(async () => ({ models }), this.store);
    this.sample = ["a film", "a good book", "the river"];
  }

  /** Waits until nothing is going on any more. */
  async settled() {
    for (let round = 0; round < 60; round++) await new Promise((resolve) => setImmediate(resolve));
  }

  #worker(accelerator) {
    const worker = { accelerator, isTerminated: false, sent: [], terminate: () => (worker.isTerminated = true) };
    const deliver = (message) => setImmediate(() => !worker.isTerminated && worker.onmessage({ data: structuredClone(message) }));
    const service = new Service({ engines: this.engines, read: readTiny, store: this.store, sample: async () => this.sample });
    const receive = serve({ postMessage: deliver }, service);
    worker.postMessage = (message) => {
      worker.sent.push(message);
      setImmediate(() => receive(message));
    };
    this.workers.push(worker);
    return worker;
  }
}

async function readTiny({ name, file }) {
  return file ? new Uint8Array(await file.arrayBuffer()) : tinyModel(name);
}

/** What the presenter's state says about a model, for assertions. */
export function modelOf({ state: { model } }) {
  return model.kind === "failed" ? `failed: ${model.failure.kind}` : `${model.kind}: ${model.name}`;
}

/**
 * Waits for a state of a presenter, which may be gone soon after.
 *
 * @param {import("../../page/state/presenter.js").Presenter<any>} presenter
 * @param {(state: any) => boolean} isReached
 */
export function reached(presenter, isReached) {
  return new Promise((resolve) => {
    const end = presenter.observe((state) => {
      if (!isReached(state)) return;
      setImmediate(() => end());
      resolve();
    });
  });
}
