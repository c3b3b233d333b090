package kerasbert.app

import android.os.Handler
import android.os.Looper
import android.os.Process
import kerasbert.screens.Threads
import java.util.concurrent.Executors

/** One background thread for the models, and Android's main thread for the screens. */
class MainThreads : Threads {
    private val main = Handler(Looper.getMainLooper())
    private val models = Executors.newSingleThreadExecutor { work ->
        Thread(
            {
                Process.setThreadPriority(Process.THREAD_PRIORITY_DEFAULT + Process.THREAD_PRIORITY_LESS_FAVORABLE)
                work.run()
            },
            "models",
        )
    }

    override fun background(work: () -> Unit) = models.execute(work)

    override fun screen(work: () -> Unit) {
        main.post(work)
    }
}
