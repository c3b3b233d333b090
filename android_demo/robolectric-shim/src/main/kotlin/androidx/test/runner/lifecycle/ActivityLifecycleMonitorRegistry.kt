package androidx.test.runner.lifecycle

/** Holds the monitor of the running test. */
object ActivityLifecycleMonitorRegistry {
    private var registered: ActivityLifecycleMonitor? = null

    @JvmStatic
    fun registerInstance(monitor: ActivityLifecycleMonitor?) {
        registered = monitor
    }

    @JvmStatic
    fun getInstance(): ActivityLifecycleMonitor =
        checkNotNull(registered) { "expected a registered monitor, received none: run the test with RobolectricTestRunner" }
}
