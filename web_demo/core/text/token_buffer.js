import { IntList } from "./int_list.js";
import { Tokens } from "./tokenizer.js";

/** The tokens of a text while it is split. One buffer serves all texts of a tokenizer, one after the other. */
export class TokenBuffer {
  #ids = new IntList(1024);
  #starts = new IntList(1024);
  #ends = new IntList(1024);

  get size() {
    return this.#ids.size;
  }

  add(id, start, end) {
    this.#ids.add(id);
    this.#starts.add(start);
    this.#ends.add(end);
  }

  /** Removes all tokens from `count` on. */
  truncate(count) {
    this.#ids.truncate(count);
    this.#starts.truncate(count);
    this.#ends.truncate(count);
  }

  /** @returns {Tokens} */
  toTokens() {
    return new Tokens(this.#ids.toArray(), this.#starts.toArray(), this.#ends.toArray());
  }
}
