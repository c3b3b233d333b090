package androidx.test.runner.intent

/** Takes Robolectric's monitor of intents. Nothing asks for it. */
object IntentMonitorRegistry {
    @JvmStatic
    fun registerInstance(monitor: IntentMonitor?) = Unit
}
