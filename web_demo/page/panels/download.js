import { element } from "./dom.js";

const KEPT = 60_000; // milliseconds in which the browser has begun to read the file

/**
 * Offers a file as a download.
 *
 * @param {Uint8Array} content
 * @param {string} name
 */
export function offer(content, name) {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT);
}
