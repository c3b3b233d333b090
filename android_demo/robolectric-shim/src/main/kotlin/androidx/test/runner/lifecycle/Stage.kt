package androidx.test.runner.lifecycle

/** The stages of an activity, in the order of androidx.test. */
enum class Stage {
    PRE_ON_CREATE,
    CREATED,
    STARTED,
    RESUMED,
    PAUSED,
    STOPPED,
    RESTARTED,
    DESTROYED,
}
