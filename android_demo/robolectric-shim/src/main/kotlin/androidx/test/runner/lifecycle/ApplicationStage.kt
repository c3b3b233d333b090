package androidx.test.runner.lifecycle

/** The stages of an application. */
enum class ApplicationStage {
    PRE_ON_CREATE,
    CREATED,
}
