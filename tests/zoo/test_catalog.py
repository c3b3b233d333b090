"""The zoo's models by name: suggestions, damaged files, and loading."""

import shutil
import zlib

import pytest

import kerasbert as kb
from kerasbert.checkpoints.hugging_face import resolve
from kerasbert.errors import KerasBertError
from kerasbert.zoo import catalog
from kerasbert.zoo.catalog import ENCODER, FILE


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
def test_models_leave_the_wheel_below_60_megabytes():
    compressed = sum(len(zlib.compress(path.read_bytes(), 6)) for model in catalog.models() for path in model.parts())
    assert compressed < 58_000_000, "the rest of the package takes up to 2 MB"


def test_every_checksum_belongs_to_a_model():
    paths = {path.relative_to(catalog.ROOT).as_posix() for model in catalog.models() for path in model.parts()}
    assert set(catalog.checksums()) == paths


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(KerasBertError, match="received 'smal-en'; did you mean small-en"):
        kb.zoo.load("smal-en")


def test_edited_file_is_refused(copied):
    catalog.check_files(catalog.find("small-en"))
    path = copied / "vocab.txt"
    path.write_text(path.read_text("utf-8") + "zebra\n", "utf-8")
    with pytest.raises(KerasBertError, match=r"vocab.txt: expected SHA-256 .*damaged or was edited"):
        kb.zoo.load("small-en")


def test_missing_and_additional_files_are_refused(copied):
    (copied / "config.json").rename(copied / "other.json")
    with pytest.raises(KerasBertError, match=r"config.json: expected a file of small-en, received none"):
        catalog.check_files(catalog.find("small-en"))
    shutil.copy(copied / "other.json", copied / "config.json")
    with pytest.raises(KerasBertError, match=r"other.json: expected SHA-256 none"):
        catalog.check_files(catalog.find("small-en"))


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
        large = [path.name for path in model.parts() if path.stat().st_size > limit]
        assert large == [] or model.kind == FILE and model.encoder == "mini-en", large
