import { KerasBertError } from "../error.js";

/** Reads a table of RFC 4180: cells may be in quotes, and then contain delimiters, line breaks and doubled quotes. */
export class CsvReader {
  #text;
  #delimiter;
  #name;
  #at = 0;
  #line = 1;

  /**
   * @param {string} text
   * @param {string} delimiter one character
   * @param {string} name the file's name in messages
   */
  constructor(text, delimiter, name) {
    this.#text = text;
    this.#delimiter = delimiter;
    this.#name = name;
  }

  /** @returns {string[][]} the cells of each row */
  rows() {
    const rows = [];
    while (this.#at < this.#text.length) rows.push(this.#row());
    return rows;
  }

  #row() {
    const cells = [];
    for (;;) {
      cells.push(this.#text[this.#at] === '"' ? this.#quoted() : this.#plain());
      if (this.#at === this.#text.length) return cells;
      if (this.#text[this.#at++] === this.#delimiter) continue;
      this.#line++;
      return cells;
    }
  }

  #plain() {
    const start = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== this.#delimiter && this.#text[this.#at] !== "\n") this.#at++;
    const cell = this.#text.slice(start, this.#at);
    return cell.endsWith("\r") ? cell.slice(0, -1) : cell;
  }

  #quoted() {
    const start = this.#line;
    let cell = "";
    this.#at++;
    for (;;) {
      const end = this.#text.indexOf('"', this.#at);
      if (end < 0) {
        throw new KerasBertError(
          `expected a quote at the end of a cell, received none in ${this.#name}, line ${start}; add it`,
        );
      }
      const part = this.#text.slice(this.#at, end);
      cell += part;
      this.#line += part.split("\n").length - 1;
      this.#at = end + 1;
      if (this.#text[this.#at] !== '"') break;
      cell += '"';
      this.#at++;
    }
    // What follows a closing quote by mistake belongs to the cell.
    return cell + this.#plain();
  }
}
