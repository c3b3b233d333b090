/** Decimal numbers as Python writes them. */

const MOST_FLOAT_DIGITS = 9; // these tell all floats apart
const FLOAT_FRACTION = (1 << 23) - 1;

/** A number that is written with a fraction, such as `1.0`: a double of Kotlin and Python, where JavaScript has numbers of one kind. */
export class Decimal {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }

  valueOf() {
    return this.value;
  }

  toJSON() {
    return this.value;
  }
}

/**
 * The shortest decimal number that is read back as the same double, in the form of Python's `repr`.
 *
 * @param {number} value a finite number
 */
export function doubleText(value) {
  return layOut(value, Math.abs(value).toExponential());
}

/**
 * The shortest decimal number that is read back as the same float, in the form of Python's `repr`.
 *
 * @param {number} value a finite number that a float holds
 */
export function floatText(value) {
  return layOut(value, value === 0 ? "0e+0" : shortestFloat(Math.abs(value)));
}

function shortestFloat(size) {
  const isPower = isPowerOfTwo(size);
  for (let digits = 0; digits < MOST_FLOAT_DIGITS; digits++) {
    const nearest = size.toExponential(digits);
    const candidates = isPower ? [nearest, ...neighbours(nearest, digits)] : [nearest];
    const same = candidates.filter((text) => Math.fround(Number(text)) === size);
    if (same.length > 0) return same.reduce((best, text) => (distance(text, size) < distance(best, size) ? text : best));
  }
  return size.toExponential(MOST_FLOAT_DIGITS - 1);
}

/** Floats lie closer below a power of two, so the nearest decimal number may be no match where one beside it is. */
function isPowerOfTwo(size) {
  return (new Int32Array(Float32Array.of(size).buffer)[0] & FLOAT_FRACTION) === 0;
}

function neighbours(text, digits) {
  const [fraction, exponent] = text.split("e");
  const units = Number(fraction.replace(".", ""));
  return [units - 1, units + 1].map((each) => `${each}e${Number(exponent) - digits}`).map((each) => Number(each).toExponential(digits));
}

function distance(text, size) {
  return Math.abs(Number(text) - size);
}

/** @param {string} scientific the size of the number, in the form of `toExponential` */
function layOut(value, scientific) {
  const [fraction, power] = scientific.split("e");
  const digits = fraction.replace(".", "").replace(/0+$/, "") || "0";
  const point = Number(power) + 1; // the number is 0.DIGITS times ten to this power
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  if (point > 16 || point < -3) return sign + withExponent(digits, point - 1);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return `${sign}${digits.padEnd(point, "0")}.0`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function withExponent(digits, exponent) {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  return `${digits[0]}${fraction}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}
