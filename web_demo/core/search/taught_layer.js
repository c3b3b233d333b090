/**
 * Fits a layer from sentence vectors to classes, as `kerasbert.few_shot` does in Python: the nearest centre or logistic regression, by
 * cross-validation, with a scale that makes the probabilities as right as they say.
 *
 * Tables are `Float64Array`s with a row for each vector or class, one after the other.
 */

/** The factor of cosines in the softmax, with which sentence encoders are commonly trained: 0.05 more is e times the probability. */
export const COSINE_SCALE = 20;

const STRENGTH = 10; // of logistic regression: the weight of the examples against the size of the layer
const FOLDS = 5;
const FEWER_FOLDS = 3;
const MANY_ROWS = 1000;
const SCALES = Array.from({ length: 57 }, (_, step) => 2 ** (step / 8 - 3)); // of logits, from an eighth to 16
const SMALLEST_SHARE = 1e-30;
const SMALLEST_NORM = 1e-6; // of a mean of vectors of norm 1; what is below is rounding
const PRECISION = 1e-3; // the largest number of the gradient at the end of the search
const COARSE = 1e-1; // in a fold: decisions do not depend on more
const HISTORY = 10;
const MOST_STEPS = 500;
const ENOUGH = 1e-4;
const SHORTEST_STEP = 1e-10;

/** The methods in Python's order: of equally good ones the last is taken, and without two examples of a class the first. */
const METHODS = [["centre", centres], ["logistic", logistic]];

/** A layer from vectors of norm 1 to the logits of classes. */
export class TaughtLayer {
  /**
   * @param {Float64Array} table a row for each class: its kernel, and its bias last
   * @param {number} width the numbers in a vector
   * @param {string} method `centre` or `logistic`
   * @param {Record<string, number>} accuracy of each method, by cross-validation; empty where no class has two examples
   */
  constructor(table, width, method, accuracy) {
    this.table = table;
    this.width = width;
    this.method = method;
    this.accuracy = accuracy;
  }

  /**
   * Chooses a method and fits its layer.
   *
   * @param {ArrayLike<number>[]} vectors the vectors of the examples, of norm 1
   * @param {number[]} classes the class of each example, from 0 to below `count`; each class has one
   * @param {number} count the number of classes
   */
  static fit(vectors, classes, count) {
    const width = vectors[0].length;
    const rows = new Rows(vectors, classes, width, count);
    const folds = foldsOf(classes, count);
    const held = folds.flatMap((fold, row) => (fold < 0 ? [] : [row]));
    if (held.length === 0) return new TaughtLayer(centres(rows), width, METHODS[0][0], {});
    const tried = METHODS.map(([name, fit]) => {
      const shares = heldOut(rows, folds, fit);
      const right = held.filter((row) => argMax(shares[row]) === classes[row]).length;
      return { name, fit, shares, accuracy: right / held.length };
    });
    const best = tried.reduce((before, each) => (each.accuracy >= before.accuracy ? each : before));
    const factor = scaleOf(held.map((row) => best.shares[row]), held.map((row) => classes[row]));
    const table = best.fit(rows, PRECISION).map((value) => Math.fround(Math.fround(value) * Math.fround(factor)));
    return new TaughtLayer(table, width, best.name, Object.fromEntries(tried.map(({ name, accuracy }) => [name, accuracy])));
  }

  /**
   * The probability of each class.
   *
   * @param {ArrayLike<number>} vector of norm 1
   * @returns {Float64Array}
   */
  probabilities(vector) {
    return sharesOf(this.table, this.width, vector);
  }
}

/** Examples as tables. */
class Rows {
  constructor(vectors, classes, width, count) {
    Object.assign(this, { vectors, classes, width, count });
  }

  /** The rows that a fold does not hold out. */
  without(folds, fold) {
    const kept = folds.flatMap((each, row) => (each === fold ? [] : [row]));
    return new Rows(kept.map((row) => this.vectors[row]), kept.map((row) => this.classes[row]), this.width, this.count);
  }
}

/** The fold that holds out each row; -1 for a class of one example, which is always taught. */
function foldsOf(classes, count) {
  const folds = classes.length <= MANY_ROWS ? FOLDS : FEWER_FOLDS;
  const sizes = new Array(count).fill(0);
  for (const each of classes) sizes[each] += 1;
  const dealt = new Array(count).fill(0);
  return classes.map((each) => (sizes[each] > 1 ? dealt[each]++ % folds : -1));
}

/** The probabilities of each row by a layer that did not see it, in float32 as in Python. */
function heldOut(rows, folds, fit) {
  const shares = new Array(folds.length);
  for (const fold of new Set(folds.filter((each) => each >= 0))) {
    const table = fit(rows.without(folds, fold), COARSE).map(Math.fround);
    folds.forEach((each, row) => {
      if (each === fold) shares[row] = sharesOf(table, rows.width, rows.vectors[row]).map(Math.fround);
    });
  }
  return shares;
}

/** The factor of the logits with the smallest cross-entropy; a few rows that are all right count as a little less than certain. */
function scaleOf(shares, classes) {
  const count = shares[0].length;
  const doubt = 1 / (shares.length + 2);
  const logits = shares.map((row) => row.map((share) => Math.log(Math.max(share, SMALLEST_SHARE))));
  const losses = SCALES.map((factor) =>
    logits.reduce((loss, row, number) => {
      const scaled = softmax(row.map((logit) => factor * logit));
      return scaled.reduce((sum, share, place) => {
        const target = place === classes[number] ? 1 - doubt : doubt / (count - 1);
        return sum - target * Math.log(share + SMALLEST_SHARE);
      }, loss);
    }, 0),
  );
  return SCALES[losses.indexOf(Math.min(...losses))];
}

/** The layer whose logits are the cosines with the mean of each class, times `COSINE_SCALE`. */
function centres({ vectors, classes, width, count }) {
  const table = new Float64Array(count * (width + 1));
  const sizes = new Array(count).fill(0);
  vectors.forEach((vector, row) => {
    sizes[classes[row]] += 1;
    addTo(table, classes[row] * (width + 1), vector, 1, width);
  });
  for (let number = 0; number < count; number++) {
    const centre = table.subarray(number * (width + 1), number * (width + 1) + width);
    const norm = Math.sqrt(centre.reduce((sum, value) => sum + value * value, 0));
    const factor = norm > SMALLEST_NORM * sizes[number] ? COSINE_SCALE / norm : 0; // examples that cancel each other have no direction
    centre.forEach((value, place) => (centre[place] = value * factor));
  }
  return table;
}

/** Multinomial logistic regression: the cross-entropy of all rows, times `STRENGTH`, plus half of the squared kernel, by L-BFGS. */
function logistic({ vectors, classes, width, count }, precision) {
  // A constant that all vectors share only moves the bias, which is not held small: the optimum is found faster without it.
  const mean = new Float64Array(width);
  for (const vector of vectors) addTo(mean, 0, vector, 1 / vectors.length, width);
  const centred = vectors.map((vector) => mean.map((value, place) => vector[place] - value));
  const lossAndGradient = (table) => {
    const gradient = new Float64Array(table.length);
    let loss = 0;
    for (let number = 0; number < count; number++) {
      for (let place = number * (width + 1); place < number * (width + 1) + width; place++) {
        gradient[place] = table[place];
        loss += 0.5 * table[place] * table[place];
      }
    }
    centred.forEach((vector, row) => {
      const logits = logitsOf(table, width, vector);
      const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
      const total = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0)) + largest;
      loss -= STRENGTH * (logits[classes[row]] - total);
      logits.forEach((logit, number) => {
        const error = STRENGTH * (Math.exp(logit - total) - (number === classes[row] ? 1 : 0));
        addTo(gradient, number * (width + 1), vector, error, width);
        gradient[number * (width + 1) + width] += error;
      });
    });
    return [loss, gradient];
  };
  const table = minimum(lossAndGradient, new Float64Array(count * (width + 1)), precision);
  const biases = Array.from({ length: count }, (_, number) => {
    const start = number * (width + 1);
    return table[start + width] - mean.reduce((sum, value, place) => sum + value * table[start + place], 0);
  });
  const shared = biases.reduce((sum, bias) => sum + bias, 0) / count;
  biases.forEach((bias, number) => (table[number * (width + 1) + width] = bias - shared));
  return table;
}

/** Minimizes a smooth convex function by L-BFGS (Nocedal & Wright 2006, chapter 7) with a backtracking line search. */
function minimum(lossAndGradient, start, precision) {
  let point = start;
  let [loss, gradient] = lossAndGradient(start);
  let steps = [];
  for (let number = 0; number < MOST_STEPS; number++) {
    if (gradient.every((value) => Math.abs(value) <= precision)) break;
    const direction = twoLoops(gradient, steps).map((value) => -value);
    const slope = dot(direction, gradient);
    let size = steps.length > 0 ? 1 : Math.min(1, 1 / gradient.reduce((sum, value) => sum + Math.abs(value), 0));
    let moved, newLoss, newGradient;
    for (;;) {
      moved = point.map((value, place) => value + size * direction[place]);
      [newLoss, newGradient] = lossAndGradient(moved);
      if (newLoss <= loss + ENOUGH * size * slope || size < SHORTEST_STEP) break;
      size /= 2;
    }
    const change = moved.map((value, place) => value - point[place]);
    const difference = newGradient.map((value, place) => value - gradient[place]);
    const curvature = dot(change, difference);
    if (size < SHORTEST_STEP || !(curvature > 0)) break; // the numbers resolve no more
    steps = [...steps.slice(1 - HISTORY), { change, difference, inverse: 1 / curvature }];
    [point, loss, gradient] = [moved, newLoss, newGradient];
  }
  return point;
}

/** The gradient times the approximation of the inverse Hessian that the last steps give. */
function twoLoops(gradient, steps) {
  const result = gradient.slice();
  const shares = [];
  for (const { change, difference, inverse } of [...steps].reverse()) {
    const share = inverse * dot(change, result);
    addTo(result, 0, difference, -share, result.length);
    shares.push(share);
  }
  const last = steps.at(-1);
  const scale = last ? 1 / (last.inverse * dot(last.difference, last.difference)) : 1;
  result.forEach((value, place) => (result[place] = value * scale));
  for (const { change, difference, inverse } of steps) {
    addTo(result, 0, change, shares.pop() - inverse * dot(difference, result), result.length);
  }
  return result;
}

function sharesOf(table, width, vector) {
  return softmax(logitsOf(table, width, vector));
}

function logitsOf(table, width, vector) {
  return Float64Array.from({ length: table.length / (width + 1) }, (_, number) => {
    const start = number * (width + 1);
    let sum = 0;
    for (let place = 0; place < width; place++) sum += vector[place] * table[start + place];
    return sum + table[start + width];
  });
}

function softmax(logits) {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const shares = logits.map((logit) => Math.exp(logit - largest));
  const total = shares.reduce((sum, share) => sum + share, 0);
  return shares.map((share) => share / total);
}

function argMax(values) {
  return values.reduce((best, value, place) => (value > values[best] ? place : best), 0);
}

function addTo(target, start, values, factor, length) {
  for (let place = 0; place < length; place++) target[start + place] += factor * values[place];
}

function dot(one, other) {
  let sum = 0;
  for (let place = 0; place < one.length; place++) sum += one[place] * other[place];
  return sum;
}
