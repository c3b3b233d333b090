package kerasbert.desktop.commands

import java.security.MessageDigest
import kerasbert.core.file.Metadata
import kerasbert.core.file.ModelFile
import kerasbert.core.file.Port

/** Prints what a file says about itself: the fields of its `kerasbert.json`, its labels, a digest of its vocabulary, and its signatures. */
internal fun inspect(arguments: Arguments): Int {
    val file = ModelFile.open(arguments.model())
    Output().use { output ->
        output.write(
            fields(file.metadata) + mapOf(
                "labels" to file.metadata.labels,
                "vocabulary" to file.metadata.vocabulary?.let { mapOf("tokens" to it.size, "sha256" to digest(it)) },
                "bytes" to file.bytes,
                "min_runtime_version" to file.minRuntime,
                "signatures" to file.signatures.map { mapOf("name" to it.name, "inputs" to ports(it.inputs), "outputs" to ports(it.outputs)) },
            ),
        )
    }
    return 0
}

private fun fields(metadata: Metadata): Map<String, Any?> = mapOf(
    "task" to metadata.task,
    "problem" to metadata.type.key,
    "settings" to metadata.settings,
    "signature" to metadata.signature,
    "sequence_length" to metadata.sequenceLength,
    "row_length" to metadata.rowLength,
    "lengths" to metadata.lengths,
    "inputs" to metadata.inputs,
    "recipe" to metadata.recipe,
    "integer_only" to metadata.integerOnly,
    "target" to metadata.target,
    "parameters" to metadata.parameters,
    "weights" to metadata.weights,
    "vocab_size" to metadata.vocabularySize,
    "tokenizer" to metadata.tokenizer,
    "kerasbert" to metadata.version,
) + (metadata.exits?.let { mapOf("exits" to it, "exit_threshold" to metadata.exitThreshold) } ?: emptyMap())

private fun ports(ports: Map<String, Port>): Map<String, Any?> =
    ports.mapValues { (_, port) -> mapOf("type" to port.type, "shape" to port.shape) }

private fun digest(lines: List<String>): String {
    val sha256 = MessageDigest.getInstance("SHA-256")
    for (line in lines) sha256.update("$line\n".toByteArray())
    return sha256.digest().joinToString("") { "%02x".format(it) }
}
