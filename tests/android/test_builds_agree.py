"""The demo's two builds, Gradle's for Android Studio and Maven's for CI, have the same modules, versions and sources."""

import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "android_demo"
CATALOGUE = tomllib.loads((DEMO / "gradle/libs.versions.toml").read_text("utf-8"))
VERSIONS = CATALOGUE["versions"]
NAMESPACE = {"m": "http://maven.apache.org/POM/4.0.0"}
# What only Maven has: stand-ins for what Google's repository holds, and the tools of the APK.
ONLY_MAVEN = {"litert-stubs", "robolectric-shim", "ci"}
MODULES = re.findall(r'^include\(":(.+)"\)$', (DEMO / "settings.gradle.kts").read_text("utf-8"), re.MULTILINE)


def pom(folder: str) -> ElementTree.Element:
    return ElementTree.parse(DEMO / folder / "pom.xml").getroot()


def texts(element: ElementTree.Element, path: str) -> list[str | None]:
    return [found.text for found in element.findall(path, NAMESPACE)]


def properties(folder: str = "") -> dict[str, str]:
    return {
        found.tag.split("}")[1]: found.text or ""
        for parent in pom(folder).findall("m:properties", NAMESPACE)
        for found in parent
    }


def gradle(module: str) -> str:
    return (DEMO / module / "build.gradle.kts").read_text("utf-8")


def one(pattern: str, text: str) -> str:
    found = re.findall(pattern, text, re.MULTILINE)
    assert len(found) == 1, f"expected one {pattern}, received {found}"
    return found[0]


def test_modules():
    assert set(texts(pom(""), "m:modules/m:module")) - ONLY_MAVEN == set(MODULES)
    assert len(MODULES) == 4


@pytest.mark.parametrize("name", ["kotlin", "junit", "jna", "robolectric"])
def test_versions(name: str):
    assert properties()[f"{name}.version"] == VERSIONS[name]


@pytest.mark.parametrize("level", ["min", "target"])
def test_android_levels(level: str):
    assert properties()[f"android.{level}-sdk"] == VERSIONS[f"android-{level}Sdk"]
    assert f"{level}_sdk={VERSIONS[f'android-{level}Sdk']}\n" in (DEMO / "ci/apk.sh").read_text("utf-8")
    assert f"{level}Sdk = libs.versions.android.{level}Sdk.get().toInt()" in gradle("app")


def test_every_version_is_exact():
    libraries = [*CATALOGUE["libraries"].values(), *CATALOGUE["plugins"].values()]
    assert all(set(library) <= {"module", "id", "version"} and "ref" in library["version"] for library in libraries)
    versions = {**VERSIONS, **{key: value for key, value in properties().items() if key.endswith("version")}}
    assert [key for key, value in versions.items() if not re.fullmatch(r"[0-9][A-Za-z0-9._-]*", value)] == []


def test_every_version_of_the_catalogue_is_used():
    used = {library["version"]["ref"] for table in ("libraries", "plugins") for library in CATALOGUE[table].values()}
    assert used == {name for name in VERSIONS if not name.startswith("android-")}
    names = re.findall(r"libs\.((?!versions|plugins)[a-z.]+)\)", "\n".join(map(gradle, MODULES)))
    assert set(names) == {name.replace("-", ".") for name in CATALOGUE["libraries"]}


@pytest.mark.parametrize("module", MODULES)
def test_java_targets(module: str):
    target = properties(module).get("kotlin.jvm.target", properties()["kotlin.jvm.target"])
    assert one(r"jvmTarget = JvmTarget\.JVM_(\w+)", gradle(module)) == target.replace(".", "_")
    assert set(re.findall(r"JavaVersion\.VERSION_(\w+)", gradle(module))) == {target.replace(".", "_")}
    assert target == ("17" if module == "desktop" else "1.8")


@pytest.mark.parametrize("module", MODULES)
def test_dependencies_between_modules(module: str):
    of_maven = {
        dependency.findtext("m:artifactId", None, NAMESPACE)
        for dependency in pom(module).findall("m:dependencies/m:dependency", NAMESPACE)
        if dependency.findtext("m:groupId", None, NAMESPACE) == "kerasbert.demo"
    }
    assert of_maven - ONLY_MAVEN == set(re.findall(r'project\(":(.+)"\)', gradle(module)))


@pytest.mark.parametrize("module", MODULES)
def test_libraries(module: str):
    """junit and Kotlin's library are in Maven's parent; android-all stands for the SDK, and the stubs for LiteRT."""
    of_maven = {
        dependency.findtext("m:artifactId", None, NAMESPACE)
        for dependency in pom(module).findall("m:dependencies/m:dependency", NAMESPACE)
        if dependency.findtext("m:groupId", None, NAMESPACE) != "kerasbert.demo"
    }
    of_gradle = set(re.findall(r"mplementation\(libs\.([a-z.]+)\)", gradle(module)))
    assert of_maven - {"android-all"} == of_gradle - {"junit", "litert", "litert.gpu"}
    assert "junit" in of_gradle


@pytest.mark.parametrize("module", MODULES)
def test_sources_lie_where_both_builds_look(module: str):
    build = pom("").find("m:build", NAMESPACE)
    folders = {build.findtext(f"m:{name}", None, NAMESPACE) for name in ("sourceDirectory", "testSourceDirectory")}
    assert folders == {"src/main/kotlin", "src/test/kotlin"}
    own = pom(module).find("m:build", NAMESPACE)
    assert own is None or not any(
        own.findall(f"m:{name}", NAMESPACE) for name in ("sourceDirectory", "testSourceDirectory")
    )
    assert "sourceSets" not in gradle(module)
    sources = [path.relative_to(DEMO / module) for path in (DEMO / module).rglob("*.kt") if "target" not in path.parts]
    assert sources
    assert [path for path in sources if not path.as_posix().startswith(tuple(f"{folder}/" for folder in folders))] == []
    assert not (DEMO / module / "src/main/java").exists()


def test_identity_of_the_app():
    resources, build = (DEMO / "ci/resources.sh").read_text("utf-8"), gradle("app")
    for name, variable in (("namespace", "namespace"), ("applicationId", "application_id")):
        assert one(rf'^ *{name} = "(.+)"$', build) == one(rf"^{variable}=(.+)$", resources)
    assert one(r'versionName = "(.+)"', build) == pom("").findtext("m:version", None, NAMESPACE)
    assert one(r"versionCode = (\d+)", build) == one(r'versionCode=\\"(\d+)\\"', resources)


def test_models_are_stored_by_both():
    assert 'noCompress += "tflite"' in gradle("app")
    assert " -0 .tflite " in (DEMO / "ci/apk.sh").read_text("utf-8")
