/** A text. */
class Single {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  get kind() {
    return "a single text";
  }

  fields() {
    return { text: this.text };
  }
}

/** A pair of texts. */
class Pair {
  /**
   * @param {string} text
   * @param {string} pair
   */
  constructor(text, pair) {
    this.text = text;
    this.pair = pair;
  }

  get kind() {
    return "a pair of texts";
  }

  fields() {
    return { text: this.text, pair: this.pair };
  }
}

/** A question about a text. */
class Question {
  /**
   * @param {string} question
   * @param {string} context
   */
  constructor(question, context) {
    this.question = question;
    this.context = context;
  }

  get kind() {
    return "a question with a context";
  }

  fields() {
    return { question: this.question, context: this.context };
  }
}

/** A prompt with several choices. */
class Prompt {
  /**
   * @param {string} prompt
   * @param {string[]} choices
   */
  constructor(prompt, choices) {
    this.prompt = prompt;
    this.choices = choices;
  }

  get kind() {
    return "a prompt with choices";
  }

  fields() {
    return { prompt: this.prompt, choices: this.choices };
  }
}

/** What a model predicts for. Each kind has `fields()`, those of the example in a record, and `kind`, its name in messages. */
export const Example = Object.freeze({ Single, Pair, Question, Prompt });
