package androidx.test.internal.runner.lifecycle

import android.app.Application
import androidx.test.runner.lifecycle.ApplicationLifecycleMonitor
import androidx.test.runner.lifecycle.ApplicationStage

/** Told of the stages of the application; nothing here listens to them. */
class ApplicationLifecycleMonitorImpl : ApplicationLifecycleMonitor {
    fun signalLifecycleChange(
        application: Application?,
        stage: ApplicationStage?,
    ) = Unit
}
