#!/usr/bin/env bash
# Compiles the app's resources with aapt2: R.java, resources.apk and the merged AndroidManifest.xml, all under OUT.
# Maven calls it with the versions of pom.xml; the Android Gradle plugin has its own way.
set -euo pipefail
if [ $# -ne 6 ]; then
  echo "usage: $0 APP_FOLDER PLATFORM_JAR OUT MIN_SDK TARGET_SDK VERSION_NAME" >&2
  exit 2
fi
app=$1 platform=$2 out=$3 min_sdk=$4 target_sdk=$5 version_name=$6
namespace=kerasbert.app
application_id=kerasbert.demo

if ! command -v aapt2 >/dev/null; then
  echo "expected aapt2 on PATH, received none; on Debian: apt-get install aapt" >&2
  exit 1
fi

rm -rf "$out"
mkdir -p "$out/r"
# As the Android Gradle plugin merges it: the identifier, the levels and full class names are not in the source.
sed -e "s|<manifest |<manifest package=\"$application_id\" android:versionCode=\"1\" android:versionName=\"$version_name\" |" \
    -e "s|android:name=\"\\.|android:name=\"$namespace.|" \
    -e "s|^\\( *\\)<application\$|\\1<uses-sdk android:minSdkVersion=\"$min_sdk\" android:targetSdkVersion=\"$target_sdk\" />\n&|" \
    "$app/src/main/AndroidManifest.xml" > "$out/AndroidManifest.xml"
aapt2 compile --dir "$app/src/main/res" -o "$out/compiled.zip"
mkdir -p "$app/src/main/assets"
aapt2 link -I "$platform" -A "$app/src/main/assets" -0 .tflite --manifest "$out/AndroidManifest.xml" --custom-package "$namespace" --non-final-ids \
  --java "$out/r" -o "$out/resources.apk" "$out/compiled.zip" 2> "$out/aapt2.log" || { cat "$out/aapt2.log" >&2; exit 1; }
