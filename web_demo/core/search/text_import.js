import { KerasBertError } from "../error.js";
import { CsvReader } from "./csv_reader.js";

const MOST_BYTES = 64 << 20;
const MOST_TEXTS = 200_000;
const DELIMITERS = [",", ";", "\t", "|"];
const TABLE = /\.[ct]sv$/i;

/** Texts to search, from a file that a person chose. */
export class TextImport {
  #rows;

  /**
   * @param {string[]} columns the names of the columns of a table; empty for a file of lines
   * @param {string[][]} rows
   */
  constructor(columns, rows) {
    this.columns = columns;
    this.#rows = rows;
  }

  /**
   * Reads a file: `.csv` and `.tsv` as a table whose first row names the columns, others as one text a line.
   *
   * @param {Uint8Array} content the bytes, in UTF-8 with or without a byte order mark
   * @param {string} name the file's name, whose ending decides
   * @returns {TextImport}
   * @throws {KerasBertError} when the file is too large, not UTF-8, or holds no texts
   */
  static read(content, name) {
    if (content.length > MOST_BYTES) {
      throw new KerasBertError(
        `expected a file of at most ${MOST_BYTES >> 20} MB, received ${name} of ${Math.floor(content.length / 2 ** 20)} MB; split it`,
      );
    }
    const text = decode(content, name);
    const isTable = TABLE.test(name);
    const table = isTable ? new CsvReader(text, delimiterOf(text), name).rows() : text.split("\n").map((line) => [withoutReturn(line)]);
    const rows = (isTable ? table.slice(1) : table).filter((row) => row.some((cell) => cell.trim() !== ""));
    if (rows.length === 0) throw new KerasBertError(`expected texts in ${name}, received none; choose another file`);
    if (rows.length > MOST_TEXTS) {
      throw new KerasBertError(`expected at most ${MOST_TEXTS} texts, received ${rows.length} in ${name}; split it`);
    }
    return new TextImport(isTable ? table[0] : [], rows);
  }

  /** The number of rows. */
  get size() {
    return this.#rows.length;
  }

  /** The number of the column with the longest texts, which are most likely the ones to search. */
  get likeliestColumn() {
    const lengths = this.columns.map(() => 0);
    for (const row of this.#rows) {
      row.slice(0, lengths.length).forEach((cell, column) => {
        lengths[column] += cell.length;
      });
    }
    return lengths.reduce((best, length, column) => (length > lengths[best] ? column : best), 0);
  }

  /**
   * The texts of a column, without blank ones.
   *
   * @param {number} [column]
   * @returns {string[]}
   * @throws {KerasBertError} when there are none
   */
  texts(column = 0) {
    const texts = this.#rows.map((row) => (row[column] ?? "").trim()).filter((text) => text !== "");
    if (texts.length > 0) return texts;
    const where = column < this.columns.length ? `in the column '${this.columns[column]}'` : "in the file";
    throw new KerasBertError(`expected texts ${where}, received none; choose another one`);
  }
}

/** The text without its byte order mark. */
function decode(content, name) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    throw new KerasBertError(`expected UTF-8 in ${name}, received another encoding; save the file as UTF-8`);
  }
}

function withoutReturn(line) {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** The character that separates the names of the columns most often. */
function delimiterOf(text) {
  const [header] = text.split("\n", 1);
  const counts = DELIMITERS.map((delimiter) => header.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))];
}
