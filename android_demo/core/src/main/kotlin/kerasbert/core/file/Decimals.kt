package kerasbert.core.file

import java.math.BigDecimal
import java.math.MathContext
import java.math.RoundingMode

// A decimal number of 15 (6) digits is recovered from the double (float) that is nearest to it; 17 (9) digits tell all of them apart.
private const val DOUBLE_SAFE = 15
private const val DOUBLE_MOST = 17
private const val FLOAT_SAFE = 6
private const val FLOAT_MOST = 9
private const val DOUBLE_FRACTION = (1L shl 52) - 1
private const val FLOAT_FRACTION = (1 shl 23) - 1
private val NEAREST = listOf(RoundingMode.HALF_EVEN)
private val EACH_SIDE = listOf(RoundingMode.HALF_EVEN, RoundingMode.FLOOR, RoundingMode.CEILING)

/**
 * The shortest decimal number that is read back as the same double, in the form of Python's `repr`.
 *
 * `Double.toString` is not always the shortest before Java 19, and its exponents are not Python's.
 */
internal fun decimal(value: Double): String {
    if (value == 0.0) return if (1 / value < 0) "-0.0" else "0.0"
    val size = Math.abs(value)
    val least = if (Math.getExponent(size) < java.lang.Double.MIN_EXPONENT) 1 else DOUBLE_SAFE
    val isPower = size.toRawBits() and DOUBLE_FRACTION == 0L
    return layOut(value < 0, shortest(BigDecimal(size), least, DOUBLE_MOST, isPower) { it.toDouble() == size })
}

/** The shortest decimal number that is read back as the same float, in the form of Python's `repr`. */
internal fun decimal(value: Float): String {
    if (value == 0f) return if (1 / value < 0) "-0.0" else "0.0"
    val size = Math.abs(value)
    val least = if (Math.getExponent(size) < java.lang.Float.MIN_EXPONENT) 1 else FLOAT_SAFE
    val isPower = size.toRawBits() and FLOAT_FRACTION == 0
    return layOut(value < 0, shortest(BigDecimal(size.toDouble()), least, FLOAT_MOST, isPower) { it.toFloat() == size })
}

/** @param isPower whether the number is a power of two: doubles lie closer below it, so the nearest decimal number may be no match. */
private fun shortest(exact: BigDecimal, least: Int, most: Int, isPower: Boolean, isSame: (String) -> Boolean): BigDecimal {
    val roundings = if (isPower) EACH_SIDE else NEAREST
    for (digits in least until most) {
        val candidates = roundings.map { exact.round(MathContext(digits, it)) }.filter { isSame(it.toString()) }
        candidates.minByOrNull { (it - exact).abs() }?.let { return it }
    }
    return exact.round(MathContext(most, RoundingMode.HALF_EVEN))
}

private fun layOut(isNegative: Boolean, number: BigDecimal): String {
    val digits = number.unscaledValue().toString().trimEnd('0')
    val point = number.precision() - number.scale() // the number is 0.DIGITS times ten to this power
    val size = when {
        point > 16 || point < -3 -> scientific(digits, point - 1)
        point <= 0 -> "0." + "0".repeat(-point) + digits
        digits.length <= point -> digits + "0".repeat(point - digits.length) + ".0"
        else -> digits.substring(0, point) + "." + digits.substring(point)
    }
    return if (isNegative) "-$size" else size
}

private fun scientific(digits: String, exponent: Int): String {
    val fraction = if (digits.length > 1) "." + digits.substring(1) else ""
    val size = Math.abs(exponent).toString().padStart(2, '0')
    return digits[0] + fraction + "e" + (if (exponent < 0) "-" else "+") + size
}
