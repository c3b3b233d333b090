package androidx.test.runner.lifecycle

/** Takes Robolectric's monitor of the application. Nothing asks for it. */
object ApplicationLifecycleMonitorRegistry {
    @JvmStatic
    fun registerInstance(monitor: ApplicationLifecycleMonitor?) = Unit
}
