package kerasbert.core.file

private const val CUSTOM = 32

/** The least and the most inputs of an operator, and whether it takes texts. */
internal class InputCount(val name: String, val least: Int, val most: Int, val takesTexts: Boolean)

/** The inputs that operators need, as `kerasbert.export.tflite` checks them in Python. Operators of other numbers are left to the runtime. */
internal object OperatorRules {
    /** Describes a tensor that a builtin operator lacks; null where it has all. Runtimes read it without checking, and crash. */
    fun missing(code: Int, inputs: IntArray, outputs: IntArray): String? {
        if (code == CUSTOM) return null
        val required = FIRST_OPTIONAL_INPUT[code]?.let { inputs.copyOf(minOf(it, inputs.size)) } ?: inputs
        return when {
            code !in NO_OUTPUTS && (outputs.isEmpty() || -1 in outputs) -> "an output"
            code !in NO_INPUTS && (required.isEmpty() || -1 in required) -> "an input"
            code in TWO_INPUTS && inputs.size < 2 -> "a second input"
            else -> null
        }
    }

    /** Describes a wrong number of inputs; null where it is right. */
    fun wrongCount(code: Int, inputs: Int): String? =
        INPUT_COUNTS[code]?.takeIf { inputs !in it.least..it.most }?.let { "an operator ${it.name} of $inputs inputs" }

    /** Whether an operator takes no texts. */
    fun takesNumbersOnly(code: Int): Boolean = INPUT_COUNTS[code]?.takesTexts == false
}
