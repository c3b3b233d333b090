// The Android Studio project. pom.xml beside it builds the same sources where Google's repository cannot be reached; tests/android compares the two.
plugins {
    alias(libs.plugins.android.application) apply false
    alias(libs.plugins.kotlin.android) apply false
    alias(libs.plugins.kotlin.jvm) apply false
}
