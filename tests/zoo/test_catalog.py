"""The zoo's models by name: suggestions, damaged files, and loading."""

import shutil
import subprocess
import zlib

import pytest

import kerasbert as kb
from kerasbert.checkpoints.hugging_face import resolve
from kerasbert.errors import KerasBertError
from kerasbert.zoo import catalog
from kerasbert.zoo.catalog import ENCODER, FILE, OWN_PACKAGE, SECOND_PACKAGE
from kerasbert.zoo.tables import records


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the zoo's smallest encoder, which a test may damage."""
    root = tmp_path / "zoo"
    root.mkdir()
    shutil.copytree(catalog.find("small-en").path, root / "small-en")
    shutil.copy(catalog.ROOT / catalog.CHECKSUMS, root)
    monkeypatch.setattr(catalog, "ROOT", root)
    catalog.checksums.cache_clear()
    yield root / "small-en"
    catalog.checksums.cache_clear()


def test_every_file_has_the_recorded_sha256():
    for model in kb.zoo.models():
        catalog.check_files(model)


@pytest.mark.long
@pytest.mark.parametrize("package", [OWN_PACKAGE, SECOND_PACKAGE])
def test_models_leave_each_wheel_below_60_megabytes(package):
    parts = [path for model in catalog.models() if model.package == package for path in model.parts().values()]
    compressed = sum(len(zlib.compress(path.read_bytes(), 6)) for path in parts)
    assert compressed < 58_000_000, "the rest of the package takes up to 2 MB"


def test_every_checksum_belongs_to_a_model():
    assert set(catalog.checksums()) == {name for model in catalog.models() for name in model.parts()}


def test_every_file_of_the_second_package_is_in_the_catalog():
    folder = catalog.ROOT / "more/kerasbert_zoo/files"
    models = {model.name for model in catalog.models() if model.package == SECOND_PACKAGE}
    assert {path.stem for path in folder.iterdir()} == models


def test_git_ignores_no_file_of_a_model():
    if not (catalog.ROOT.resolve().parent / ".git").exists() or shutil.which("git") is None:
        pytest.skip("the package is not a checkout, or there is no git")
    parts = [path for model in catalog.models() for path in (model.path, *model.parts().values())]
    paths = [str(path.resolve()) for path in parts]
    ignored = subprocess.run(
        ["git", "-c", "safe.directory=*", "check-ignore", "--no-index", "--stdin"],
        input="\n".join(paths),
        capture_output=True,
        text=True,
        cwd=catalog.ROOT.resolve(),
    )
    assert paths and ignored.returncode in (0, 1) and ignored.stdout == "", (
        "a clone would lack these: add them to .gitignore"
    )


def test_a_model_of_a_package_that_is_not_installed_names_the_package(monkeypatch):
    model = next(model for model in catalog.models() if model.package == SECOND_PACKAGE)
    monkeypatch.setattr(catalog, "_SECOND_MODULE", "no_such_module")
    with pytest.raises(KerasBertError, match=f"{model.name}: expected the package kerasbert-zoo.* pip install"):
        kb.zoo.load(model.name)
    assert not model.is_installed and model.card.is_file() and model.recipe.is_file()
    assert next(each for each in records([model], []))["path"] is None


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(KerasBertError, match="received 'smal-en'; did you mean small-en"):
        kb.zoo.load("smal-en")


def test_edited_file_is_refused(copied):
    catalog.check_files(catalog.find("small-en"))
    path = copied / "vocab.txt"
    path.write_text(path.read_text("utf-8") + "zebra\n", "utf-8")
    with pytest.raises(KerasBertError, match=r"vocab.txt: expected SHA-256 .*damaged, was edited"):
        kb.zoo.load("small-en")


def test_missing_and_additional_files_are_refused(copied):
    (copied / "config.json").rename(copied / "other.json")
    with pytest.raises(KerasBertError, match=r"expected small-en/config.json, a file of small-en, received none"):
        catalog.check_files(catalog.find("small-en"))
    shutil.copy(copied / "other.json", copied / "config.json")
    with pytest.raises(KerasBertError, match=r"other.json: expected SHA-256 none"):
        catalog.check_files(catalog.find("small-en"))


@pytest.mark.long
def test_encoder_is_a_sentence_encoder():
    encoder = kb.zoo.load("small-en")
    assert isinstance(encoder, kb.SentenceEncoder)
    assert encoder.predict(["wake me at six"]).shape == (1, encoder.config.hidden_size)


def test_names_of_encoders_load_wherever_a_folder_does():
    assert resolve("small-en") == catalog.find("small-en").path
    assert kb.TextClassifier.from_pretrained("small-en", labels=["no", "yes"]).config.vocab_size > 5000


def test_a_folder_of_the_same_name_comes_first(tmp_path, monkeypatch):
    (tmp_path / "small-en").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("small-en").resolve() == tmp_path / "small-en"


def test_files_are_below_their_sizes():
    for model in catalog.models():
        limit = 10_000_000 if model.kind == ENCODER else 8_000_000
        large = [path.name for path in model.parts().values() if path.stat().st_size > limit]
        assert large == [] or model.kind == FILE and model.encoder == "mini-en", large
