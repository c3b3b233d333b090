package kerasbert.core.file

import java.util.Random
import kerasbert.core.assertRefused
import org.junit.Assert.assertEquals
import org.junit.Assert.assertTrue
import org.junit.Test

class JsonTest {
    private fun parse(text: String) = Json.parse(text, "a text")

    @Test
    fun `values of every kind are read`() {
        val value = parse("\uFEFF { \"a\" : [1, -2.5e1, true, false, null, \"x\"], \"b\": {}, \"c\": [] } ")
        assertEquals(mapOf("a" to listOf(1L, -25.0, true, false, null, "x"), "b" to emptyMap<String, Any>(), "c" to emptyList<Any>()), value)
    }

    @Test
    fun `escapes are read, and a surrogate pair is one character`() {
        assertEquals("\"\\/\b\u000C\n\r\té😀", parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\""))
    }

    @Test
    fun `whole numbers that no long holds are doubles`() {
        assertEquals(Long.MAX_VALUE, parse("9223372036854775807"))
        assertEquals(9.223372036854775807e18, parse("9223372036854775808"))
        assertEquals(1e30, parse("1000000000000000019884624838656"))
        assertRefused("a number of 101 digits") { parse("1".repeat(101)) }
    }

    @Test
    fun `the last of equal names counts, as in Python`() = assertEquals(mapOf("a" to 2L), parse("{\"a\": 1, \"a\": 2}"))

    @Test
    fun `what is no JSON is refused`() {
        for (text in listOf(
            "", "  ", "{", "[1,]", "[1 2]", "{\"a\" 1}", "{a: 1}", "{\"a\": 1,}", "01", "-", "1.", ".5", "1e", "+1", "NaN", "Infinity", "nul",
            "'a'", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\u0001\"", "1 2", "[1]]", "\"\\", "\"\\u\uFF11\uFF11\uFF11\uFF11\"",
        )) {
            assertRefused("a text: expected JSON, received") { parse(text) }
        }
        assertRefused("half of a surrogate pair (\\ud800)") { parse("\"\\ud800\"") }
        assertRefused("half of a surrogate pair (\\udc00)") { parse("\"\\udc00\\ud800\"") }
    }

    @Test
    fun `nesting and the number of values are bounded`() {
        parse("[".repeat(100) + "]".repeat(100))
        assertRefused("nested more than 100 levels") { parse("[".repeat(102) + "]".repeat(102)) }
        assertRefused("nested more than 100 levels") { parse("{\"a\":".repeat(100_000)) }
        assertRefused("more than 262144 values") { parse("[" + "[],".repeat(300_000) + "1]") }
    }

    @Test
    fun `values are written as Python writes them`() {
        val value = linkedMapOf(
            "text" to "a\"b\\c\n\t\u0001é😀", "none" to null, "flag" to true, "count" to 3, "long" to (1L shl 40), "double" to 0.1,
            "float" to 0.1f, "floats" to floatArrayOf(1f, -0.25f), "ints" to intArrayOf(1, 2), "list" to listOf("a", listOf(1.0)),
        )
        val expected = "{\"text\": \"a\\\"b\\\\c\\n\\t\\u0001é😀\", \"none\": null, \"flag\": true, \"count\": 3, \"long\": 1099511627776, " +
            "\"double\": 0.1, \"float\": 0.1, \"floats\": [1.0, -0.25], \"ints\": [1, 2], \"list\": [\"a\", [1.0]]}"
        assertEquals(expected, Json.write(value))
    }

    @Test
    fun `characters that control a terminal, and lone surrogates, are escaped`() {
        assertEquals("\"\\u001b\\u007f\\u009b\\u202e\\u2028\\ufeff\\ud800 \\udc00\"", Json.write("\u001b\u007f\u009b\u202e\u2028\ufeff\ud800 \udc00"))
    }

    @Test
    fun `numbers that are not finite become null`() =
        assertEquals("[null, null, null]", Json.write(listOf(Double.NaN, Double.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY)))

    @Test
    fun `doubles have the digits of Python's repr`() {
        // The pairs are literals and what Python 3.11 prints for them.
        for ((value, expected) in listOf(
            0.0 to "0.0", -0.0 to "-0.0", 1.0 to "1.0", 100.0 to "100.0", 1e15 to "1000000000000000.0", 1e16 to "1e+16",
            123456789012345678.0 to "1.2345678901234568e+17", 0.0001 to "0.0001", 0.00001 to "1e-05", 1.5e-5 to "1.5e-05",
            1e100 to "1e+100", 5e-324 to "5e-324", 2.5e-323 to "2.5e-323", 2.2250738585072014e-308 to "2.2250738585072014e-308",
            1.7976931348623157e308 to "1.7976931348623157e+308", 0.1 + 0.2 to "0.30000000000000004", 2.0 / 3 to "0.6666666666666666",
            Math.pow(2.0, -44.0) to "5.684341886080802e-14", 9007199254740992.0 to "9007199254740992.0", 2e-3 to "0.002",
            0.98736244440078735 to "0.9873624444007874", -1234.5 to "-1234.5", 4.35 to "4.35", 1.1370766372920116e-07 to "1.1370766372920116e-07",
        )) {
            assertEquals(expected, Json.write(value))
        }
    }

    @Test
    fun `floats have the digits of NumPy's str of float32`() {
        for ((value, expected) in listOf(
            0.1f to "0.1", 16777216f to "16777216.0", 1e-45f to "1e-45", 3.4028235e38f to "3.4028235e+38", 1.17549435e-38f to "1.1754944e-38",
            0.33333334f to "0.33333334", 7.006492e-45f to "7e-45", 1e10f to "10000000000.0", 9.999999e-5f to "9.999999e-05",
        )) {
            assertEquals(expected, Json.write(value))
        }
    }

    @Test
    fun `numbers are read back as they were, and are no longer than Java's`() {
        val draw = Random(5)
        repeat(20_000) {
            val double = java.lang.Double.longBitsToDouble(draw.nextLong())
            val float = java.lang.Float.intBitsToFloat(draw.nextInt())
            if (!double.isNaN() && !double.isInfinite()) {
                assertEquals(double, Json.write(double).toDouble(), 0.0)
                assertTrue("$double", digits(Json.write(double)) <= digits(double.toString()))
            }
            if (!float.isNaN() && !float.isInfinite()) assertEquals(float, Json.write(float).toFloat(), 0f)
        }
    }

    private fun digits(number: String) = number.lowercase().substringBefore('e').filter(Char::isDigit).trim('0').length
}
