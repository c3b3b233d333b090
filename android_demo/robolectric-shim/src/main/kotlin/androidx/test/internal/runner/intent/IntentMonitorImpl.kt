package androidx.test.internal.runner.intent

import android.content.Intent
import androidx.test.runner.intent.IntentMonitor

/** Told of each intent that is sent; nothing here listens to them, tests ask Robolectric's `ShadowActivity` instead. */
class IntentMonitorImpl : IntentMonitor {
    fun signalIntent(intent: Intent?) = Unit
}
