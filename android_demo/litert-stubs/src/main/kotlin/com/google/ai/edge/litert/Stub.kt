package com.google.ai.edge.litert

/**
 * The body of every function here. These are the signatures of LiteRT 2.3's Kotlin API that the app names, so that it compiles where
 * Google's Maven repository cannot be reached. They are read off `litert/kotlin/src/main/kotlin/com/google/ai/edge/litert` of
 * https://github.com/google-ai-edge/LiteRT at commit f67457790c9c2ab67347d6fe53270e8d3df20868 (2026-08-21, whose `litert/version.bzl` says 2.3.0).
 * A file built with them says so when it comes to a model; Android Studio's build has LiteRT itself in their place.
 */
internal fun stub(): Nothing =
    throw UnsupportedOperationException("expected LiteRT in this app, received its compile-only stubs: build the app with Android Studio or Gradle")
