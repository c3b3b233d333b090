import org.jetbrains.kotlin.gradle.dsl.JvmTarget

plugins {
    alias(libs.plugins.kotlin.jvm)
}

java {
    sourceCompatibility = JavaVersion.VERSION_17
    targetCompatibility = JavaVersion.VERSION_17
}

kotlin {
    compilerOptions {
        jvmTarget = JvmTarget.JVM_17
        allWarningsAsErrors = true
        // No API of Java that the target lacks.
        freeCompilerArgs.add("-Xjdk-release=17")
    }
}

dependencies {
    implementation(project(":core"))
    implementation(project(":screens"))
    implementation(libs.jna)

    testImplementation(libs.junit)
}

// The window takes its words, colors and samples from the app.
tasks.processResources {
    into("kerasbert/app") {
        from("../app/src/main/res") { include("values*/strings.xml", "values/colors.xml") }
        from("../app/src/main/assets") { include("labels.txt") }
    }
}
