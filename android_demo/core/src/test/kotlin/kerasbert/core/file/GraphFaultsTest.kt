package kerasbert.core.file

import org.junit.Assert.assertEquals
import org.junit.Assert.assertNotNull
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

private const val ADD = 0
private const val FULLY_CONNECTED = 9
private const val CUSTOM = 32

class GraphFaultsTest {
    private fun tensor(
        vararg shape: Int,
        type: String = "float32",
        open: IntArray = shape,
        bytes: Long = 0,
        quantization: Quantization? = null,
        isVariable: Boolean = false,
    ) = GraphTensor(type, open, shape, bytes, quantization, isVariable, false)

    private fun check(tensors: List<GraphTensor>, operators: List<GraphOperator>, inputs: IntArray, outputs: IntArray) =
        GraphFaults(Graph(tensors, operators, inputs, outputs)).check()

    private fun call(code: Int, inputs: List<Int>, vararg outputs: Int) = GraphOperator(code, inputs.toIntArray(), outputs)

    private fun fault(block: () -> Unit): String = assertThrows(DamagedException::class.java, block).message.orEmpty()

    /** A graph that adds a constant to its input. */
    private fun sum(constant: GraphTensor = tensor(1, 4, bytes = 16), vararg calls: GraphOperator = arrayOf(call(ADD, listOf(0, 1), 2))) =
        check(listOf(tensor(1, 4), constant, tensor(1, 4)), calls.toList(), intArrayOf(0), intArrayOf(2))

    @Test
    fun `a sound graph passes`() {
        sum()
        check(listOf(tensor(1, 8, open = intArrayOf(1, -1)), tensor(1, 8)), listOf(call(CUSTOM, listOf(0), 1)), intArrayOf(0), intArrayOf(1))
        check(listOf(tensor(1, isVariable = true), tensor(1)), listOf(call(CUSTOM, listOf(0, -1), 1)), intArrayOf(), intArrayOf(1))
    }

    @Test
    fun `tensors whose sizes contradict each other`() {
        assertTrue("tensor 1 with 17 bytes for float32[1, 4], 16 bytes" in fault { sum(tensor(1, 4, bytes = 17)) })
        assertTrue("the shapes [1, 4] and [1, 5]" in fault { sum(tensor(1, 4, open = intArrayOf(1, 5), bytes = 16)) })
        assertTrue("the shape [65536, 65536]" in fault { sum(tensor(65536, 65536)) })
        assertTrue("the shape" in fault { sum(tensor(*IntArray(8) { Int.MAX_VALUE })) })
        assertTrue("9 axes" in fault { sum(tensor(*IntArray(9) { 1 })) })
        assertTrue("the unknown type type_99" in fault { sum(tensor(1, type = "type_99")) })
    }

    @Test
    fun `tensors with wrong scales and zero points`() {
        fun quantized(scales: Int, zeros: Int, range: LongRange, isSound: Boolean = true, axis: Int = 0) =
            fault { sum(tensor(4, 2, type = "int8", bytes = 8, quantization = Quantization(scales, axis, zeros, range, isSound))) }
        assertTrue("a zero point outside -128..127" in quantized(1, 1, 0L..128L))
        assertTrue("a scale that is negative" in quantized(1, 1, 0L..0L, isSound = false))
        assertTrue("4 scales and 1 zero points" in quantized(4, 1, 0L..0L))
        assertTrue("4 scales along axis 1" in quantized(4, 4, 0L..0L, axis = 1))
        assertTrue("4 scales along axis -1" in quantized(4, 4, 0L..0L, axis = -1))
        sum(tensor(4, 2, type = "int8", bytes = 8, quantization = Quantization(4, 0, 4, -128L..127L, true)))
    }

    @Test
    fun `operators with a wrong number or kind of inputs`() {
        assertTrue("an operator ADD of 3 inputs" in fault { sum(calls = arrayOf(call(ADD, listOf(0, 1, 1), 2))) })
        assertTrue("of texts" in fault { sum(tensor(1, 4, type = "string", bytes = 9)) })
    }

    @Test
    fun `tensors that are read too early, or written twice`() {
        assertTrue("reads tensor 2 before it is written" in fault { sum(calls = arrayOf(call(ADD, listOf(0, 2), 2))) })
        assertTrue("writes tensor 2, which has values" in fault { sum(calls = Array(2) { call(ADD, listOf(0, 1), 2) }) })
        assertTrue("writes tensor 1, which has values" in fault { sum(calls = arrayOf(call(ADD, listOf(0, 0), 1))) })
        assertTrue("writes tensor 0, which has values" in fault { sum(calls = arrayOf(call(ADD, listOf(0, 0), 0))) })
        assertTrue("an output, tensor 2, that nothing writes" in fault { sum(calls = emptyArray()) })
        val constant = listOf(tensor(1, bytes = 4))
        assertTrue("a constant, tensor 0, as an input" in fault { check(constant, emptyList(), intArrayOf(0), intArrayOf()) })
    }

    @Test
    fun `inputs that an operator needs`() {
        assertEquals("an output", OperatorRules.missing(ADD, intArrayOf(0, 1), intArrayOf()))
        assertEquals("an output", OperatorRules.missing(ADD, intArrayOf(0, 1), intArrayOf(-1)))
        assertEquals("an input", OperatorRules.missing(ADD, intArrayOf(0, -1), intArrayOf(2)))
        assertEquals("an input", OperatorRules.missing(ADD, intArrayOf(), intArrayOf(2)))
        assertNull(OperatorRules.missing(FULLY_CONNECTED, intArrayOf(0, 1, -1), intArrayOf(2)))
        assertEquals("an input", OperatorRules.missing(FULLY_CONNECTED, intArrayOf(0, -1, 1), intArrayOf(2)))
        assertEquals("a second input", OperatorRules.missing(FULLY_CONNECTED, intArrayOf(0), intArrayOf(2)))
        assertNull(OperatorRules.missing(CUSTOM, intArrayOf(), intArrayOf()))
        assertNotNull(OperatorRules.wrongCount(FULLY_CONNECTED, 1))
        assertNull(OperatorRules.wrongCount(FULLY_CONNECTED, 3))
        assertNull(OperatorRules.wrongCount(CUSTOM, 99))
    }
}
