/** Keeps the largest scores of many; of equal ones those with the smallest numbers, so that the result does not depend on the order. */
export class TopScores {
  #most;
  // A heap whose first entry is the one to drop next.
  #numbers = [];
  #scores = [];

  /** @param {number} count the most scores to keep */
  constructor(count) {
    this.#most = count;
  }

  /**
   * Takes a score into account, which must not be NaN.
   *
   * @param {number} number
   * @param {number} score
   */
  offer(number, score) {
    const size = this.#numbers.length;
    if (size < this.#most) {
      this.#put(size, number, score);
      this.#rise(size);
    } else if (size > 0 && this.#isBetter(number, score, 0)) {
      this.#put(0, number, score);
      this.#sink();
    }
  }

  /**
   * The numbers of the scores that were kept, best first.
   *
   * @returns {number[]}
   */
  best() {
    const [numbers, scores] = [this.#numbers, this.#scores];
    return [...numbers.keys()].sort((one, other) => scores[other] - scores[one] || numbers[one] - numbers[other]).map((at) => numbers[at]);
  }

  #put(place, number, score) {
    this.#numbers[place] = number;
    this.#scores[place] = score;
  }

  #isBetter(number, score, place) {
    return score > this.#scores[place] || (score === this.#scores[place] && number < this.#numbers[place]);
  }

  #isPlaceBetter(place, other) {
    return this.#isBetter(this.#numbers[place], this.#scores[place], other);
  }

  #rise(from) {
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#isPlaceBetter(place, parent)) return;
      this.#swap(place, parent);
      place = parent;
    }
  }

  #sink() {
    let place = 0;
    for (;;) {
      let worst = place;
      for (let child = 2 * place + 1; child <= 2 * place + 2 && child < this.#numbers.length; child++) {
        if (this.#isPlaceBetter(worst, child)) worst = child;
      }
      if (worst === place) return;
      this.#swap(place, worst);
      place = worst;
    }
  }

  #swap(one, other) {
    const [number, score] = [this.#numbers[one], this.#scores[one]];
    this.#put(one, this.#numbers[other], this.#scores[other]);
    this.#put(other, number, score);
  }
}
