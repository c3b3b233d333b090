package kerasbert.screens

/** A file that a person saves. */
sealed class Saving {
    /** None was asked for, or what was saved has changed. */
    object None : Saving()

    /** It is being made and written. */
    data class Running(val name: String) : Saving()

    /** It was written. */
    data class Done(val name: String) : Saving()

    /** It was not written. */
    data class Failed(val failure: Failure) : Saving()
}

/** The place that the person chose for a file. All members but the name are for the background thread. */
interface Destination {
    /** The name of the file, as the person knows it. */
    val name: String

    /**
     * Writes the whole file.
     *
     * @throws java.io.IOException when it cannot be written.
     * @throws kerasbert.core.KerasBertException when it must not be.
     */
    fun write(content: ByteArray)

    /** No file could be made or written: removes what is there of it, such as an empty file or its beginning. */
    fun discard()
}
