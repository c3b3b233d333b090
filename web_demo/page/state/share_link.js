import { KerasBertError } from "../../core/error.js";
import { PANELS } from "./task_types.js";

/** The longest link in characters. Longer ones are cut by some programs that pass links on. */
export const LONGEST_LINK = 8000;

/**
 * What a link holds: never a model.
 *
 * @typedef {object} Shared
 * @property {string} panel
 * @property {string} model the model's name; "" for any
 * @property {string} text the text or query; "" for none
 * @property {string} question "" for none
 */

/**
 * Returns the address of a page with a panel, a model's name and texts in its fragment, which browsers do not send to servers.
 *
 * @param {string} page the address of the page
 * @param {Shared} shared
 * @returns {string}
 * @throws {KerasBertError} when the link is too long
 */
export function linkOf(page, { panel, model, text, question }) {
  const fields = new URLSearchParams({ panel });
  if (model) fields.set("model", model);
  if (text) fields.set("text", text);
  if (question) fields.set("question", question);
  const link = `${page.split("#")[0]}#${fields}`;
  checkLength(link, "shorten the text");
  return link;
}

/**
 * Reads the fragment of a link.
 *
 * @param {string} hash such as `#panel=ask&text=...`
 * @returns {Shared | null} null if it names no panel of this page
 * @throws {KerasBertError} when the link is too long
 */
export function readLink(hash) {
  checkLength(hash, "ask for a shorter one");
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const panel = fields.get("panel") ?? "";
  if (!PANELS.includes(panel)) return null;
  return Object.freeze({ panel, model: fields.get("model") ?? "", text: fields.get("text") ?? "", question: fields.get("question") ?? "" });
}

function checkLength(link, action) {
  if (link.length <= LONGEST_LINK) return;
  const [longest, received] = [LONGEST_LINK, link.length].map((length) => length.toLocaleString("en"));
  throw new KerasBertError(`expected a link of at most ${longest} characters, received one of ${received}; ${action}`);
}
