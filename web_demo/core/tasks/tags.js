import { BARE, EXPANDED, LIKE, OTHER_OUTSIDE } from "./tag_tables.js";

const OUTSIDE = "O";
const BARE_LABEL = "_"; // of a tag that is a prefix alone

/**
 * Words that are one entity.
 *
 * @typedef {object} TagSpan
 * @property {string} label
 * @property {number} first the number of its first word
 * @property {number} end the number of the word after its last one
 */

/** The tags of a model: `O`, or a prefix and a label, such as `B-PER`, of a common scheme (IOB, IOBES, BILOU, BMES); or parts of speech. */
export class Tags {
  #labels;
  #hasPrefixes;
  #outsides;
  #inside;

  /** @param {string[] | null} labels */
  constructor(labels) {
    this.#labels = labels;
    const tags = (labels ?? []).filter((tag) => tag !== OUTSIDE);
    this.#hasPrefixes = tags.some((tag) => tag[1] === "-" && isPrefixed(tag)) || (tags.length > 0 && tags.every((tag) => BARE.has(tag)));
    // The tags of words outside of entities, and the prefix inside of an entity: `M` in BMES and BMEWO, else `I`.
    this.#outsides = new Set([OUTSIDE, ...(this.#hasPrefixes ? tags.filter((tag) => OTHER_OUTSIDE.has(tag)) : [])]);
    const prefixes = tags.filter(isPrefixed).map((tag) => tag[0]).join("");
    this.#inside = this.#hasPrefixes && /[MW]/.test(prefixes) && !/[LU]/.test(prefixes) ? "M" : "I";
    /** The tag of words without tokens: `O`, or the tag that stands for it, or the first tag. */
    this.outside = labels === null || labels.includes(OUTSIDE) ? OUTSIDE : labels.find((tag) => this.#outsides.has(tag)) ?? labels[0];
    /** Whether the tags mark entities. */
    this.markEntities = (labels ?? []).includes(OUTSIDE) || this.#hasPrefixes;
  }

  /** The tag of an output. */
  name(number) {
    return this.#labels === null ? String(number) : this.#labels[number];
  }

  /**
   * A tag for each of several words that share the token of a tag.
   *
   * @param {string} tag
   * @param {number} words
   * @returns {string[]}
   */
  expand(tag, words) {
    if (!this.#hasPrefixes || words === 1 || !isPrefixed(tag)) return Array(words).fill(tag);
    const [first, between, last] = EXPANDED.get(tag[0]);
    return Array.from({ length: words }, (_, word) => {
      const prefix = word === 0 ? first : word === words - 1 ? last : between;
      return (prefix === "I" ? this.#inside : prefix) + tag.slice(1);
    });
  }

  /**
   * The entities of one sentence, from tags of any scheme and from invalid ones.
   *
   * The rule is that of CoNLL's own evaluation, and seqeval's default: an entity continues with `I-` or `E-` of its label after `B-` or
   * `I-`. Every other tag but `O` starts an entity.
   *
   * @param {string[]} tags
   * @returns {TagSpan[]}
   */
  spans(tags) {
    const spans = [];
    let first = 0;
    let before = parts(OUTSIDE);
    for (const [place, tag] of [...tags, OUTSIDE].entries()) {
      const now = parts(this.#outsides.has(tag) ? OUTSIDE : tag);
      const continues = "IE".includes(now.prefix) && "BI".includes(before.prefix) && before.label === now.label;
      if (!continues) {
        if (before.prefix !== "O") spans.push({ label: before.label, first, end: place });
        first = place;
      }
      before = now;
    }
    return spans;
  }
}

/** A tag's prefix and label. A tag without a prefix is read as `I-` of that label. */
function parts(tag) {
  if (tag === OUTSIDE) return { prefix: "O", label: "" };
  if (isPrefixed(tag)) return { prefix: LIKE.get(tag[0]), label: tag.slice(2) || BARE_LABEL };
  return { prefix: "I", label: tag };
}

function isPrefixed(tag) {
  return (tag[1] === "-" && LIKE.has(tag[0])) || BARE.has(tag);
}
