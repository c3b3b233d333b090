"""A file of several lengths has a signature for each, and one copy of the weights."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.passes.merge_signatures import merge_signatures
from kerasbert.export.runtime.interpreters import find_runtime, open_model
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.metadata import append, read
from kerasbert.export.tflite.model import decode, encode
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validator import validate

LENGTHS = (8, 16)


@pytest.fixture(scope="module")
def files(trained, tmp_path_factory):
    """A file of all lengths, and a file of each."""
    folder = tmp_path_factory.mktemp("lengths")
    several = kb.export.convert(trained, recipe="dynamic_wi8_afp32", length=[16, 8]).save(folder / "several.tflite")
    single = {
        length: kb.export.convert(trained, recipe="dynamic_wi8_afp32", length=length).save(folder / f"{length}.tflite")
        for length in LENGTHS
    }
    return several, single


@pytest.mark.long
def test_each_signature_computes_what_its_own_file_did(files, tiny, trained):
    several, single = files
    whole = open_model(several)
    assert read(several).signature == whole.signature and read(single[8]).signature == "serve"
    assert whole.lengths == LENGTHS and whole.length == 16 and whole.signature == "serve_16"
    texts, _ = tiny.rows(12, seed=5)
    for length in LENGTHS:
        model, alone = whole.at(length), open_model(single[length])
        assert model.signature == f"serve_{length}" and model.inputs == alone.inputs and model.outputs == alone.outputs
        packed = trained.pack(texts, length=length)
        for row in range(len(texts)):
            inputs = {name: packed[name][row : row + 1] for name in model.inputs}
            ours, theirs = model.run(inputs), alone.run(inputs)
            for name in theirs:
                np.testing.assert_array_equal(ours[name], theirs[name])


def test_weights_are_stored_once(files):
    several, single = files
    graphs = ModelFile.read(several)
    kernels = [
        {graph.tensors[op.inputs[1]].buffer for op in graph.operators if op.name == "FULLY_CONNECTED"}
        for graph in graphs.subgraphs
    ]
    assert len(graphs.subgraphs) == 2 and kernels[0] == kernels[1]
    tables = [next(op.inputs[0] for op in graph.operators if op.name == "GATHER") for graph in graphs.subgraphs]
    buffers = {graph.tensors[table].buffer for graph, table in zip(graphs.subgraphs, tables, strict=True)}
    assert len(buffers) == 1
    # Otherwise each length would add 12 bytes a channel for scales.
    assert several.stat().st_size - single[16].stat().st_size < 0.6 * single[8].stat().st_size


def test_a_predictor_runs_the_shortest_length_that_fits(files, tiny, trained, monkeypatch):
    several, _ = files
    predictor, opened = open_pipeline(several), []
    interpreters = find_runtime().interpreter
    initialize = interpreters.__init__
    monkeypatch.setattr(
        interpreters, "__init__", lambda *args, **kwargs: opened.append(args) or initialize(*args, **kwargs)
    )
    assert predictor.length == 16
    texts = ["good film", "bad " * 8, "good film was " * 5]
    answers = predictor.predictions(texts)
    assert sorted(predictor._opened.get(predictor._open)._sessions) == [8, 16]
    assert len(opened) == 1
    assert [answer["label"] for answer in answers] == [answer["label"] for answer in trained.predictions(texts)]


def test_metadata_lists_the_lengths(files):
    card = metadata.read(files[0])
    assert card.lengths == LENGTHS and card.sequence_length == 16
    assert metadata.read(files[1][8]).lengths is None


@pytest.mark.parametrize("length", [[8, 8], [], [8, 2], [8, 1000], [8, "16"]])
def test_invalid_lengths_are_refused(trained, length):
    with pytest.raises(KerasBertError, match="expected"):
        kb.export.convert(trained, recipe="float32", length=length)


def test_a_missing_length_is_refused_in_one_line(files):
    with pytest.raises(KerasBertError, match="8, 16, those .* was converted for, received 9"):
        open_model(files[0], length=9)


@pytest.mark.parametrize("lengths", [[16, 8], [8], "8,16", [8, 8], [0, 8], list(range(1, 400))])
def test_hostile_lengths_in_metadata_are_refused(files, lengths, tmp_path):
    data = files[1][8].read_bytes()
    card = metadata.read(data)
    object.__setattr__(card, "lengths", lengths)
    with pytest.raises(KerasBertError, match="lengths"):
        metadata.read(metadata.append(data, card))


@pytest.mark.environment
def test_every_backend_runs_the_signature_of_its_rows(trained, tiny, tmp_path):
    made = kb.export.convert(trained, recipe="float32", target="gpu", length=[10, 16])
    file = made.save(tmp_path / "gpu.tflite")
    report = kb.export.validate(file, against=trained, data=tiny.rows(6, seed=6), on=["gpu", "web", "tflite-2.14"])
    assert all(check.status in ("passed", "not run") for check in report.checks), report.table()


@pytest.mark.long_cases("static")
@pytest.mark.parametrize("recipe", ["dynamic_wi8_afp32", "static_wi8_ai8"])
def test_a_file_for_an_old_runtime_has_old_operators(recipe, trained, static_model, tiny, tmp_path):
    task = static_model if recipe.startswith("static") else trained
    made = kb.export.convert(task, recipe=recipe, min_runtime="2.9")
    versions = {
        op.version for op in ModelFile.read(made.content).subgraphs[0].operators if op.name == "FULLY_CONNECTED"
    }
    assert max(versions) == 9
    texts, labels = tiny.rows(150, seed=6)
    report = kb.export.validate(
        made.save(tmp_path / "old.tflite"), against=task, data=(texts, labels), on=["cpu", "tflite-2.14"]
    )
    assert all(check.status in ("passed", "not run") for check in report.checks), report.table()


def test_operators_that_a_runtime_lacks_are_named(trained):
    with pytest.raises(KerasBertError, match=r"runtime 2\.1 supports, received .*GELU v1 \(2\.9\)"):
        kb.export.convert(trained, recipe="float32", min_runtime="2.1")
    with pytest.raises(KerasBertError, match="a runtime version such as 2.9, received 'old'"):
        kb.export.convert(trained, recipe="float32", min_runtime="old")


def test_validation_runs_every_length(files, tiny, trained):
    several, _ = files
    texts, labels = tiny.rows(80, seed=3)
    texts = [text if number % 2 else " ".join(text.split()[:4]) for number, text in enumerate(texts)]
    data = (texts, labels)
    found = {check.name: check for check in validate(several, against=trained, data=data).checks}
    assert found["cpu-xnnpack serve_8"].status == "no difference found" and found["cpu-xnnpack serve_8"].rows >= 40
    long_ones = [text for text in texts if len(text.split()) > 7]
    found = {check.name: check for check in validate(several, against=trained, data=long_ones).checks}
    assert found["cpu-xnnpack serve_8"].status == "not run" and "fewer than 8" in found["cpu-xnnpack serve_8"].reason


def test_a_length_with_other_weights_fails_validation(files, tiny, trained, tmp_path):
    _, single = files
    broken = decode(single[8].read_bytes())
    for buffer in broken.buffers:
        if buffer.data is not None and len(buffer.data) >= 1024:
            buffer.data = np.ascontiguousarray(buffer.data[::-1])
    file = tmp_path / "mixed.tflite"
    parts = {"serve_16": decode(single[16].read_bytes()), "serve_8": broken}
    file.write_bytes(append(encode(merge_signatures(parts)), read(single[16])))
    texts, labels = tiny.rows(150, seed=3)
    texts = [" ".join(text.split()[:4]) for text in texts]
    found = {check.name: check for check in validate(file, against=trained, data=(texts, labels)).checks}
    assert found["cpu-xnnpack"].status == "passed" and found["cpu-xnnpack serve_8"].status == "failed"
