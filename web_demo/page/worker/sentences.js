/**
 * A sentence of a text.
 *
 * @typedef {object} Sentence
 * @property {number} start its first UTF-16 unit
 * @property {number} end the unit after its last one, without the white space that follows
 */

/**
 * Splits a text into sentences, as the browser's Unicode rules do. A line break ends a sentence as well.
 *
 * @param {string} text
 * @returns {Sentence[]}
 */
export function sentencesOf(text) {
  const sentences = [];
  let lineStart = 0;
  for (const line of text.split("\n")) {
    for (const { start, end } of sentencesOfLine(line)) {
      const sentence = trimmed(line, start, end);
      if (sentence) sentences.push({ start: lineStart + sentence.start, end: lineStart + sentence.end });
    }
    lineStart += line.length + 1;
  }
  return sentences;
}

function sentencesOfLine(line) {
  if (!Intl.Segmenter) return [{ start: 0, end: line.length }];
  const segments = new Intl.Segmenter("en", { granularity: "sentence" }).segment(line);
  return Array.from(segments, ({ index, segment }) => ({ start: index, end: index + segment.length }));
}

function trimmed(line, start, end) {
  const sentence = line.slice(start, end);
  const first = start + sentence.length - sentence.trimStart().length;
  const last = start + sentence.trimEnd().length;
  return first < last ? { start: first, end: last } : null;
}
