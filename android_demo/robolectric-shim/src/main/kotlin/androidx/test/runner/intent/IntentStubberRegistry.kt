package androidx.test.runner.intent

/** Never holds a stubber: intents go to Robolectric's `ShadowActivity`. */
object IntentStubberRegistry {
    @JvmStatic
    fun isLoaded(): Boolean = false

    @JvmStatic
    fun getInstance(): IntentStubber = error("expected isLoaded() to be asked first, received a call for a stubber that is not there")
}
