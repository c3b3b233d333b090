import { partsOf } from "../state/text_parts.js";
import { element } from "./dom.js";
import { percent } from "./words.js";

const COLORS = 6;

/**
 * A text with entities in it.
 *
 * @param {string} text
 * @param {import("../state/classify_presenter.js").Highlight[]} highlights
 * @returns {(Node | string)[]}
 */
export function highlightedText(text, highlights) {
  return partsOf(text, highlights).map(({ text: part, mark }) => (mark ? entity(part, mark) : part));
}

function entity(text, { label, probability, color }) {
  const title = `${label}, ${percent(probability)}`;
  return element("mark", { class: `color-${(color % COLORS) + 1}`, title }, element("bdi", {}, text), element("b", {}, label));
}

/**
 * A text with an answer in it.
 *
 * @param {string} text
 * @param {{start: number, end: number} | null} answer in units of the text
 * @returns {{nodes: (Node | string)[], mark: HTMLElement | null}}
 */
export function answeredText(text, answer) {
  let mark = null;
  const nodes = partsOf(text, answer ? [answer] : []).map((part) => {
    if (!part.mark) return part.text;
    mark = element("mark", {}, part.text);
    return mark;
  });
  return { nodes, mark };
}
