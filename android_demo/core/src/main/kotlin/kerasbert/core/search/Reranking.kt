package kerasbert.core.search

import kotlin.math.sqrt

/**
 * A text that was found, with the score of a model of pairs.
 *
 * @property match the text, with its cosine.
 * @property score the model's score of the query and the text.
 */
data class Reranked(val match: Match, val score: Float)

/** Orders texts that were found by the scores of a model of pairs too, as `kerasbert search --rerank` does. */
object Reranking {
    /** The weight of the model's scores where none is given. */
    const val WEIGHT = 0.5

    /**
     * Scores texts, and orders them by both scores.
     *
     * @param query the query.
     * @param found what [SentenceSearch.search] found.
     * @param weight the weight of the model's scores, from 0 to 1; the cosines have the rest.
     * @param score returns the score of the query and a text, such as that of `Regression.score`.
     * @return the texts, best first.
     */
    fun rerank(query: String, found: List<Match>, weight: Double = WEIGHT, score: (String, String) -> Float): List<Reranked> {
        val scored = found.map { Reranked(it, score(query, it.text)) }
        return order(scored.map { it.match.score.toDouble() }, scored.map { it.score.toDouble() }, weight).map(scored::get)
    }

    /**
     * Orders candidates by the weighted mean of two kinds of scores, each standardized over the candidates.
     *
     * @param cosines the similarity of each candidate to the query.
     * @param scores the score of each by a model of pairs.
     * @param weight the weight of [scores], from 0 to 1.
     * @return the places of the candidates, the best first; equal ones in the order in which they came.
     */
    fun order(cosines: List<Double>, scores: List<Double>, weight: Double): List<Int> {
        val one = standardized(scores)
        val other = standardized(cosines)
        val mean = one.indices.map { weight * one[it] + (1 - weight) * other[it] }
        return mean.indices.sortedByDescending(mean::get)
    }

    private fun standardized(values: List<Double>): List<Double> {
        val mean = values.sum() / values.size
        val deviation = sqrt(values.sumOf { (it - mean) * (it - mean) } / values.size)
        return values.map { if (deviation > 0) (it - mean) / deviation else 0.0 }
    }
}
