package kerasbert.desktop.window

import java.util.Locale
import kerasbert.core.file.TaskType
import kerasbert.screens.Accelerator
import kerasbert.screens.FailureKind

/**
 * What the window says: the strings of the app.
 *
 * @property locale the language, and the form of numbers.
 */
internal class Words(val locale: Locale, private val file: StringsFile) {
    /** A string as it is. */
    operator fun get(name: String): String = checkNotNull(file.strings[name]) { "expected a string $name in strings.xml, received none" }

    /** A string with places such as `%1$s`, which are filled. */
    fun format(name: String, vararg arguments: Any): String = String.format(locale, get(name), *arguments)

    /**
     * A string that depends on a number, as in English and German, which have one form for 1 and one for all others.
     *
     * @param argument the number as it is shown.
     */
    fun plural(name: String, count: Int, argument: Any = count): String {
        val forms = checkNotNull(file.plurals[name]) { "expected plurals $name in strings.xml, received none" }
        return String.format(locale, forms["one"].takeIf { count == 1 } ?: forms.getValue("other"), argument)
    }

    /** The name of an accelerator. */
    fun nameOf(accelerator: Accelerator): String = this["accelerator_${keyOf(accelerator)}"]

    /** The name of a type of task. */
    fun nameOf(type: TaskType): String = this["task_${keyOf(type)}"]

    /** The sentence about a failure. */
    fun sentenceOf(kind: FailureKind): String = this["failure_${keyOf(kind)}"]

    private fun keyOf(constant: Enum<*>) = constant.name.lowercase(Locale.ROOT)

    companion object {
        /** The words in a language; in English where the app does not have it. */
        fun of(locale: Locale): Words {
            val english = StringsFile.read(AppResources.open("values/strings.xml"))
            val translation = AppResources.find("values-${locale.language}/strings.xml")?.let(StringsFile::read)
            return Words(locale, if (translation == null) english else english + translation)
        }
    }
}
