package kerasbert.core.search

import kerasbert.core.KerasBertException

/** The factor of cosines in the softmax, with which sentence encoders are commonly trained: 0.05 more is e times the probability. */
const val COSINE_SCALE = 20.0

private const val SMALLEST_NORM = 1e-6 // of a mean of vectors of norm 1; what is below is rounding

/**
 * A class with its probability.
 *
 * @property name the name of the class.
 * @property cosine the cosine of the text with the centre of the class.
 * @property probability the share of `exp(20 cosine)` among all classes.
 */
data class TaughtClass(val name: String, val cosine: Double, val probability: Double)

/**
 * Classes that are taught by a few examples each, without training: a text belongs to the class whose centre is nearest.
 *
 * The centre of a class is the mean of its examples' vectors, each of norm 1 (a nearest-centroid classifier; for learned vectors: Snell et
 * al. 2017, "Prototypical Networks for Few-shot Learning").
 *
 * @property dimensions the numbers in a vector.
 */
class TaughtClasses(val dimensions: Int) {
    private class Taught(val text: String, val vector: DoubleArray)

    private val classes = LinkedHashMap<String, ArrayList<Taught>>()

    /** The examples of each class, in the order in which classes were added. */
    val examples: Map<String, List<String>> get() = classes.mapValues { (_, taught) -> taught.map { it.text } }

    /** Whether there is something to choose: two classes with an example each. */
    val canClassify: Boolean get() = classes.count { it.value.isNotEmpty() } >= 2

    /** Adds a class without examples, unless there is one of that name. */
    fun addClass(name: String) {
        if (name.isBlank()) throw KerasBertException("expected a name of a class, received none; name it")
        classes.getOrPut(name) { ArrayList() }
    }

    /** Removes a class with its examples. */
    fun removeClass(name: String) {
        classes.remove(name)
    }

    /**
     * Adds an example to a class.
     *
     * @param vector the vector of the text, of any norm.
     */
    fun add(name: String, text: String, vector: FloatArray) {
        val unit = unit(vector)
        addClass(name)
        classes.getValue(name).add(Taught(text, unit))
    }

    /** Removes an example of a class. */
    fun removeAt(name: String, example: Int) {
        val taught = classes[name] ?: throw KerasBertException("expected one of the classes ${classes.keys}, received '$name'")
        if (example !in taught.indices) throw KerasBertException("expected an example from 0 to ${taught.size - 1}, received $example")
        taught.removeAt(example)
    }

    /**
     * Classifies a text.
     *
     * @param vector the vector of the text, of any norm.
     * @return the classes with examples, the nearest first; of equal ones the one that was added first.
     * @throws KerasBertException when there are not two classes with examples.
     */
    fun classify(vector: FloatArray): List<TaughtClass> {
        if (!canClassify) throw KerasBertException("expected examples of at least two classes, received fewer; add some")
        val unit = unit(vector)
        val cosines = classes.filterValues { it.isNotEmpty() }.mapValues { (_, taught) -> cosineWithCentre(unit, taught) }
        val largest = cosines.values.max()
        val weights = cosines.mapValues { (_, cosine) -> Math.exp(COSINE_SCALE * (cosine - largest)) }
        val total = weights.values.sum()
        return cosines.map { (name, cosine) -> TaughtClass(name, cosine, weights.getValue(name) / total) }.sortedByDescending { it.cosine }
    }

    private fun cosineWithCentre(unit: DoubleArray, taught: List<Taught>): Double {
        val centre = DoubleArray(dimensions) { place -> taught.sumOf { it.vector[place] } }
        val norm = norm(centre)
        if (norm <= SMALLEST_NORM * taught.size) return 0.0 // examples that cancel each other have no direction
        var product = 0.0
        for (place in unit.indices) product += unit[place] * centre[place]
        return product / norm
    }

    private fun unit(vector: FloatArray): DoubleArray {
        if (vector.size != dimensions) {
            throw KerasBertException("expected a vector of $dimensions dimensions, received ${vector.size}; encode texts with the same model")
        }
        val values = DoubleArray(dimensions) { vector[it].toDouble() }
        val norm = norm(values)
        if (norm.isNaN() || norm.isInfinite()) {
            throw KerasBertException("expected a vector of finite numbers, received others; the model is damaged, convert it again")
        }
        return if (norm == 0.0) values else DoubleArray(dimensions) { values[it] / norm }
    }

    private fun norm(values: DoubleArray): Double {
        var squares = 0.0
        for (value in values) squares += value * value
        return Math.sqrt(squares)
    }
}
