package kerasbert.screens

import java.text.NumberFormat
import java.util.Locale

private const val MEGABYTE = 1e6
private const val KILOBYTE = 1e3

// Probabilities between these are not shown as 0 or 100 percent.
private const val LEAST = 0.0005f
private const val MOST = 0.9995f

/** Numbers as a person reads them, in the language of a locale. */
class Numbers(private val locale: Locale) {
    /** A probability in percent, without the sign. */
    fun percent(probability: Float): String = format(100.0 * probability, if (probability in LEAST..MOST) 1 else 0)

    /** A time in milliseconds, without the unit, in three digits or so. */
    fun milliseconds(time: Double): String = format(time, if (time < 10) 2 else if (time < 100) 1 else 0)

    /** A similarity. */
    fun similarity(cosine: Float): String = format(cosine.toDouble(), 2)

    /** A whole number. */
    fun whole(number: Int): String = format(number.toDouble(), 0)

    /** A size in megabytes or kilobytes, as kerasbert prints it. */
    fun bytes(size: Long): String =
        if (size < MEGABYTE) "${format(size / KILOBYTE, 0)} kB" else "${format(size / MEGABYTE, 1)} MB"

    private fun format(number: Double, digits: Int): String = NumberFormat.getNumberInstance(locale).apply {
        minimumFractionDigits = digits
        maximumFractionDigits = digits
    }.format(number)
}
