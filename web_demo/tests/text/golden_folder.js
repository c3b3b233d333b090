import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { tokenizerOf } from "../../core/text/tokenizer_of.js";

/** The vectors that are committed. */
export const SMALL = fileURLToPath(new URL("../../../android_demo/testdata/golden", import.meta.url));

/** The golden vectors of `benchmarks/parity/export_golden.py`, which describes their format. */
export class GoldenFolder {
  /** @param {string} folder */
  constructor(folder) {
    /** The strings. */
    this.texts = [...rowsOf(join(folder, "texts.jsonl.gz"))];

    /** The folders of tokenizers. */
    this.cases = readdirSync(folder)
      .sort()
      .filter((name) => existsSync(join(folder, name, "tokenizer.json")))
      .map((name) => new GoldenCase(join(folder, name)));
  }

  /** @returns {GoldenCase} */
  case(name) {
    return this.cases.find((each) => each.name === name);
  }
}

/** One tokenizer and its vectors. */
export class GoldenCase {
  #folder;
  #vocabularyFile;

  constructor(folder) {
    const content = JSON.parse(readFileSync(join(folder, "tokenizer.json"), "utf8"));
    this.#folder = folder;
    this.#vocabularyFile = join(folder, content.vocabulary);
    this.name = basename(folder);
    this.settings = content.settings;
    if (content.model) this.settings.model = bytesOf(join(folder, content.model)).toString("base64");
  }

  /** Whether the tokenizer lowercases whole words, not each character. */
  get lowersWords() {
    return this.settings.kind === "japanese" && this.settings.lowercase === true;
  }

  get vocabulary() {
    return textOf(this.#vocabularyFile).replace(/\n$/, "").split("\n");
  }

  /** The tokenizer, with some settings changed. */
  tokenizer(changes = {}) {
    return tokenizerOf({ ...this.settings, ...changes }, this.vocabulary);
  }

  /** The rows of one of the files: tokens, pairs, windows or words. */
  rows(name) {
    return rowsOf(join(this.#folder, `${name}.jsonl.gz`));
  }
}

function* rowsOf(file) {
  // Texts have other line separators too: only a line feed ends a row.
  const content = bytesOf(file);
  let start = 0;
  while (start < content.length) {
    const end = content.indexOf("\n", start);
    yield JSON.parse(content.toString("utf8", start, end));
    start = end + 1;
  }
}

function textOf(file) {
  return bytesOf(file).toString("utf8");
}

function bytesOf(file) {
  const bytes = readFileSync(file);
  return file.endsWith(".gz") ? gunzipSync(bytes) : bytes;
}
