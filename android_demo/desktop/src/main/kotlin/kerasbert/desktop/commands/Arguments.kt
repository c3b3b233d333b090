package kerasbert.desktop.commands

import java.io.File
import kerasbert.core.KerasBertException

internal const val USAGE = """usage: run COMMAND MODEL.tflite [OPTIONS] < INPUT

  tokenize MODEL           token ids and characters of each line
  predict MODEL            predictions of each line, in the form of `kerasbert predict --json`
  search MODEL TEXTS       the texts of a .txt, .csv or .kbindex file that are most similar to each line
  inspect MODEL            what the file says about itself; reads no input
  window [MODEL...]        the app's screens in a window, with the models of zoo/files or those named; reads no input

A line is a text or a pair {"text": ..., "pair": ...}; for predict also a question {"question": ..., "context": ...} or a
prompt {"prompt": ..., "choices": [...]}. MODEL is a file, or the name of one in zoo/files.

  --threads N         CPU threads (1)
  --top N             search: texts that are found for a line (10)
  --column NAME       search: the column of a table (the one with the longest texts)
  --rerank MODEL      search: a model of pairs, which scores the first texts too
  --candidates N      search: texts that it scores (20)
  --rerank-weight X   search: the weight of its scores, from 0 to 1; the cosines have the rest (0.5)
  --store FOLDER      window: where taught labels and imported texts are kept (~/.local/share/kerasbert-demo)"""

/** The words of a command line. */
internal class Arguments(words: List<String>) {
    private val values = ArrayList<String>()
    private val options = HashMap<String, String>()

    init {
        var at = 0
        while (at < words.size) {
            val word = words[at++]
            if (!word.startsWith("--")) {
                values += word
                continue
            }
            if (word !in OPTIONS) throw KerasBertException("expected an option among ${OPTIONS.joinToString(", ")}, received $word; correct it")
            options[word] = words.getOrNull(at++) ?: throw KerasBertException("expected a value after $word, received none; add it")
        }
    }

    /** The number of words that are no options. */
    val size: Int get() = values.size

    operator fun get(index: Int): String = values[index]

    fun text(name: String): String? = options[name]

    fun count(name: String, default: Int): Int {
        val text = options[name] ?: return default
        return text.toIntOrNull()?.takeIf { it >= 1 } ?: throw KerasBertException("expected $name of at least 1, received $text; correct it")
    }

    /** A number from 0 to 1. */
    fun share(name: String, default: Double): Double {
        val text = options[name] ?: return default
        val share = text.takeIf { SHARE.matches(it) }?.toDouble()
        return share?.takeIf { it <= 1 } ?: throw KerasBertException("expected $name from 0 to 1, received $text; correct it")
    }

    /** The file of a model that an option names. */
    fun file(name: String): File? = options[name]?.let(::fileOf)

    /** The file of a model: a path, or a name in the zoo. A path that exists is never a name. */
    fun model(): File = fileOf(values[1])

    /** The files of all models that are named. */
    fun models(): List<File> = values.drop(1).map(::fileOf)

    private fun fileOf(word: String): File {
        val file = File(word)
        val zoo = System.getProperty("kerasbert.zoo")?.let { File(it, "$word.tflite") }
        return if (!file.exists() && zoo != null && zoo.isFile) zoo else file
    }

    private companion object {
        val OPTIONS = listOf("--threads", "--top", "--column", "--rerank", "--candidates", "--rerank-weight", "--store")
        val SHARE = Regex("""\d*\.?\d+""")
    }
}
