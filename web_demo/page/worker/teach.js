import { TaughtClasses } from "../../core/search/taught_classes.js";

const MOST_VECTORS = 10_000;

/** Classifies texts by labels with examples. The vectors of examples are computed once, and the classes are taught when labels change. */
export class TaughtTexts {
  #vectors = new Map();
  #model = "";
  #classes = null;
  #taught = ""; // the labels and the model of these

  /**
   * @param {import("../../core/tasks/sentence_encoding.js").SentenceEncoding} encoder
   * @param {import("../state/teach_presenter.js").TaughtLabel[]} labels at least two with examples
   * @param {string} text
   * @param {string} model what tells models apart
   * @returns {Promise<import("../state/classify_presenter.js").LabelBar[]>} the likeliest first
   */
  async classify(encoder, labels, text, model) {
    if (model !== this.#model || this.#vectors.size > MOST_VECTORS) this.#vectors = new Map();
    this.#model = model;
    const { vector } = await encoder.encode(text);
    const key = JSON.stringify([model, labels]);
    if (key !== this.#taught) {
      const classes = new TaughtClasses(vector.length);
      for (const { name, examples } of labels) {
        for (const example of examples) classes.add(name, example, await this.#vectorOf(encoder, example));
      }
      this.#classes = classes;
      this.#taught = key;
    }
    return this.#classes.classify(vector).map(({ name, probability }, place) => ({ name, probability, isChosen: place === 0 }));
  }

  async #vectorOf(encoder, example) {
    const vectors = this.#vectors;
    if (!vectors.has(example)) vectors.set(example, (await encoder.encode(example)).vector);
    return vectors.get(example);
  }
}
