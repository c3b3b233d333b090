import { TaughtClasses } from "../../core/search/taught_classes.js";
import { taughtFile } from "../../core/search/taught_file.js";

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
    const { vector } = await encoder.encode(text);
    const classes = await this.#teach(encoder, labels, model);
    return classes.classify(vector).map(({ name, probability }, place) => ({ name, probability, isChosen: place === 0 }));
  }

  /**
   * Makes a file of labels with examples.
   *
   * @param {import("../../core/tasks/sentence_encoding.js").SentenceEncoding} encoder
   * @param {import("../state/teach_presenter.js").TaughtLabel[]} labels at least two with examples
   * @param {string} model what tells models apart
   * @param {Uint8Array} content the bytes of the encoder's file
   * @returns {Promise<Uint8Array>} the bytes of a `.tflite`
   */
  async file(encoder, labels, model, content) {
    return taughtFile(content, model, await this.#teach(encoder, labels, model));
  }

  async #teach(encoder, labels, model) {
    if (model !== this.#model || this.#vectors.size > MOST_VECTORS) this.#vectors = new Map();
    this.#model = model;
    const key = JSON.stringify([model, labels]);
    if (key === this.#taught) return this.#classes;
    let classes = null;
    for (const { name, examples } of labels) {
      for (const example of examples) {
        const vector = await this.#vectorOf(encoder, example);
        classes ??= new TaughtClasses(vector.length);
        classes.add(name, example, vector);
      }
    }
    this.#classes = classes;
    this.#taught = key;
    return classes;
  }

  async #vectorOf(encoder, example) {
    const vectors = this.#vectors;
    if (!vectors.has(example)) vectors.set(example, (await encoder.encode(example)).vector);
    return vectors.get(example);
  }
}
