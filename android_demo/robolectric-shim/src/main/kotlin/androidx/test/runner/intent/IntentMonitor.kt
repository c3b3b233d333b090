package androidx.test.runner.intent

/** What Robolectric registers as its monitor of intents. */
interface IntentMonitor
