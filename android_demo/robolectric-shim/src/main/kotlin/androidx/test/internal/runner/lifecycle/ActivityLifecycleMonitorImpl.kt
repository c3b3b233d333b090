package androidx.test.internal.runner.lifecycle

import android.app.Activity
import androidx.test.runner.lifecycle.ActivityLifecycleMonitor
import androidx.test.runner.lifecycle.Stage
import java.util.WeakHashMap

/** Remembers the last stage that each activity was reported in. */
class ActivityLifecycleMonitorImpl : ActivityLifecycleMonitor {
    private val stages = WeakHashMap<Activity, Stage>()

    fun signalLifecycleChange(stage: Stage, activity: Activity) {
        stages[activity] = stage
    }

    override fun getLifecycleStageOf(activity: Activity): Stage =
        requireNotNull(stages[activity]) { "expected an activity of this test, received ${activity.javaClass.name}, which was never created in it" }
}
