package com.google.ai.edge.litert

/** What a model can run on. */
enum class Accelerator(val value: Int) {
    NONE(0),
    CPU(1),
    GPU(2),
    NPU(3),
}
