package kerasbert.app

import android.text.Editable
import android.text.TextWatcher
import android.view.View
import android.widget.EditText
import android.widget.TextView

/** Whether a view takes part in the layout. */
var View.isVisible: Boolean
    get() = visibility == View.VISIBLE
    set(value) {
        visibility = if (value) View.VISIBLE else View.GONE
    }

/** Sets a text only where it differs, so that a screen reader does not announce what did not change. */
fun TextView.setTextIfChanged(text: CharSequence) {
    if (this.text.toString() != text.toString()) this.text = text
}

/** Calls `changed` with the text after each change, those of a restored screen included. */
fun EditText.onText(changed: (String) -> Unit) = addTextChangedListener(object : TextWatcher {
    override fun beforeTextChanged(text: CharSequence?, start: Int, count: Int, after: Int) = Unit

    override fun onTextChanged(text: CharSequence?, start: Int, before: Int, count: Int) = Unit

    override fun afterTextChanged(text: Editable?) = changed(text?.toString().orEmpty())
})

/** The view with this id inside this one. */
inline fun <reified V : View> View.child(id: Int): V = checkNotNull(findViewById<V>(id)) { "no view of this id in the layout" }
