package kerasbert.core

import java.io.File
import org.junit.Assert.assertTrue
import org.junit.Assert.fail

/** The folder of the tiny models, see `testdata/make_models.py`. */
internal val modelsFolder: File
    get() = File(System.getProperty("kerasbert.testdata") ?: "../testdata", "models").also {
        check(it.isDirectory) { "expected the folder of the tiny models, received $it; set -Dkerasbert.testdata" }
    }

/** Asserts that a block is refused with a message that names what was wrong. */
internal fun assertRefused(part: String, block: () -> Unit) {
    try {
        block()
    } catch (error: KerasBertException) {
        val message = error.message.orEmpty()
        assertTrue("expected '$part' in the message, received: $message", part in message)
        assertTrue("expected one line, received: $message", '\n' !in message)
        return
    }
    fail("expected a refusal with '$part', received none")
}
