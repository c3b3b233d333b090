package androidx.test.runner.intent

import android.app.Instrumentation
import android.content.Intent

/** Answers an intent in place of the activity that it names. */
interface IntentStubber {
    fun getActivityResultForIntent(intent: Intent?): Instrumentation.ActivityResult?
}
