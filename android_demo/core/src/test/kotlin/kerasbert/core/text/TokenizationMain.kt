package kerasbert.core.text

import java.io.File
import java.lang.management.ManagementFactory
import java.security.MessageDigest
import kerasbert.core.file.Json

/**
 * The engine of `benchmarks/latency/jvm_tokenization.py`: tokenizes all texts once for each line of standard input.
 *
 * Arguments: a file with the settings as JSON, one with the vocabulary and one with the texts, one on each line. The first answer has the
 * seconds to make the tokenizer and to tokenize the first text, and a digest of all ids; the others have the seconds of one round.
 */
fun main(arguments: Array<String>) {
    val (settings, vocabulary, texts) = arguments.map { File(it).readText() }
    @Suppress("UNCHECKED_CAST")
    val parsed = Json.parse(settings, arguments[0]) as Map<String, Any?>
    val tokens = vocabulary.removeSuffix("\n").split("\n")
    val lines = texts.removeSuffix("\n").split("\n")
    val before = System.nanoTime()
    val tokenizer = tokenizerOf(parsed, tokens)
    val made = System.nanoTime()
    tokenizer.tokens(lines[0])
    val first = mapOf("make_seconds" to (made - before) / 1e9, "first_text_seconds" to (System.nanoTime() - made) / 1e9)
    println(Json.write(first + mapOf("digest" to digest(tokenizer, lines))))
    val clock = ManagementFactory.getThreadMXBean()
    while (readLine() != null) {
        val start = System.nanoTime()
        val processorStart = clock.currentThreadCpuTime
        var count = 0L
        for (line in lines) count += tokenizer.tokens(line).size
        val seconds = (System.nanoTime() - start) / 1e9
        val processorSeconds = (clock.currentThreadCpuTime - processorStart) / 1e9
        println(Json.write(mapOf("tokens" to count, "seconds" to seconds, "processor_seconds" to processorSeconds)))
    }
}

/** A digest of the ids of all texts, each text's number of tokens before them. */
private fun digest(tokenizer: Tokenizer, lines: List<String>): String {
    val digest = MessageDigest.getInstance("SHA-256")
    for (line in lines) {
        val ids = tokenizer.tokens(line).ids
        digest.update("${ids.size}:${ids.joinToString(",")};".toByteArray())
    }
    return digest.digest().joinToString("") { "%02x".format(it) }
}
