package kerasbert.screens

import kerasbert.core.KerasBertException

/** The kinds of failures, each with a sentence of its own in the app's languages. */
enum class FailureKind {
    /** There is no model for the task of the screen. */
    NO_MODEL,

    /** The model is for another task. */
    OTHER_TASK,

    /** The file is no model of kerasbert, damaged, or of a newer format. */
    UNREADABLE_MODEL,

    /** The runtime or the accelerator rejects the model. */
    ENGINE,

    /** The memory does not suffice. */
    MEMORY,

    /** A file of texts cannot be read. */
    UNREADABLE_TEXTS,

    /** A file of an index cannot be read, or is of another model. */
    UNREADABLE_INDEX,

    /** The storage is full or cannot be written. */
    STORAGE,

    /** A file that the person asked for cannot be made or written. */
    SAVING,
}

/**
 * What went wrong.
 *
 * @property kind decides the sentence that a person reads first.
 * @property detail what was expected and what was received, in English; may be empty.
 */
data class Failure(val kind: FailureKind, val detail: String = "")

/** Describes an error of some work. `kind` is for errors that do not tell their kind themselves. */
internal fun failureOf(error: Throwable, kind: FailureKind): Failure = when (error) {
    is FailedException -> error.failure
    is OutOfMemoryError -> Failure(FailureKind.MEMORY)
    is KerasBertException -> Failure(kind, error.message.orEmpty())
    else -> Failure(kind, "${error.javaClass.simpleName}: ${error.message.orEmpty()}".trimEnd(' ', ':'))
}

/** An error whose failure is already known. */
internal class FailedException(val failure: Failure) : Exception(failure.detail)
