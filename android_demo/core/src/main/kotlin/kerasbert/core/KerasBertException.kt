package kerasbert.core

/**
 * An error that a person can act on.
 *
 * The message is one sentence or two: what was expected, what was received, what to do.
 */
class KerasBertException(message: String, cause: Throwable? = null) : Exception(message, cause)
