#!/usr/bin/env bash
# Builds a signed APK from what Maven compiled, with tools of Debian and Maven Central, and checks it.
#
#   mvn -f android_demo/pom.xml verify
#   android_demo/ci/apk.sh [MODEL.tflite ...]     default: every file in zoo/files
#
# The APK holds the compile-only stubs of LiteRT: it shows that the app packs, not that a model runs. Android Studio builds the one for a phone.
# Each check says passed, failed, or not run and why. The exit status is 1 if one failed.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
demo=$(dirname "$here")
tools=$here/target/tools
out=$here/target/apk
apk=$out/kerasbert-demo.apk
android=$demo/app/target/android
platform=$demo/app/target/platform/platform.jar
# Compiling less costs less than it gains.
short_run="-Xmx1g -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
min_sdk=24
target_sdk=36
failed=0 passed=0 not_run=0

stop() { echo "$*" >&2; exit 1; }

# check NAME COMMAND...: the command's output is shown when it fails.
check() {
  local name=$1 log=$out/check.log
  shift
  if "$@" > "$log" 2>&1; then
    passed=$((passed + 1)); echo "passed   $name"
  else
    failed=$((failed + 1)); echo "failed   $name"; tail -n 40 "$log" | sed 's/^/         /'
  fi
}

no_command() { "$here/packages.sh" "$1" 2>&1 | tail -n 1; }

skip() { not_run=$((not_run + 1)); echo "not run  $1: $2"; }

require_classes() {
  jars=()
  for module in app core screens litert-stubs; do
    local jar
    jar=$(find "$demo/$module/target" -maxdepth 1 -name "$module-*.jar" 2>/dev/null | head -n 1)
    [ -n "$jar" ] || stop "expected $module/target/$module-*.jar, received none; run: mvn -f $demo/pom.xml verify"
    jars+=("$jar")
  done
  [ -d "$tools" ] || stop "expected $tools, received no such folder; run: mvn -f $demo/pom.xml verify"
}

# The app's own assets and the models, as the app looks for them.
gather_assets() {
  mkdir -p "$out/assets/models"
  if [ -d "$demo/app/src/main/assets" ]; then cp -r "$demo/app/src/main/assets/." "$out/assets/"; fi
  for model in "$@"; do
    [ -f "$model" ] || stop "expected a model file, received $model, which is not there"
    cp "$model" "$out/assets/models/"
  done
}

link_resources() {
  # The dot belongs to the option: "-0 tflite" would compress in silence.
  aapt2 link -I "$platform" --manifest "$android/AndroidManifest.xml" --custom-package kerasbert.app -A "$out/assets" -0 .tflite \
    -o "$apk.unaligned" "$android/compiled.zip" 2> "$out/aapt2.log" || { cat "$out/aapt2.log" >&2; exit 1; }
}

make_dex() {
  local jdk
  jdk=$(dirname "$(dirname "$(readlink -f "$(command -v java)")")")
  {
    for jar in "${jars[@]}"; do echo "-injars $jar(!META-INF/**)"; done
    echo "-injars $tools/kotlin-stdlib.jar(!META-INF/**)"
    echo "-outjars $out/classes.jar"
    echo "-libraryjars $tools/annotations.jar"
    echo "-libraryjars $platform(!META-INF/**)"
    echo "-libraryjars $jdk/jmods/java.base.jmod(!**.jar;!module-info.class)"
  } > "$out/inputs.pro"
  # proguard-base first: proguard-core has another LambdaExpressionCollector of the same name, with which lambdas that capture something stay.
  java $short_run -cp "$tools/proguard-base.jar:$tools/*" proguard.ProGuard "@$out/inputs.pro" "@$here/proguard.pro" > "$out/proguard.log" 2>&1 || { cat "$out/proguard.log" >&2; exit 1; }
  java $short_run -cp "$tools/dalvik-dx.jar" com.android.dx.command.Main --dex --min-sdk-version=$min_sdk --output="$out" "$out/classes.jar" \
    > "$out/dx.log" 2>&1 || { cat "$out/dx.log" >&2; exit 1; }
  (cd "$out" && zip -q -j "$apk.unaligned" classes.dex)
}

# A key of this build alone: whoever installs the APK over another build's has to remove that one first.
sign() {
  keytool -genkeypair -keystore "$out/debug.keystore" -storepass android -keypass android -alias debug -keyalg RSA -keysize 2048 -validity 365 \
    -dname "CN=kerasbert debug" > "$out/keytool.log" 2>&1 || { cat "$out/keytool.log" >&2; exit 1; }
  zipalign -f -p 4 "$apk.unaligned" "$apk"
  apksigner sign --ks "$out/debug.keystore" --ks-pass pass:android --ks-key-alias debug --min-sdk-version $min_sdk "$apk"
}

# The output goes to a file first: a grep that stops reading would break the pipe of the command that writes.
shows() { "${@:2}" > "$out/shown.txt" && { grep -E "$1" "$out/shown.txt" || { cat "$out/shown.txt"; false; }; }; }

shows_not() { "${@:2}" > "$out/shown.txt" && ! grep -E "$1" "$out/shown.txt"; }

# Every model is there, and none is compressed: a compressed one cannot be mapped into memory.
models_are_stored() {
  local expected entries
  expected=$(find "$out/assets" -name '*.tflite' | wc -l)
  entries=$(unzip -v "$apk" | awk '$NF ~ /\.tflite$/ {print $2, $NF}')
  echo "$entries"
  [ "$(grep -c . <<< "$entries")" = "$expected" ] && ! grep -v '^Stored ' <<< "$entries"
}

dex_version_is_at_most() { [ "$(head -c 7 "$out/classes.dex" | tail -c 3)" -le "$1" ]; }

# Python's own interpreter: the script of enjarify takes the first python3 of PATH, for which Debian's module is not installed.
make_jar_of_dex() { PYTHON=/usr/bin/python3 enjarify -f -o "$out/from-dex.jar" "$out/classes.dex" && [ -s "$out/from-dex.jar" ]; }

# run_tests MODULE: its compiled tests, on the classes that come out of the dex file. The module's own classes are not on the path.
run_tests() {
  local folder=$demo/$1/target/test-classes
  local names
  mapfile -t names < <(cd "$folder" && find . -name '*Test.class' | sed -e 's|^\./||' -e 's|\.class$||' -e 's|/|.|g' | sort)
  (cd "$demo/$1" && java -Xmx2g -Xverify:all -cp "$out/from-dex.jar:$folder:$tools/junit.jar:$tools/hamcrest-core.jar" org.junit.runner.JUnitCore "${names[@]}")
}

test_dex() {
  if ! command -v enjarify >/dev/null; then skip "the tests on what comes out of the dex file" "$(no_command enjarify)"; return; fi
  check "the dex file turns back into a jar" make_jar_of_dex
  for module in core screens; do
    if [ -z "$(find "$demo/$module/target/test-classes" -name '*Test.class' 2>/dev/null | head -n 1)" ]; then
      skip "the tests of $module on that jar" "$module has no compiled tests"
    else
      check "the tests of $module on that jar" run_tests "$module"
    fi
  done
}

check_dex() {
  if ! command -v dexdump >/dev/null; then skip "the instructions in the dex file" "$(no_command dexdump)"; return; fi
  check "no invoke-custom or invoke-polymorphic in the dex file" shows_not 'invoke-(custom|polymorphic)' dexdump -d "$out/classes.dex"
  check "no androidx in the dex file" shows_not "Class descriptor *: 'Landroidx/" dexdump "$out/classes.dex"
  check "a dex format that Android 7 reads" dex_version_is_at_most 037
}

size() { stat -c %s "$1"; }

"$here/packages.sh" aapt2 aapt zipalign apksigner zip unzip java keytool
require_classes
rm -rf "$out"
mkdir -p "$out"
if [ $# = 0 ]; then set -- "$demo"/../zoo/files/*.tflite; fi
gather_assets "$@"
link_resources
make_dex
sign

check "signature, v2" shows '^Verified using v2 scheme.*: true$' apksigner verify --verbose --min-sdk-version $min_sdk "$apk"
check "aligned to 4 bytes and 4 KB pages" zipalign -c -p 4 "$apk"
check "package kerasbert.demo" shows "^package: name='kerasbert\.demo' " aapt dump badging "$apk"
check "minSdk $min_sdk" shows "^sdkVersion:'$min_sdk'" aapt dump badging "$apk"
check "targetSdk $target_sdk" shows "^targetSdkVersion:'$target_sdk'" aapt dump badging "$apk"
check "an activity for the launcher" shows "^launchable-activity: name='kerasbert\.app\." aapt dump badging "$apk"
check "a label" shows "^application-label:'.+'" aapt dump badging "$apk"
check "no permission asked for" shows_not ^uses-permission aapt dump badging "$apk"
check "every model there and stored" models_are_stored
# Android 11 and later refuse to install an app whose table of resources is compressed.
check "the table of resources stored" shows ' Stored .* resources\.arsc$' unzip -v "$apk" resources.arsc
check_dex
test_dex

echo "$passed passed, $failed failed, $not_run not run"
echo "$apk: $(size "$apk") bytes; classes.dex $(size "$out/classes.dex"), compressed $(unzip -v "$apk" classes.dex | awk '$NF == "classes.dex" {print $3}'); models $(find "$out/assets" -name '*.tflite' -printf '%s\n' | awk '{s += $1} END {print s + 0}')"
[ $failed = 0 ]
