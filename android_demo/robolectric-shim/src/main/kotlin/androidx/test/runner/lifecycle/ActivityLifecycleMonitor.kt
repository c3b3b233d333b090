package androidx.test.runner.lifecycle

import android.app.Activity

/** Says which stage an activity is in. */
interface ActivityLifecycleMonitor {
    fun getLifecycleStageOf(activity: Activity): Stage
}
