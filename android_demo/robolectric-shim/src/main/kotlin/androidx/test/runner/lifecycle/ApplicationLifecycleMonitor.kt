package androidx.test.runner.lifecycle

/** What Robolectric registers as its monitor of the application. */
interface ApplicationLifecycleMonitor
