import { randomNumbers } from "../text/random_numbers.js";

/**
 * Random vectors that are the same every time.
 *
 * @param {number} seed from 1 on
 * @param {number} dimensions
 * @returns {() => Float32Array} draws a vector of numbers from -1 to 1
 */
export function randomVectors(seed, dimensions) {
  const draw = randomNumbers(seed);
  return () => Float32Array.from({ length: dimensions }, () => (draw() / 2 ** 31 - 1) * (draw() / 2 ** 32));
}
