package kerasbert.core.model

import kerasbert.core.KerasBertException
import kerasbert.core.file.Metadata
import kerasbert.core.file.ModelFile
import kerasbert.core.file.Port
import kerasbert.core.file.Signature
import kerasbert.core.file.TaskType

internal const val IDS = "input_ids"
internal const val MASK = "attention_mask"
internal const val TYPES = "token_type_ids"
internal const val HIDDEN = "hidden"
internal const val CONFIDENCE = "confidence"
private val INPUTS = setOf(IDS, MASK, TYPES)
private val ACCELERATOR_INPUTS = setOf(HIDDEN, "attention_bias") // of the part of a model that has no embeddings

/** Checks that a file can be run on token ids, before a runtime is asked to: the signatures have the inputs and outputs of its task. */
internal class PortCheck(private val file: ModelFile) {
    private val type = file.metadata.type

    /** @throws KerasBertException when they have not. */
    fun check(lengths: Lengths) {
        if (file.metadata.inputs != Metadata.IDS) {
            throw KerasBertException(
                "expected a file that takes token ids, received ${file.name}, which takes texts and needs operators of its own; convert the " +
                    "model with inputs of ids",
            )
        }
        val found = file.signatures.associateBy { it.name }
        for (names in lengths.signatures) {
            val stages = names.map { name ->
                found[name] ?: throw mismatch("a signature $name", found.keys.joinToString(", ").ifEmpty { "none" })
            }
            stages.forEach(::checkOutputs)
            checkInputs(stages.first())
            stages.zipWithNext(::checkStage)
            if (file.metadata.exits != null && HIDDEN in stages.last().outputs) {
                throw mismatch("${stages.size} exits, as its metadata say,", "more: ${stages.last().name} is followed by another")
            }
        }
    }

    /** Checks that the signature of an exit takes what the one before it returns. */
    private fun checkStage(before: Signature, signature: Signature) {
        val hidden = before.outputs[HIDDEN]
        val fits = hidden?.type == "float32" && -1 !in hidden.shape && before.outputs[CONFIDENCE]?.type == "float32" &&
            signature.inputs.keys == setOf(MASK, HIDDEN) && signature.inputs.getValue(HIDDEN).shape == hidden.shape
        if (fits) return
        val expected = "a signature ${signature.name} of fixed lengths that takes the output $HIDDEN of ${before.name}"
        throw mismatch(expected, shown(signature.inputs.values))
    }

    private fun checkInputs(signature: Signature) {
        if (signature.inputs.keys == ACCELERATOR_INPUTS) {
            throw KerasBertException(
                "expected a model in one file, received ${file.name}, the part of a model in two files that runs on an accelerator for " +
                    "integers; convert the model for the target cpu",
            )
        }
        val areIds = IDS in signature.inputs && INPUTS.containsAll(signature.inputs.keys)
        if (!areIds) throw mismatch("inputs among ${INPUTS.joinToString(", ")}", shown(signature.inputs.values))
        for (port in signature.inputs.values) {
            if (port.type != "int32" || port.shape.size != 2) throw mismatch("int32 inputs of two axes", port.toString())
        }
    }

    private fun checkOutputs(signature: Signature) {
        for (name in type.outputs) {
            val port = signature.outputs[name] ?: throw mismatch("outputs ${type.outputs.joinToString(", ")}", shown(signature.outputs.values))
            if (port.type != "float32" || port.shape.size != type.rank) throw mismatch("$name in float32, of ${type.rank} axes", port.toString())
        }
        val width = signature.outputs.getValue(type.outputs[0]).shape.last()
        val expected = file.metadata.outputWidth
        if (expected == null || width == expected) return
        if (type == TaskType.FEW_SHOT) throw mismatch("vectors of $expected numbers", "$width")
        throw mismatch("as many labels as classes", "$expected labels and $width classes")
    }

    private fun shown(ports: Collection<Port>) = ports.joinToString(", ") { it.name }.ifEmpty { "none" }

    private fun mismatch(expected: String, received: String) =
        KerasBertException("expected $expected of ${file.name}, received $received; convert the model again")
}
