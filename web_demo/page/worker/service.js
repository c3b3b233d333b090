import { KerasBertError } from "../../core/error.js";
import { Measurement } from "./measure.js";
import { Models } from "./models.js";
import { TaughtTexts } from "./teach.js";
import { classify, tokensOf } from "./classify.js";
import { readTexts, TextSearch } from "./text_search.js";
import { TextAnswers } from "./text_answers.js";
import { Turns } from "./turns.js";

const LONG = new Set(["index", "answer"]); // methods that run a model many times

/** What the page can ask the worker for. Arguments and results are what `postMessage` can copy. */
export class Service {
  #models;
  #turns = new Turns();
  #answers = new TextAnswers();
  #taught = new TaughtTexts();
  #search;
  #measurement;
  #methods;

  /**
   * @param {object} parts
   * @param {import("./models.js").Engines} parts.engines
   * @param {import("./models.js").ReadModel} parts.read
   * @param {import("../storage/store.js").Store} parts.store
   * @param {() => Promise<string[]>} parts.sample reads the sample's texts
   */
  constructor({ engines, read, store, sample }) {
    this.#models = new Models(engines, read, this.#turns);
    this.#search = new TextSearch(store, sample);
    this.#measurement = new Measurement(this.#models, this.#turns, sample);
    this.#methods = {
      open: (args, job) => this.#use(args, job, (task, engine) => engine),
      inspect: ({ model }) => this.#inspect(model),
      forget: ({ name }) => this.#models.forget(name),
      classify: (args, job) => this.#use(args, job, (task) => this.#classify(task, args)),
      answer: (args, job) => this.#use(args, job, (task) => this.#answers.answer(task, args.question, args.text, args.model.name, job)),
      teach: (args, job) => this.#use(args, job, (task) => this.#taught.classify(task, args.labels, args.text, args.model.name)),
      taughtFile: (args, job) => this.#use(args, job, (task) => this.#taughtFile(task, args)),
      readTexts: (args) => this.#readTexts(args),
      index: (args, job) => this.#use(args, job, (task) => this.#search.build(task, args.texts, job)),
      openIndex: (args, job) => this.#use(args, job, (task) => this.#search.open(task, args.index, job)),
      closeIndex: ({ number }) => this.#search.close(number),
      search: (args, job) => this.#use(args, job, (task) => this.#search.search(task, args)),
      measure: (args, job) => this.#measurement.measure(args.model, args.accelerator, args.isCompared, job),
    };
  }

  /**
   * Runs a method.
   *
   * @param {string} method
   * @param {object} args
   * @param {import("../state/presenter.js").Control} control
   * @returns {Promise<any>}
   */
  async call(method, args, { signal, report }) {
    const run = this.#methods[method];
    if (!run) throw new KerasBertError(`expected a method of the worker, received ${method}; load the page again`);
    return run(args, { isLong: LONG.has(method), signal, report });
  }

  #use({ model, accelerator }, job, work) {
    return this.#models.use(model, accelerator, job, work);
  }

  async #inspect(model) {
    const file = await this.#models.inspect(model);
    return { type: file.metadata.type.key, bytes: file.bytes };
  }

  async #classify(task, { text, withTokens }) {
    const classified = await classify(task, text);
    return { classified, tokens: withTokens ? tokensOf(task, text) : null };
  }

  async #taughtFile(task, { labels, model }) {
    return this.#taught.file(task, labels, model.name, await this.#models.content(model));
  }

  async #readTexts({ name, file }) {
    const { columns, likeliestColumn } = await readTexts(name, file);
    return { columns, likeliest: likeliestColumn };
  }
}
