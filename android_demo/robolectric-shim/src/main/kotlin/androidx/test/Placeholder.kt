package androidx.test
