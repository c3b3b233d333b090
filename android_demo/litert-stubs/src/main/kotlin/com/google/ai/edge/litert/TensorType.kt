package com.google.ai.edge.litert

/** The type and the shape of a tensor. */
data class TensorType @JvmOverloads constructor(val elementType: ElementType, val layout: Layout? = null) {
    /** What a tensor's numbers are. */
    enum class ElementType {
        INT,
        FLOAT,
        INT8,
        BOOLEAN,
        INT64,
    }

    /** The shape of a tensor. */
    data class Layout @JvmOverloads constructor(val dimensions: List<Int>, val strides: List<Int> = listOf()) {
        val rank: Int
            get() = dimensions.size
    }
}
