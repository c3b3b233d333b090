package kerasbert.core.search

import java.nio.ByteBuffer
import java.nio.ByteOrder
import kerasbert.core.KerasBertException
import kerasbert.core.file.Base64Bytes
import kerasbert.core.file.DESCRIPTION
import kerasbert.core.file.Json
import kerasbert.core.file.LABELS
import kerasbert.core.file.ModelFile
import kerasbert.core.file.PackedFiles
import kerasbert.core.file.TaskType
import kerasbert.core.file.withPackedFiles
import kerasbert.core.tasks.Prompts

private const val TASK = "FewShotClassifier"
private const val SHOWN = 60

/**
 * Makes a file of classes that were taught: the encoder's graph as it is, and the layer beside it. It is what `kerasbert teach` writes, so
 * Python, the command line and both demos open it.
 *
 * @param content the bytes of the sentence encoder's `.tflite`, from 0 to the limit; they are not changed.
 * @param name its name in messages.
 * @param classes two or more with examples.
 * @return the bytes of the new `.tflite`.
 * @throws KerasBertException when the file is no sentence encoder, the vectors are another's, or there are not two classes with examples.
 */
fun taughtFile(content: ByteBuffer, name: String, classes: TaughtClasses): ByteArray {
    val metadata = ModelFile.of(content, name).metadata
    if (metadata.type != TaskType.EMBEDDING) {
        throw KerasBertException("expected a sentence encoder that classes were taught on, received $name for '${metadata.type.key}'; pass it")
    }
    val width = (metadata.settings["width"] as? Long)?.toInt()
    if (width != null && width != classes.dimensions) {
        throw KerasBertException(
            "expected classes of vectors of $width numbers as those of $name, received ${classes.dimensions}; pass the encoder that taught them",
        )
    }
    val broken = classes.names.firstOrNull { '\n' in it || '\r' in it }
    if (broken != null) throw KerasBertException("expected names of one line, received ${Json.write(broken.take(SHOWN))}; rename it")
    val layer = classes.layer
    val texts = LinkedHashMap(PackedFiles(content, name).read().orEmpty())
    val description = LinkedHashMap<String, Any?>()
    (Json.parse(texts.getValue(DESCRIPTION), DESCRIPTION) as Map<*, *>).forEach { (key, value) -> description[key as String] = value }
    val settings = linkedMapOf<String, Any?>("width" to classes.dimensions.toLong(), "layer" to base64(layer.table))
    if (layer.method != "centre") settings["method"] = layer.method
    Prompts.of(metadata).default.let { if (it.isNotEmpty()) settings["prompt"] = it }
    description += mapOf("task" to TASK, "problem" to TaskType.FEW_SHOT.key, "settings" to settings, "weights" to "")
    texts[DESCRIPTION] = Json.write(description) + "\n"
    texts[LABELS] = classes.names.joinToString("") { "$it\n" }
    return withPackedFiles(content, name, texts)
}

/** The layer as little-endian float32. */
private fun base64(table: DoubleArray): String {
    val bytes = ByteBuffer.allocate(Float.SIZE_BYTES * table.size).order(ByteOrder.LITTLE_ENDIAN)
    for (value in table) bytes.putFloat(value.toFloat())
    return Base64Bytes.encode(bytes.array())
}
