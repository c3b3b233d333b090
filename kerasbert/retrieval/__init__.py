"""Search of texts by meaning: chunks, vectors in 8 bits or one, and one file that Python, Kotlin and JavaScript read."""
