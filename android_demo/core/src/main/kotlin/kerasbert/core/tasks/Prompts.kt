package kerasbert.core.tasks

import java.util.zip.CRC32
import kerasbert.core.file.Metadata

private val DOCUMENTS = listOf("document", "passage", "corpus")

/**
 * The texts that a sentence encoder puts before texts, as `kerasbert.processors.prompts` chooses them in Python.
 *
 * @property default stands before a text that is compared or classified.
 * @property query stands before the query of a search.
 * @property document stands before each text that is searched.
 */
internal class Prompts(val default: String, val query: String, val document: String) {
    companion object {
        /** The prompts of a model, whose metadata were checked. */
        fun of(metadata: Metadata): Prompts {
            val prompts = metadata.settings["prompts"] as? Map<*, *> ?: emptyMap<String, String>()
            val default = metadata.settings["default_prompt_name"]?.let { prompts[it] } as? String ?: ""
            val query = prompts["query"] as? String ?: ""
            val document = DOCUMENTS.firstNotNullOfOrNull { name -> (prompts[name] as? String)?.takeIf { it.isNotEmpty() } } ?: ""
            val isNamed = query.isNotEmpty() || document.isNotEmpty()
            return if (isNamed) Prompts(default, query, document) else Prompts(default, default, default)
        }

        /** The name of the vectors that a model makes of texts to search: those with another prompt are others. */
        fun vectorsName(metadata: Metadata): String {
            val prompt = of(metadata).document
            if (prompt.isEmpty()) return metadata.weights
            val checksum = CRC32().apply { update(prompt.toByteArray()) }.value
            return "${metadata.weights} ${String.format("%08x", checksum)}"
        }
    }
}
