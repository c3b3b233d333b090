package kerasbert.core.tasks

/**
 * A prediction for one example. Positions in a text are UTF-16 units, as `String` counts.
 *
 * @property example the example.
 * @property isCut whether the model read a part of the example only, because it was too long.
 */
abstract class Prediction(val example: Example, val isCut: Boolean) {
    /** The layers that ran, the most of all rows of the example; null for a file without exits. */
    var layers: Int? = null
        private set

    /** The prediction's own fields in a record; positions are code points. */
    internal abstract fun fields(): Map<String, Any?>

    /** The fields of the example and of the prediction as in `kerasbert predict --json`. Positions are code points, as Python counts. */
    fun record(): Map<String, Any?> = example.fields() + fields() + listOfNotNull(layers?.let { "layers" to it.toLong() })

    internal fun setLayers(layers: Int?) {
        this.layers = layers
    }

    /** Whether no number is NaN or infinite: such numbers come from a damaged model, or one whose training diverged. */
    val isFinite: Boolean get() = isFinite(fields())
}

/** The prediction, with the layers that ran. */
internal fun <P : Prediction> P.after(layers: Int?): P = apply { setLayers(layers) }

private fun isFinite(value: Any?): Boolean = when (value) {
    is Map<*, *> -> value.values.all(::isFinite)
    is Iterable<*> -> value.all(::isFinite)
    is FloatArray -> value.none { it.isNaN() || it.isInfinite() }
    is Double -> !value.isNaN() && !value.isInfinite()
    else -> true
}
