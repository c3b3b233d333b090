import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.compression.pruning.structured import trim_vocabulary
from kerasbert.console.numbers import format_seconds
from kerasbert.errors import KerasBertError
from kerasbert.export import benchmark
from kerasbert.export.measurement import benchmarking
from kerasbert.export.measurement.timed_rows import tokenized_rows
from kerasbert.export.runtime import benchmark_worker
from kerasbert.export.runtime.benchmark_worker import measure
from kerasbert.export.runtime.onnx_session import open_onnx
from kerasbert.export.runtime.opening import open_pipeline
from kerasbert.export.tflite import metadata as packed_metadata
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.ids import INPUT_NAMES

pytestmark = pytest.mark.one_layer


@pytest.mark.long
def test_two_files_are_measured_and_compared(resizable_file, int8_file):
    found = benchmark(resizable_file, lengths=8, threads=1, runs=5, warmup=1, against=int8_file)
    ours, theirs = found.measurements
    assert (ours.model, theirs.model, ours.length, ours.threads) == ("resizable.tflite", "int8.tflite", 8, 1)
    assert ours.latency.runs == 5 and 0 < ours.latency.p50 <= ours.latency.p90 <= ours.latency.p99
    assert ours.load_seconds > 0 and ours.partitions == 1
    assert 0 < ours.model_bytes < ours.peak_bytes
    (comparison,) = found.comparisons
    assert comparison.ratio == pytest.approx(comparison.against_latency.p50 / comparison.latency.p50)
    assert json.loads(json.dumps(found.as_dict()))["machine"]["cpu"]
    medians = [format_seconds(latency.p50) for latency in (comparison.latency, comparison.against_latency)]
    line = " ".join(found.table().split())
    assert f"medians: resizable.tflite {medians[0]}, int8.tflite {medians[1]}; ratio {comparison.ratio:.2f}" in line


def test_errors_of_the_worker_are_raised(float_file, tmp_path):
    with pytest.raises(KerasBertError, match="length 8.*received 16"):
        benchmark(float_file, lengths=[16], runs=1)
    with pytest.raises(KerasBertError, match="not there"):
        benchmark(tmp_path / "none.tflite", runs=1)


def test_counts_are_checked(float_file):
    with pytest.raises(KerasBertError, match="runs=0"):
        benchmark(float_file, runs=0)
    with pytest.raises(KerasBertError, match="threads"):
        benchmark(float_file, threads=())


@pytest.fixture(scope="module")
def lengths_file(trained, tmp_path_factory):
    file = tmp_path_factory.mktemp("lengths") / "lengths.tflite"
    return kb.export.convert(trained, recipe="float32", length=[8, 16]).save(file)


def test_texts_run_at_the_lengths_that_they_need(tiny, lengths_file):
    texts = [*tiny.rows(6)[0], "good " * 30]
    found = benchmark(lengths_file, data=texts, runs=10)
    (only,) = found.measurements
    assert only.length is None and only.latency.runs == 14  # two rounds
    tokens = sorted(only.by_tokens)
    assert tokens[-1] == 16 and tokens[0] < 16  # cut to the longest, and short ones as they are
    assert "of each text" in found.table()


def test_each_row_runs_at_the_shortest_length_that_fits(tiny, lengths_file):
    models, longest = benchmark_worker._open(str(lengths_file), None, 1, 16)
    for tokens in (3, 5, 16):
        models.for_row(tokens)
    assert sorted(models._sessions) == [8, 16] and longest.length == 16
    assert models.for_row(5).length == 8 and models.for_row(99).length == 16


class Session:
    """A stub of ONNX Runtime's session that records the shapes of its inputs."""

    fed: list = []

    def __init__(self, path, options, providers):
        if path.endswith("bad.onnx"):
            raise RuntimeError("Protobuf parsing failed")
        length = 12 if "fixed" in path else "length"
        self.ports = [SimpleNamespace(name=name, shape=[1, length], type="tensor(int64)") for name in INPUT_NAMES[:2]]
        if "other" in path:
            self.ports.append(SimpleNamespace(name="pixels", shape=[1, 3], type="tensor(float)"))

    def get_inputs(self):
        return self.ports

    def run(self, outputs, row):
        Session.fed.append({name: values.shape for name, values in row.items()})
        return []


@pytest.fixture
def onnx(monkeypatch):
    Session.fed = []
    options = lambda: SimpleNamespace(intra_op_num_threads=0, inter_op_num_threads=0)  # noqa: E731
    monkeypatch.setitem(sys.modules, "onnxruntime", SimpleNamespace(InferenceSession=Session, SessionOptions=options))


def test_an_onnx_file_pads_no_texts(onnx, lengths_file):
    rows = {"input_ids": [[1, 2, 3], [1, 2, 3, 4, 5]], "token_type_ids": [[0] * 3, [0] * 5], "longest": 16}
    paths = [str(lengths_file), "open.onnx"]
    found = measure(paths, length=None, threads=1, runs=4, warmup=1, words=2, rows=[rows] * 2)
    assert [len(seconds) for seconds in found["seconds"]] == [4, 4] and found["tokens"] == [3, 5]
    assert {shapes["input_ids"] for shapes in Session.fed} == {(1, 3), (1, 5)}
    measure(["fixed.onnx"], length=None, threads=1, runs=1, warmup=0, words=2, rows=[rows])
    assert Session.fed[-1] == {"input_ids": (1, 12), "attention_mask": (1, 12)}
    long = {"input_ids": [[1] * 13], "token_type_ids": [[0] * 13], "longest": 16}
    with pytest.raises(KerasBertError, match="at most 12 tokens"):
        measure(["fixed.onnx"], length=None, threads=1, runs=1, warmup=0, words=2, rows=[long])


def test_onnx_files_that_do_not_open_are_refused(onnx, monkeypatch):
    with pytest.raises(KerasBertError, match="Protobuf parsing failed"):
        open_onnx("bad.onnx", 1, None)
    with pytest.raises(KerasBertError, match="received pixels"):
        open_onnx("other.onnx", 1, None)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(KerasBertError, match="package onnxruntime"):
        open_onnx("open.onnx", 1, None)


def test_conflicting_arguments_are_refused(float_file, lengths_file):
    with pytest.raises(KerasBertError, match="received both"):
        benchmark(lengths_file, data=["good"], lengths=[8])
    with pytest.raises(KerasBertError, match="metadata"):
        benchmark(float_file, data=["good"])
    with pytest.raises(KerasBertError, match="onnx first"):
        benchmark("x.onnx")
    with pytest.raises(KerasBertError, match="packed arrays"):
        benchmark(lengths_file, data={"input_ids": np.ones((1, 8), np.int32)})


@pytest.mark.long
def test_the_command_draws_a_page(tiny, lengths_file, tmp_path):
    data, page = tmp_path / "texts.tsv", tmp_path / "latency.html"
    data.write_text("text\tlabel\n" + "".join(f"{text}\tnegative\n" for text in tiny.rows(6)[0]))
    command = ["benchmark", str(lengths_file), "--data", str(data), "--runs", "6", "--report"]
    assert main([*command, str(page)]) == 0
    content = page.read_text()
    assert "Latency of one row" in content and "By the tokens of a text" in content
    assert main([*command, str(tmp_path / "latency.json")]) == 0
    assert json.loads((tmp_path / "latency.json").read_text())["measurements"][0]["by_tokens"]


@pytest.fixture(scope="module")
def pruned_file(tiny, trained, tmp_path_factory):
    """`trained` with a vocabulary of fewer words, so that its ids are others."""
    pruned = trim_vocabulary(trained, tiny.rows(2)[0])
    assert pruned.config.vocab_size < trained.config.vocab_size
    return kb.export.convert(pruned, recipe="float32").save(tmp_path_factory.mktemp("pruned") / "pruned.tflite")


@pytest.mark.long
def test_each_file_tokenizes_the_texts_itself(tiny, lengths_file, pruned_file):
    texts = [*tiny.rows(6)[0], "? ##s we saw so !"]
    ours, theirs = tokenized_rows(ModelFile.read(lengths_file), [ModelFile.read(pruned_file)], texts, None)
    for rows, file in ((ours, lengths_file), (theirs, pruned_file)):
        tokenizer = open_pipeline(file).tokenizer
        assert rows["input_ids"] == [tokenizer.encode([text], max_length=16).input_ids[0] for text in texts]
    assert ours["input_ids"] != theirs["input_ids"]
    found = benchmark(lengths_file, against=pruned_file, data=texts, runs=7, warmup=0)
    assert [each.latency.runs for each in found.measurements] == [7, 7] and found.comparisons[0].ratio > 0


@pytest.mark.long
def test_a_file_without_tokenizer_must_have_the_sizes_of_the_first(tiny, lengths_file, float_file, tmp_path):
    with pytest.raises(
        KerasBertError, match=r"tokenizer in .*float.tflite, or the sizes of .*\(40 token ids\).*30 rows"
    ):
        benchmark(lengths_file, against=float_file, data=["good film"])
    bare = tmp_path / "bare.tflite"
    content = lengths_file.read_bytes()
    bare.write_bytes(content[: len(content) - packed_metadata.packed_size(content)])
    first, second = tokenized_rows(ModelFile.read(lengths_file), [ModelFile.read(bare)], ["good film"], None)
    assert first == second


def test_rows_are_texts_sampled_evenly(tiny, lengths_file):
    texts = tiny.rows(10)[0]
    (sampled,) = tokenized_rows(ModelFile.read(lengths_file), [], texts, 4)
    (whole,) = tokenized_rows(ModelFile.read(lengths_file), [], texts, None)
    assert sampled["input_ids"] == [whole["input_ids"][row] for row in (0, 3, 6, 9)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": ["good"], "rows": 0}, "number of rows of at least 1.*received 0"),
        ({"rows": 3}, "expected data"),
        ({"lengths": "8"}, "lengths as a whole number"),
        ({"lengths": [8, True]}, "lengths as a whole number"),
        ({"lengths": 0}, "lengths as a whole number"),
        ({"threads": 1.0}, "threads as a whole number"),
        ({"runs": "3"}, "runs and threads"),
    ],
)
def test_counts_of_other_types_are_refused(lengths_file, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        benchmark(lengths_file, **arguments)


@pytest.mark.long
def test_both_files_are_compared_at_the_length_of_the_first(resizable_file, int8_file, monkeypatch):
    lengths = []
    run_worker = benchmarking.run_worker
    monkeypatch.setattr(
        benchmarking,
        "run_worker",
        lambda paths, **settings: (lengths.append(settings["length"]), run_worker(paths, **settings))[1],
    )
    found = benchmark(int8_file, runs=1, warmup=0, against=resizable_file)
    assert [each.length for each in found.measurements] == [8, 8] and lengths == [None, 8, 8]


def test_models_may_divide_a_text_into_other_numbers_of_rows():
    done = []
    runs = [[lambda name=name: done.append(name) for name in "abc"], [lambda: done.append("z")]]
    seconds = benchmark_worker._time_rounds(runs, warmup=0, rounds=2)
    assert [len(each) for each in seconds] == [6, 2] and sorted(done) == sorted("abczabcz")
