package kerasbert.app

import android.annotation.TargetApi
import android.os.Build
import android.view.View
import android.view.WindowInsets

/** Keeps a view's content clear of the system's bars and the keyboard, behind which an app draws from API 35 on. */
fun keepClearOfBars(view: View) {
    if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) padByInsets(view)
}

@TargetApi(Build.VERSION_CODES.R)
private fun padByInsets(view: View) = view.setOnApplyWindowInsetsListener { padded, insets ->
    val covered = insets.getInsets(WindowInsets.Type.systemBars() or WindowInsets.Type.displayCutout() or WindowInsets.Type.ime())
    padded.setPadding(covered.left, covered.top, covered.right, covered.bottom)
    insets
}
