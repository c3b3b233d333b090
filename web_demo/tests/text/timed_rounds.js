import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * The engine of `benchmarks/latency/web_tokenization.py`: tokenizes all texts once for each line of the standard input.
 *
 * The first answer has the seconds to make the tokenizer and to tokenize the first text, and a digest of all ids; the others have the
 * seconds of one round.
 *
 * @param {string} textsPath a file with one text on each line.
 * @param {() => (text: string) => ArrayLike<number>} makeTokenizer returns a function from a text to its ids.
 */
export async function serveRounds(textsPath, makeTokenizer) {
  const lines = linesOf(textsPath);
  const before = performance.now();
  const idsOf = makeTokenizer();
  const made = performance.now();
  idsOf(lines[0]);
  const first = { make_seconds: (made - before) / 1e3, first_text_seconds: (performance.now() - made) / 1e3 };
  console.log(JSON.stringify({ ...first, digest: digestOf(lines, idsOf) }));
  for await (const _ of createInterface({ input: process.stdin })) console.log(JSON.stringify(timedRound(lines, idsOf)));
}

/** The lines of a file. */
export function linesOf(path) {
  return readFileSync(path, "utf8").replace(/\n$/, "").split("\n");
}

function timedRound(lines, idsOf) {
  const start = performance.now();
  const processorStart = process.cpuUsage();
  let tokens = 0;
  for (const line of lines) tokens += idsOf(line).length;
  const seconds = (performance.now() - start) / 1e3;
  const { user, system } = process.cpuUsage(processorStart);
  return { tokens, seconds, processor_seconds: (user + system) / 1e6 };
}

/** A digest of the ids of all texts, each text's number of tokens before them. */
function digestOf(lines, idsOf) {
  const digest = createHash("sha256");
  for (const line of lines) {
    const ids = idsOf(line);
    digest.update(`${ids.length}:${ids.join(",")};`);
  }
  return digest.digest("hex");
}
