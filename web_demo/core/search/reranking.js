const WEIGHT = 0.5;

/**
 * Scores texts that were found with a model of pairs too, and orders them by both, as `kerasbert search --rerank` does.
 *
 * @param {string} query
 * @param {{text: string, score: number}[]} found what `SentenceSearch.search` found
 * @param {import("../tasks/regression.js").Regression} model a model with a score for a pair
 * @param {number} [weight] the weight of its scores, from 0 to 1; the cosines have the rest
 * @returns {Promise<object[]>} the texts, best first: `score` is the model's, `cosine` that of the search
 */
export async function rerank(query, found, model, weight = WEIGHT) {
  const scores = [];
  for (const { text } of found) scores.push((await model.score(query, text)).score);
  const order = combinedOrder(found.map(({ score }) => score), scores, weight);
  return order.map((place) => ({ ...found[place], score: scores[place], cosine: found[place].score }));
}

/**
 * Orders candidates by the weighted mean of two kinds of scores, each standardized over the candidates.
 *
 * @param {number[]} cosines the similarity of each candidate to the query
 * @param {number[]} scores the score of each by a model of pairs
 * @param {number} weight the weight of `scores`, from 0 to 1
 * @returns {number[]} the places of the candidates, the best first; equal ones in the order in which they came
 */
export function combinedOrder(cosines, scores, weight) {
  const [one, other] = [standardized(scores), standardized(cosines)];
  const mean = one.map((value, place) => weight * value + (1 - weight) * other[place]);
  return [...mean.keys()].sort((first, second) => mean[second] - mean[first] || first - second);
}

function standardized(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return values.map((value) => (deviation > 0 ? (value - mean) / deviation : 0));
}
