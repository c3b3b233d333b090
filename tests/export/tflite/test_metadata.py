import dataclasses
import hashlib
import io
import json
import zipfile

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.metadata import tokenizer_of
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.processors import make_processor
from kerasbert.processors.classification import SingleLabel
from kerasbert.processors.embedding import Embedding


def _pack(model: bytes, members: dict[str, str | bytes], compression=zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO(model)
    with zipfile.ZipFile(stream, "a", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("key", "value"),
    [("mask_token", ["x"]), ("kind", {}), ("model_max_length", []), ("added_tokens", 5), ("other", 1)],
)
def test_invalid_tokenizer_settings_are_refused(card, key, value):
    words = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good")
    with pytest.raises(KerasBertError, match="tokenizer"):
        tokenizer_of(dataclasses.replace(card, vocabulary=words, tokenizer={"lowercase": True, key: value}))


@pytest.mark.parametrize(
    "settings",
    [
        {"stride": -1},
        {"stride": "x"},
        {"no_answer": 1},
        {"n_best": 10**400},
        {"unit": 5},
        {"no_answer_threshold": float("nan")},
    ],
)
def test_invalid_processor_settings_are_refused(settings):
    with pytest.raises(KerasBertError, match=next(iter(settings))):
        make_processor("question_answering", settings=settings)


def test_round_trip_and_the_file_still_runs(float_file, card, tmp_path, helpers):
    card = dataclasses.replace(card, vocabulary=("[PAD]", "\u2028odd\x85", "word"))
    path = tmp_path / "packed.tflite"
    path.write_bytes(metadata.append(float_file, card))
    assert metadata.read(path) == card
    rows = helpers.packed_rows(1)
    assert open_model(path).run(rows)["probabilities"].shape == (1, 3)


def test_append_replaces_and_is_deterministic(float_file, card):
    once = metadata.append(float_file, card)
    assert metadata.append(once, card) == once
    assert metadata.packed_size(once) == len(once) - float_file.stat().st_size


def test_archive_is_stored_and_opens_with_any_unzip(float_file, card):
    with zipfile.ZipFile(io.BytesIO(metadata.append(float_file, card))) as archive:
        assert archive.namelist() == ["kerasbert.json", "vocab.txt", "labels.txt"]
        assert all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())
        assert json.loads(archive.read("kerasbert.json"))["sequence_length"] == 8


def test_a_file_without_metadata_has_none(float_file):
    assert metadata.read(float_file) is None
    assert metadata.read(_pack(float_file.read_bytes(), {"vocab.txt": "a"})) is None
    with pytest.raises(KerasBertError, match="to predict.*kerasbert convert"):
        ModelFile.read(float_file).require_metadata("to predict")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"../evil.txt": "x"}, "evil"),
        ({"other.bin": "x"}, "other.bin"),
        ({"kerasbert.json": "{not json"}, "not JSON"),
        ({"kerasbert.json": "[" * 100_000}, "not JSON"),
        ({"kerasbert.json": "9" * 5000}, "not JSON"),
        ({"kerasbert.json": "[1]"}, "not a JSON object"),
        ({"kerasbert.json": '{"format": 99}'}, "format 99"),
        ({"kerasbert.json": '{"format": 1}'}, "problem None"),
        ({"kerasbert.json": '{"format": 1, "problem": "regression"}'}, "expected task, received none"),
        ({"kerasbert.json": b"\xff\xfe"}, "kerasbert.json"),
        ({f"file{i}": "" for i in range(20)}, "21 packed files"),
        ({"labels.txt": "x" * (5 << 20)}, "labels.txt of"),
    ],
)
def test_hostile_archives_are_refused_in_one_line(float_file, members, message):
    members = {"kerasbert.json": "{}"} | members
    with pytest.raises(KerasBertError, match=message) as error:
        metadata.read(_pack(float_file.read_bytes(), members))
    assert "\n" not in str(error.value)


def test_compressed_members_are_refused(float_file):
    bomb = _pack(
        float_file.read_bytes(), {"kerasbert.json": "{}", "vocab.txt": "a\n" * 10_000_000}, zipfile.ZIP_DEFLATED
    )
    assert len(bomb) < 1 << 20
    with pytest.raises(KerasBertError, match="compressed"):
        metadata.read(bomb)


def test_a_damaged_member_is_refused(float_file, card):
    data = bytearray(metadata.append(float_file, card))
    place = data.index(b"TextClassifier")
    data[place : place + 4] = b"Rent"
    with pytest.raises(KerasBertError, match="cannot be read"):
        metadata.read(bytes(data))


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: data[:-40], lambda data: data + bytes(1 << 17)]
)
def test_a_cut_file_is_refused(float_file, card, change):
    data = metadata.append(float_file, card)
    with pytest.raises(KerasBertError, match="cut short"):
        metadata.read(change(data))


def test_files_of_the_first_versions_are_read(float_file, card):
    old = {
        key: value
        for key, value in card.as_dict().items()
        if key not in ("settings", "row_length", "integer_only", "weights")
    }
    members = {"kerasbert.json": json.dumps(old), "labels.txt": "a\nb\nc\n"}
    found = metadata.read(_pack(float_file.read_bytes(), members))
    assert found == dataclasses.replace(card, vocabulary=None) and found.row_length is None
    assert found.labels == ("a", "b", "c")


def test_processor_settings_survive_a_round_trip(float_file, card):
    card = dataclasses.replace(card, processor=Embedding(width=16), row_length=24)
    found = metadata.read(metadata.append(float_file, card))
    assert found == card and found.processor == Embedding(width=16)


@pytest.mark.parametrize(
    "field",
    [
        {"problem": "clustering"},
        {"sequence_length": -4},
        {"sequence_length": "8"},
        {"row_length": 0},
        {"settings": []},
        {"parameters": True},
        {"lengths": [8, 4]},
        {"inputs": "images"},
    ],
)
def test_wrong_fields_are_refused(float_file, card, field):
    text = json.dumps(card.as_dict() | field)
    with pytest.raises(KerasBertError, match=next(iter(field))):
        metadata.read(_pack(float_file.read_bytes(), {"kerasbert.json": text}))


def test_an_unknown_field_is_noted(float_file, card, capsys):
    text = json.dumps(card.as_dict() | {"colour": "blue"})
    assert metadata.read(_pack(float_file.read_bytes(), {"kerasbert.json": text}), "a.tflite").task == card.task
    assert capsys.readouterr().err == "note: a.tflite, kerasbert.json: ignored 1 unknown key (colour)\n"


def test_an_empty_labels_file_is_refused(float_file, card):
    members = {"kerasbert.json": json.dumps(card.as_dict()), "labels.txt": ""}
    with pytest.raises(KerasBertError, match="an empty labels.txt"):
        metadata.read(_pack(float_file.read_bytes(), members))


def test_labels_with_line_breaks_are_refused(card):
    with pytest.raises(KerasBertError, match="line break"):
        dataclasses.replace(card, processor=SingleLabel(("a\nb", "c")))


def test_the_sidecar_describes_the_file(float_file, card, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(metadata.append(float_file, card))
    sidecar = json.loads(metadata.write_sidecar(path, card).read_text())
    assert sidecar["labels"] == ["a", "b", "c"]
    assert sidecar["file"] == {
        "name": "model.tflite",
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
