import { canAsk } from "../state/ask_presenter.js";
import { passageAround } from "../state/text_parts.js";
import { byId, setText, showValue } from "./dom.js";
import { answeredText } from "./highlighted_text.js";
import { ProgressPart } from "./progress_part.js";
import { counted, milliseconds, numbers, percent } from "./words.js";

const EMPTY = "The answer is marked in your text.";
const NO_ANSWER = "The text has no answer to this question.";
const AROUND = 10_000; // UTF-16 units of the text shown before and after the answer
const EXAMPLE_QUESTION = "When did the ferry start to run at night?";
const EXAMPLE_TEXT =
  "The ferry has crossed the bay since 1921. For most of that time it ran from six in the morning to eight in the evening, and the last " +
  "boat was always full. In 1987 the town decided to let it run at night as well, after the bridge had been closed by a storm for the " +
  "third time. Bicycles have been free since the spring of 2004. A crossing takes eleven minutes, or fourteen when the tide is against " +
  "the boat.";

/** *Ask*: a question about a text, whose answer is marked in the text itself. */
export class AskPanel {
  #presenter;
  #announcer;
  #text = byId("ask-text");
  #question = byId("ask-question");
  #progress;
  #shown = null;

  /**
   * @param {import("../state/ask_presenter.js").AskPresenter} presenter
   * @param {import("./announcer.js").Announcer} announcer
   */
  constructor(presenter, announcer) {
    this.#presenter = presenter;
    this.#announcer = announcer;
    this.#progress = new ProgressPart(byId("ask-progress"), "Reading the text", { name: "Stop", act: () => presenter.stop() });
    this.#text.addEventListener("input", () => presenter.writeText(this.#text.value));
    this.#text.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && presenter.answer());
    this.#question.addEventListener("input", () => presenter.writeQuestion(this.#question.value));
    byId("ask-form").addEventListener("submit", (event) => this.#submit(event));
    byId("ask-example").addEventListener("click", () => this.#fill(EXAMPLE_TEXT, EXAMPLE_QUESTION));
    byId("ask-clear").addEventListener("click", () => this.#fill("", ""));
  }

  /**
   * @param {import("../state/ask_presenter.js").AskState} state
   * @returns {string | null} what to say where there is no result
   */
  show(state) {
    showValue(this.#text, state.text);
    showValue(this.#question, state.question);
    const { answered, isRunning } = state;
    byId("ask-run").disabled = !canAsk(state) || isRunning;
    this.#showProgress(state);
    const part = byId("ask-answer").parentElement;
    part.hidden = answered === null;
    part.classList.toggle("is-stale", isRunning);
    if (answered && answered !== this.#shown) this.#showAnswer(answered);
    this.#shown = answered;
    return answered || isRunning ? null : EMPTY;
  }

  #showProgress({ isRunning, done, parts }) {
    byId("ask-progress").hidden = !isRunning;
    if (!isRunning) this.#progress.clear();
    else this.#progress.show(parts > 0 ? `Reading part ${numbers.whole(done)} of ${numbers.whole(parts)}` : "Reading…", done, parts);
  }

  #submit(event) {
    event.preventDefault();
    this.#presenter.answer();
  }

  #fill(text, question) {
    this.#presenter.writeText(text);
    this.#presenter.writeQuestion(question);
    if (text) this.#presenter.answer();
    else this.#text.focus();
  }

  #showAnswer(answered) {
    const { answer } = answered;
    const [best, ...others] = answer.parts;
    setText(byId("ask-heading"), answer.kind === "sentences" ? "The sentence that fits best" : "Answer");
    setText(byId("ask-answer"), best?.text ?? NO_ANSWER);
    setText(byId("ask-facts"), factsOf(answered));
    byId("ask-others").hidden = answer.kind !== "spans" || others.length === 0;
    setText(byId("ask-others"), `Others: ${others.map(({ text, score }) => `${text} (${percent(score)})`).join(" · ")}`);
    this.#showPassage(answered.text, best);
    byId("ask-answer").scrollIntoView({ block: "nearest" }); // on a phone, it is below the question
    this.#announcer.announce(best ? `Answer: ${best.text}` : NO_ANSWER);
  }

  #showPassage(text, best) {
    const { start, end } = passageAround(text, best?.start ?? 0, best?.end ?? 0, AROUND);
    const mark = best && { start: best.start - start, end: best.end - start };
    const passage = byId("ask-passage");
    const shown = answeredText(text.slice(start, end), mark ?? null);
    passage.replaceChildren(...shown.nodes);
    if (shown.mark) passage.scrollTop = shown.mark.offsetTop - passage.offsetTop - passage.clientHeight / 3;
    const [first, last, all] = [start + 1, end, text.length].map((place) => numbers.whole(place));
    byId("ask-passage-note").hidden = end - start === text.length;
    setText(byId("ask-passage-note"), `Characters ${first} to ${last} of ${all} are shown.`);
  }
}

function factsOf({ answer, parts, areSentences, milliseconds: time }) {
  const [best] = answer.parts;
  const score = best && (areSentences ? `similarity ${numbers.similarity(best.score)}` : percent(best.score));
  return [score, counted(parts, areSentences ? "sentence" : "window"), milliseconds(time)].filter(Boolean).join(" · ");
}
