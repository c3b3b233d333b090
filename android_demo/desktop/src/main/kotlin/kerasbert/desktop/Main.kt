package kerasbert.desktop

import java.io.IOException
import kerasbert.core.KerasBertException
import kerasbert.desktop.commands.Arguments
import kerasbert.desktop.commands.USAGE
import kerasbert.desktop.commands.inspect
import kerasbert.desktop.commands.note
import kerasbert.desktop.commands.predict
import kerasbert.desktop.commands.search
import kerasbert.desktop.commands.tokenize
import kerasbert.desktop.window.window
import kotlin.system.exitProcess

private const val FAILURE = 1
private const val BAD_INPUT = 2

/** A command: the words that it takes, itself included, and its action. */
private class Command(val words: List<String>, val run: (Arguments) -> Int) {
    fun takes(count: Int) = words.last().endsWith("...]") || count == words.size
}

private val COMMANDS = listOf(
    Command(listOf("tokenize", "MODEL"), ::tokenize),
    Command(listOf("predict", "MODEL"), ::predict),
    Command(listOf("search", "MODEL", "TEXTS"), ::search),
    Command(listOf("inspect", "MODEL"), ::inspect),
    Command(listOf("window", "[MODEL...]"), ::window),
).associateBy { it.words[0] }

/** The command line, with the exit codes of `kerasbert`: 0 on success, 2 for a wrong input, 1 for other failures. */
fun main(words: Array<String>) {
    val code = try {
        run(words.toList())
    } catch (error: KerasBertException) {
        note("error: ${oneLine(error)}")
        BAD_INPUT
    } catch (error: IOException) {
        // The reader of the standard output has stopped, or a disk failed.
        if (error.message != "Broken pipe") note("error: ${oneLine(error)}")
        FAILURE
    } catch (error: OutOfMemoryError) {
        note("error: there is not enough memory (${oneLine(error)}); try a smaller model or fewer texts")
        FAILURE
    }
    exitProcess(code)
}

private fun run(words: List<String>): Int {
    if (words.isEmpty() || words[0] in listOf("-h", "--help", "help")) {
        println(USAGE)
        return 0
    }
    val arguments = Arguments(words)
    val command = COMMANDS[arguments[0]]
        ?: throw KerasBertException("expected a command among ${COMMANDS.keys.joinToString(", ")}, received ${arguments[0]}; see --help")
    if (!command.takes(arguments.size)) {
        throw KerasBertException("expected ${command.words.joinToString(" ")}, received ${arguments.size} words; see --help")
    }
    return command.run(arguments)
}

private fun oneLine(error: Throwable) = (error.message ?: error.javaClass.simpleName).lines().joinToString(" ") { it.trim() }
