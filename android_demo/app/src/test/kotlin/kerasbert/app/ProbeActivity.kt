package kerasbert.app

import android.app.Activity
import android.os.Bundle
import android.widget.Button
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.TextView

/** A small activity on which the test base itself is tested: a field, a button, and an answer. */
class ProbeActivity : Activity() {
    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val answer = TextView(this).apply { id = ANSWER; textSize = 20f }
        val field = EditText(this).apply { id = FIELD; hint = "Text" }
        val press = Button(this).apply { id = PRESS; text = "Classify"; setOnClickListener { answer.text = field.text.reversed() } }
        setContentView(
            LinearLayout(this).apply {
                orientation = LinearLayout.VERTICAL
                fitsSystemWindows = true
                listOf(field, press, answer).forEach { addView(it) }
            },
        )
    }

    companion object {
        const val FIELD = 1001
        const val PRESS = 1002
        const val ANSWER = 1003
    }
}
