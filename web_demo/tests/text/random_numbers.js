/**
 * Random numbers that are the same every time (xorshift32).
 *
 * @param {number} seed from 1 on.
 * @returns {() => number} draws a number from 0 to 2 ** 32 - 1.
 */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
