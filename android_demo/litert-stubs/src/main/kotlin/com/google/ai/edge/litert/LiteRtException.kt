package com.google.ai.edge.litert

/** What LiteRT's functions throw. The status is private there too: only the message can be shown. */
class LiteRtException(private val status: Status, message: String) : Exception(message)

/** The statuses that a user of [LiteRtException] can construct it with; LiteRT has more. */
enum class Status(val code: Int) {
    Ok(0),
    ErrorInvalidArgument(1),
    ErrorMemoryAllocationFailure(2),
    ErrorRuntimeFailure(3),
    ErrorMissingInputTensor(4),
    ErrorUnsupported(5),
    ErrorNotFound(6),
    ErrorUnknown(9),
    ErrorFileIO(500),
    ErrorInvalidFlatbuffer(501),
    ErrorCompilation(504),
}
