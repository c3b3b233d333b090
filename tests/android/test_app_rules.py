"""Rules of the Android demo that no compiler checks: no androidx, no permission, one file that knows LiteRT, texts in two languages."""

import importlib
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "android_demo"
APP = DEMO / "app" / "src" / "main"
IMPORT = re.compile(r"^import (?:static )?([\w.]+)", re.MULTILINE)


def imports(*folders: Path) -> dict[str, list[str]]:
    sources = [path for folder in folders for path in folder.rglob("*.kt")]
    assert sources, f"no Kotlin files in {folders}"
    return {path.name: IMPORT.findall(path.read_text("utf-8")) for path in sources}


def texts(language: str) -> dict[str, str]:
    root = ElementTree.parse(APP / "res" / language / "strings.xml").getroot()
    entries = {}
    for entry in root:
        for item in entry if entry.tag == "plurals" else [entry]:
            entries[f"{entry.get('name')} {item.get('quantity', '')}".strip()] = item.text or ""
    return entries


def test_the_app_uses_no_androidx():
    assert not [name for names in imports(APP).values() for name in names if name.startswith("androidx")]


def test_one_file_knows_litert():
    users = [
        file for file, names in imports(APP).items() if any(name.startswith("com.google.ai.edge") for name in names)
    ]
    assert users == ["CompiledModelEngine.kt"]


def test_core_and_screens_need_no_library():
    own = imports(DEMO / "core" / "src" / "main", DEMO / "screens" / "src" / "main")
    roots = {name.split(".")[0] for names in own.values() for name in names}
    assert roots <= {"java", "kotlin", "kerasbert"}
    assert not [
        name for names in own.values() for name in names if name.startswith(("kerasbert.app", "kerasbert.desktop"))
    ]


def test_core_does_not_know_the_screens():
    assert not [
        name
        for names in imports(DEMO / "core" / "src" / "main").values()
        for name in names
        if name.startswith("kerasbert.screens")
    ]


def test_the_app_asks_for_no_permission():
    manifest = ElementTree.parse(APP / "AndroidManifest.xml").getroot()
    assert not [element.tag for element in manifest.iter() if "permission" in element.tag]


def test_every_text_is_there_in_both_languages():
    assert texts("values").keys() == texts("values-de").keys()


@pytest.mark.parametrize("name", sorted(texts("values")))
def test_both_languages_take_the_same_values(name: str):
    english, german = (
        sorted(set(re.findall(r"%\d\$[sd]", texts(language)[name]))) for language in ("values", "values-de")
    )
    assert english == german


def test_every_text_is_used():
    app = "".join(path.read_text("utf-8") for path in [*APP.rglob("*.kt"), *APP.rglob("*.xml")])
    window = "".join(path.read_text("utf-8") for path in (DEMO / "desktop" / "src" / "main").rglob("*.kt"))
    names = {name.split()[0] for name in texts("values")}
    unused = [name for name in names if not re.search(rf"R\.(string|plurals)\.{name}\b|@string/{name}\b", app)]
    # The window has words of its own among those of the app, where Android's own dialogs say them.
    assert not [name for name in unused if not re.search(rf'words(\.format\(|\[)"{name}"', window)]


@pytest.fixture
def copy_models(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DEMO)
    module = importlib.import_module("copy_models")
    monkeypatch.setattr(module, "HERE", tmp_path / "android_demo")
    monkeypatch.setattr(module, "ASSETS", tmp_path / "android_demo" / "assets")
    return module


def model(path: Path) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\x1c\0\0\0TFL3rest")
    return str(path)


def test_models_are_copied_in_place_of_earlier_ones(copy_models, tmp_path):
    copy_models.main([model(tmp_path / "a.tflite"), model(tmp_path / "b.tflite")])
    copy_models.main([str(tmp_path / "b.tflite")])
    assert [path.name for path in (copy_models.ASSETS / "models").iterdir()] == ["b.tflite"]
    phrases = (copy_models.ASSETS / "phrases.txt").read_text("utf-8").splitlines()
    assert len(phrases) > 1000 and len(set(phrases)) == len(phrases)


def test_a_wrong_model_changes_nothing(copy_models, tmp_path):
    copy_models.main([model(tmp_path / "a.tflite")])
    (tmp_path / "notes.tflite").write_bytes(b"not a model")
    for wrong, message in (
        ([str(tmp_path / "missing.tflite")], "is not there"),
        ([str(tmp_path / "notes.tflite")], "convert a model first"),
        ([str(tmp_path / "a.tflite"), model(tmp_path / "other" / "a.tflite")], "one name twice"),
    ):
        with pytest.raises(SystemExit, match=message):
            copy_models.main(wrong)
    assert [path.name for path in (copy_models.ASSETS / "models").iterdir()] == ["a.tflite"]
