package kerasbert.desktop.litert

import kerasbert.core.KerasBertException

private val STATUS = mapOf(
    1 to "an invalid argument", 2 to "not enough memory", 3 to "a failure of the runtime", 4 to "a missing input", 5 to "an unsupported model",
    6 to "something that was not found", 8 to "the wrong version", 500 to "a file that cannot be read", 501 to "an invalid FlatBuffer",
    504 to "a failed compilation",
)

/** @throws KerasBertException unless a function succeeded. */
internal fun check(status: Int, action: String) {
    if (status != 0) throw refusal(action, STATUS[status] ?: "an error")
}

internal fun refusal(action: String, received: String) =
    KerasBertException("expected LiteRT to $action, received $received; convert the model again, or use the version of LiteRT that is pinned")
