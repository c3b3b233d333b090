import { KerasBertError } from "../../core/error.js";
import { Row } from "../../core/model/row.js";
import { LatencyClock } from "../../core/timing/latency_clock.js";
import { Accelerator } from "../state/accelerator.js";
import { decisionsOf } from "./decisions.js";

const RUNS = 50; // after the first
const COMPARED = 30; // texts

/** Measures a model, and compares its answers with those of WebAssembly. Nothing else runs meanwhile. */
export class Measurement {
  #models;
  #turns;
  #sample;

  /**
   * @param {import("./models.js").Models} models
   * @param {import("./turns.js").Turns} turns
   * @param {() => Promise<string[]>} sample reads the texts that are compared and timed
   */
  constructor(models, turns, sample) {
    this.#models = models;
    this.#turns = turns;
    this.#sample = sample;
  }

  /**
   * @param {import("../state/model_library.js").ModelReference} model
   * @param {string} accelerator
   * @param {boolean} isCompared whether WebAssembly is measured before, to compare with
   * @param {import("./turns.js").Job} job
   * @returns {Promise<import("../state/speed_presenter.js").SpeedReport>}
   */
  async measure(model, accelerator, isCompared, job) {
    const texts = await this.#sample();
    const total = (RUNS + 1) * (isCompared ? 2 : 1);
    return this.#turns.take(job, async () => {
      const wasm = isCompared ? await this.#timed(model, Accelerator.WASM, texts, job, 0, total) : null;
      const own = await this.#timed(model, accelerator, texts, job, total - RUNS - 1, total);
      const same = wasm && own.answers.filter((answer, number) => answer === wasm.answers[number]).length;
      const { engine, latency, tokens, bytes, answers } = own;
      const wasmMedian = wasm && wasm.latency.p50;
      return { model: model.name, engine, latency, tokens, bytes, same, compared: answers.length, wasmMedian };
    });
  }

  #timed(model, accelerator, texts, job, before, total) {
    return this.#models.useFresh(model, accelerator, job, async (load) => {
      const clock = new LatencyClock();
      const task = await clock.load(load);
      const row = rowOf(task, texts);
      for (let run = 1; run <= RUNS + 1; run++) {
        await this.#turns.breathe(job);
        await clock.run(() => task.model.run(row));
        job.report(before + run, total);
      }
      const answers = await decisionsOf(task, texts.slice(0, COMPARED), () => this.#turns.breathe(job));
      const { engine, file } = task.model;
      return {
        engine: { accelerator: engine.accelerator, isPartial: engine.isPartial, title: engine.title },
        latency: clock.latency(),
        tokens: task.model.lengthOf(row.size),
        bytes: file.bytes,
        answers,
      };
    });
  }
}

/** The row of the text with the median number of tokens. */
function rowOf(task, texts) {
  if (texts.length === 0) throw new KerasBertError("expected texts to measure with, received none; make the site again");
  const rows = texts.map((text) => task.model.tokenizer.encode(text, null, task.model.length)).sort((one, other) => one.size - other.size);
  const { ids, typeIds } = rows[Math.floor(rows.length / 2)];
  return new Row(ids, typeIds);
}
