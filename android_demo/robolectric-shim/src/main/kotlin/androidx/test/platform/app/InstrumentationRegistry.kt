package androidx.test.platform.app

import android.app.Instrumentation
import android.os.Bundle

/** Holds the instrumentation that the test environment registers before each test. */
object InstrumentationRegistry {
    private var registered: Instrumentation? = null

    @JvmStatic
    fun registerInstance(instrumentation: Instrumentation?, arguments: Bundle?) {
        registered = instrumentation
    }

    @JvmStatic
    fun getInstrumentation(): Instrumentation =
        checkNotNull(registered) { "expected a registered instrumentation, received none: run the test with RobolectricTestRunner" }
}
