package kerasbert.app

import android.app.Activity

/** The activity that the launcher opens. */
class MainActivity : Activity()
