"""The models of a site: their names, and files that no browser can run."""

import dataclasses
import hashlib
import re
import shutil
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite import metadata as packed
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.tflite.structure import Operator
from kerasbert.web import models
from kerasbert.web.models import read_models

FILES = Path(__file__).parents[2] / "android_demo" / "testdata" / "models"
LABEL, VECTOR = FILES / "label.tflite", FILES / "vector.tflite"


def copied(folder: Path, name: str, source: Path = LABEL) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copyfile(source, path))


def changed(folder: Path, **fields: object) -> Path:
    """A copy of a model with other metadata."""
    path = folder / "changed.tflite"
    metadata = packed.read(LABEL)
    assert metadata is not None
    path.write_bytes(packed.append(LABEL, dataclasses.replace(metadata, **fields)))
    return path


def test_an_entry_says_what_the_file_is():
    label, vector = read_models([LABEL, VECTOR])
    content = LABEL.read_bytes()
    assert label.entry() == {
        "name": "label", "file": "models/label.tflite", "title": "label", "task": "single_label", "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip
    assert (vector.task, vector.resizable, label.resizable) == ("embedding", True, False)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("my model (v2).tflite", "my-model-v2"),
        ("modèle d'été.tflite", "modele-d-ete"),
        ("模型.tflite", "model"),
        ("..hidden.tflite", "hidden"),
        ("a?b#c%d&e.tflite", "a-b-c-d-e"),
        ("x" * 200 + ".tflite", "x" * 80),
        ("no ending", "no-ending"),
    ],
)
def test_names_are_safe_in_urls(tmp_path, name, expected):
    model = read_models([copied(tmp_path, name)])[0]
    assert (model.name, model.file) == (expected, f"models/{expected}.tflite")
    assert model.title == name.removesuffix(".tflite")


def test_titles_hold_no_bytes_that_a_page_cannot_show(tmp_path):
    model = read_models([copied(tmp_path, "a\udcff\x1bb.tflite")])[0]
    assert (model.name, model.title) == ("ab", "a\ufffd\ufffdb")


def test_files_of_one_name_get_names_of_their_own(tmp_path):
    paths = [copied(tmp_path, f"{folder}/Model.tflite") for folder in ("first", "second", "deep/second")]
    paths.append(copied(tmp_path, "third/model.tflite"))
    found = read_models(paths)
    assert [model.title for model in found] == ["first/Model", "second/Model", "second/Model", "third/model"]
    assert [model.name for model in found] == ["first-Model", "second-Model", "second-Model-2", "third-model"]


def test_names_do_not_differ_in_case_only(tmp_path):
    assert models._names(["Model", "model", "model 2"]) == ["Model", "model-2", "model-2-2"]


def test_a_file_that_is_named_twice_counts_once(tmp_path):
    path = copied(tmp_path, "a.tflite")
    (tmp_path / "link.tflite").symlink_to(path)
    assert len(read_models([path, tmp_path / "link.tflite", LABEL])) == 2


def test_files_that_are_no_models(tmp_path):
    (tmp_path / "letter.tflite").write_text("dear reader")
    for path, received in (
        (tmp_path / "letter.tflite", "TFL3"),
        (tmp_path, "a folder"),
        (tmp_path / "none", "not there"),
    ):
        with pytest.raises(KerasBertError, match=received):
            read_models([LABEL, path])


def test_a_damaged_model(tmp_path):
    content = LABEL.read_bytes()
    (tmp_path / "cut.tflite").write_bytes(content[: len(content) // 3])
    with pytest.raises(KerasBertError, match="truncated or damaged"):
        read_models([tmp_path / "cut.tflite"])


def test_a_model_of_another_tool(tmp_path):
    content = LABEL.read_bytes()
    (tmp_path / "other.tflite").write_bytes(content[: content.index(b"PK\x03\x04")])
    with pytest.raises(KerasBertError, match="without kerasbert's vocabulary and labels; convert the model"):
        read_models([tmp_path / "other.tflite"])


@pytest.mark.parametrize(
    "fields, expected",
    [
        ({"inputs": "text"}, "one that takes texts; convert the model without --inputs text"),
        ({"target": "edge-tpu"}, "the accelerator part of a model for an Edge TPU; .*--target web"),
        (
            {"tokenizer": {"kind": "sentencepiece"}},
            "one with the tokenizer 'sentencepiece'; use a model with a WordPiece",
        ),
        (
            {"tokenizer": {"kind": "japanese"}},
            "one with Japanese words, which MeCab splits; use a model with a WordPiece",
        ),
        ({"vocabulary": None}, "one with no vocabulary"),
    ],
)
def test_models_that_the_page_cannot_run(tmp_path, fields, expected):
    with pytest.raises(KerasBertError, match=f"expected a .tflite file that runs in a browser, received .*{expected}"):
        read_models([changed(tmp_path, **fields)])


def test_the_host_part_of_a_model_for_an_edge_tpu(tmp_path):
    content = LABEL.read_bytes()
    path = tmp_path / "a.host.tflite"
    path.write_bytes(packed.append_mark(content[: content.index(b"PK\x03\x04")]))
    with pytest.raises(KerasBertError, match="the host part of a model for an Edge TPU"):
        read_models([path])


def test_japanese_characters_are_taken(tmp_path):
    path = changed(tmp_path, tokenizer={"kind": "japanese", "subwords": "character"})
    assert read_models([path])[0].name == "changed"


def test_the_page_has_the_same_limits():
    page = Path(__file__).parents[2] / "web_demo"
    library, tokenizers = (
        (page / path).read_text("utf-8") for path in ("page/state/model_library.js", "core/text/tokenizer_of.js")
    )
    assert float(re.search(r"LARGEST_MODEL = ([0-9e]+);", library)[1]) == models.MOST_BYTES
    assert tuple(re.findall(r'case "(\w+)":\n\s+return', tokenizers)) == models.TOKENIZERS


def test_custom_operators_are_refused(monkeypatch):
    read = ModelFile.read
    (graph, *_), signatures, spans = read(LABEL).graphs
    graph = dataclasses.replace(graph, operators=(Operator("FlexErf", 1, True, (), ()), *graph.operators))
    altered = (graph,), signatures, spans
    monkeypatch.setattr(ModelFile, "read", lambda path: dataclasses.replace(read(path), graphs=altered))
    with pytest.raises(KerasBertError, match="one with the operator FlexErf; convert"):
        read_models([LABEL])


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "huge.tflite"
    with path.open("wb") as file:
        file.write(b"\0\0\0\0TFL3")
        file.truncate(models.MOST_BYTES + 1)
    with pytest.raises(
        KerasBertError, match="received .*huge.tflite, one of 400.0 MB; use a model of at most 400.0 MB"
    ):
        read_models([path])
