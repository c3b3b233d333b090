package kerasbert.screens

/** Where the app keeps what a person taught or imported. All members are for the background thread. */
interface Store {
    /** Reads an entry; null if there is none. */
    fun read(name: String): ByteArray?

    /**
     * Writes an entry as a whole: a failure leaves the earlier one.
     *
     * @throws java.io.IOException when the storage is full or cannot be written.
     */
    fun write(name: String, content: ByteArray)
}
