package kerasbert.core.search

import kerasbert.core.KerasBertException

/**
 * A class with its probability.
 *
 * @property name the name of the class.
 * @property probability from 0 to 1.
 */
data class TaughtClass(val name: String, val probability: Double)

/**
 * Classes that are taught by a few examples each, without training of the encoder: the nearest centre or logistic regression, see
 * [TaughtLayer].
 *
 * @property dimensions the numbers in a vector.
 */
class TaughtClasses(val dimensions: Int) {
    private class Taught(val text: String, val vector: FloatArray)

    private val classes = LinkedHashMap<String, ArrayList<Taught>>()
    private var fitted: TaughtLayer? = null // until a class or an example changes

    /** The examples of each class, in the order in which classes were added. */
    val examples: Map<String, List<String>> get() = classes.mapValues { (_, taught) -> taught.map { it.text } }

    /** The names of the classes with examples, in the order of the layer. */
    val names: List<String> get() = classes.filterValues { it.isNotEmpty() }.keys.toList()

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
        fitted = null
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
        fitted = null
    }

    /** Removes an example of a class. */
    fun removeAt(name: String, example: Int) {
        val taught = classes[name] ?: throw KerasBertException("expected one of the classes ${classes.keys}, received '$name'")
        if (example !in taught.indices) throw KerasBertException("expected an example from 0 to ${taught.size - 1}, received $example")
        taught.removeAt(example)
        fitted = null
    }

    /**
     * Classifies a text.
     *
     * @param vector the vector of the text, of any norm.
     * @return the classes with examples, the likeliest first; of equal ones the one that was added first.
     * @throws KerasBertException when there are not two classes with examples.
     */
    fun classify(vector: FloatArray): List<TaughtClass> {
        val unit = unit(vector)
        val probabilities = layer.probabilities(unit)
        return names.mapIndexed { number, name -> TaughtClass(name, probabilities[number]) }.sortedByDescending { it.probability }
    }

    /**
     * The layer of the examples. It is fitted when it is first asked for after a change.
     *
     * @throws KerasBertException when there are not two classes with examples.
     */
    val layer: TaughtLayer
        get() = fitted ?: run {
            if (!canClassify) throw KerasBertException("expected examples of at least two classes, received fewer; add some")
            val taught = classes.values.filter { it.isNotEmpty() }
            val numbers = taught.flatMapIndexed { number, each -> List(each.size) { number } }
            TaughtLayer.fit(taught.flatten().map { it.vector }, numbers, taught.size)
        }.also { fitted = it }

    private fun unit(vector: FloatArray): FloatArray {
        if (vector.size != dimensions) {
            throw KerasBertException("expected a vector of $dimensions dimensions, received ${vector.size}; encode texts with the same model")
        }
        val values = DoubleArray(dimensions) { vector[it].toDouble() }
        val norm = norm(values)
        if (norm.isNaN() || norm.isInfinite()) {
            throw KerasBertException("expected a vector of finite numbers, received others; the model is damaged, convert it again")
        }
        return if (norm == 0.0) vector else FloatArray(dimensions) { (values[it] / norm).toFloat() }
    }

    private fun norm(values: DoubleArray): Double {
        var squares = 0.0
        for (value in values) squares += value * value
        return Math.sqrt(squares)
    }
}
