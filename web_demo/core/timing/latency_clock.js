/**
 * Times in milliseconds.
 *
 * @typedef {object} Latency
 * @property {number | null} load the time to load the model
 * @property {number | null} first the first run, which sets up what later ones share
 * @property {number | null} p50 the median of the runs after the first
 * @property {number | null} p95 the time that 95 of 100 of these runs do not exceed
 * @property {number} runs the number of these runs
 */

/** Measures how long a model takes to load and to run. */
export class LatencyClock {
  #now;
  #load = null;
  #first = null;
  #times = [];

  /** @param {() => number} now the time in milliseconds */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Runs work that loads the model.
   *
   * @template T
   * @param {() => T | Promise<T>} work
   * @returns {Promise<T>}
   */
  load(work) {
    return this.#timed(work, (time) => {
      this.#load = time;
    });
  }

  /**
   * Runs work that runs the model once.
   *
   * @template T
   * @param {() => T | Promise<T>} work
   * @returns {Promise<T>}
   */
  run(work) {
    return this.#timed(work, (time) => {
      if (this.#first === null) this.#first = time;
      else this.#times.push(time);
    });
  }

  /**
   * What was measured so far.
   *
   * @returns {Latency}
   */
  latency() {
    const sorted = Float64Array.from(this.#times).sort();
    return { load: this.#load, first: this.#first, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), runs: sorted.length };
  }

  async #timed(work, record) {
    const start = this.#now();
    const result = await work();
    record(this.#now() - start);
    return result;
  }
}

/** A quantile between two neighbours, as `numpy.quantile`. */
function quantile(sorted, share) {
  if (sorted.length === 0) return null;
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}
