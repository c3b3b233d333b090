/** Work of one kind, of which only the newest counts. So each letter that a person types may start work. */
export class Lane {
  #running = null;
  #waiting = null;

  /**
   * Starts work as soon as the earlier work of this lane has ended, which is told to. Work that has not begun is left out.
   *
   * @param {(signal: AbortSignal) => Promise<void>} work must not reject; its signal says that newer work has replaced it
   */
  start(work) {
    this.#running?.abort();
    this.#waiting = work;
    if (!this.#running) this.#next();
  }

  /** Drops the work in progress and its result. */
  drop() {
    this.#waiting = null;
    this.#running?.abort();
  }

  async #next() {
    const work = this.#waiting;
    if (!work) return;
    this.#waiting = null;
    this.#running = new AbortController();
    await work(this.#running.signal);
    this.#running = null;
    this.#next();
  }
}
