import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

from kerasbert.console.progress import Progress
from kerasbert.errors import KerasBertError
from kerasbert.export import Tolerance, validate
from kerasbert.export.tflite import metadata
from kerasbert.export.validation.checks import Check, ValidationReport
from kerasbert.processors.embedding import Embedding

CPU_CHECKS = ["signature", "cpu-xnnpack", "cpu-reference", "cpu-threads 1=2", "settings", "pipeline"]


@pytest.fixture
def packed(card, tmp_path):
    def write(source, name="model.tflite", **changes):
        path = tmp_path / name
        path.write_bytes(metadata.append(source, dataclasses.replace(card, **changes)))
        return path

    return write


@pytest.fixture
def archive(float_file, helpers, tmp_path):
    """Inputs, outputs and labels of 400 rows; every tenth label is one that the model gets wrong."""
    rows = helpers.packed_rows(400)
    outputs = helpers.run_rows(float_file, rows)
    labels = outputs["probabilities"].argmax(1)
    labels[::10] = (labels[::10] + 1) % 3
    path = tmp_path / "reference.npz"
    np.savez(path, **rows, **outputs, labels=labels)
    return path


def test_against_a_task_on_texts(float_file, packed, helpers):
    path, texts = packed(float_file), helpers.texts(20)
    task = helpers.StubTask(float_file)
    classes = task.serve_numpy(task.pack(texts, length=8))["probabilities"].argmax(1)
    report = validate(path, against=task, data=(texts, [task.labels[i] for i in classes]), reference_rows=5)
    assert report.ok and [check.name for check in report.checks] == CPU_CHECKS
    _, xnnpack, reference, threads, _, _ = report.checks
    assert xnnpack.rows == 20 and reference.rows == 5 and "5 of 20 rows" in reference.reason
    assert xnnpack.partitions == 1 and [sum(xnnpack.ops[kind].values()) for kind in ("xnnpack", "builtin")] == [21, 3]
    assert list(reference.ops) == ["reference"] and sum(reference.ops["reference"].values()) == 24
    assert xnnpack.metrics[0].name == "accuracy" and xnnpack.metrics[0].model == 1.0
    assert xnnpack.latency.runs == 20 and 0 < xnnpack.latency.p50 <= xnnpack.latency.p90
    assert xnnpack.device and threads.threads >= 2
    assert "cpu-xnnpack" in report.table() and json.loads(report.json())["ok"] is True


def test_against_an_archive(int8_file, archive):
    report = validate(int8_file, against=archive)
    assert report.ok and report.recipe == "dynamic_wi8_afp32" and report.rows == 400
    metric = report.checks[1].metrics[0]
    assert metric.reference == pytest.approx(0.9) and metric.share == pytest.approx(1, abs=0.06)
    assert report.checks[1].outputs[0].max_error > 1e-5
    assert "cpu-xnnpack, 95 % sure: agreement 1.0000 (at least 0.9925), accuracy kept" in report.table()
    assert "; 1 row = 0.28%)" in report.table()
    assert "no kerasbert metadata" in report.notes[0]


def test_resizable_file_takes_the_length_of_the_data(resizable_file, float_file, helpers):
    rows = helpers.packed_rows(10)
    report = validate(resizable_file, against=float_file, data=rows)
    assert report.ok and report.length == 8 and report.checks[1].partitions == 1
    assert "no labels" in report.notes[-1]


def test_a_wrong_model_fails(float_file, archive, helpers, tmp_path):
    with np.load(archive) as arrays:
        changed = dict(arrays)
    changed["probabilities"] = changed["probabilities"][:, ::-1]
    path = tmp_path / "wrong.npz"
    np.savez(path, **changed)
    report = validate(float_file, against=path)
    assert report.verdict == "failed" and not report.ok
    xnnpack = report.checks[1]
    assert xnnpack.status == "failed" and "off by up to" in xnnpack.reason
    assert report.checks[3].status == "passed"  # it still agrees with itself


def test_tolerance_decides(int8_file, archive):
    assert validate(int8_file, against=archive, tolerance=0.5).ok
    strict = validate(int8_file, against=archive, tolerance=1e-7)
    assert [check.status for check in strict.checks] == ["passed", "failed", "failed", "passed"]
    metric = validate(int8_file, against=archive, tolerance=Tolerance(metric_share=1.5))
    assert "surely less than 150.00%" in metric.checks[1].reason and metric.checks[2].rows == 64


def test_nan_is_a_failure(float_file, archive, monkeypatch):
    from kerasbert.export.runtime import interpreter_session

    run = interpreter_session._run_graph

    def spoiled(*arguments):
        outputs, seconds = run(*arguments)
        return {k: v * np.nan for k, v in outputs.items()}, seconds

    monkeypatch.setattr(interpreter_session, "_run_graph", spoiled)
    report = validate(float_file, against=archive, tolerance=Tolerance())
    assert report.verdict == "failed"
    assert "NaN or infinity in 'probabilities' on 400 of 400 rows" in report.checks[1].reason
    assert json.loads(report.json())["checks"][1]["outputs"][0]["max_error"] is None


def test_an_operator_that_fails_is_a_failed_check(float_file, archive, monkeypatch):
    from kerasbert.export.runtime import interpreter_session

    def explode(*arguments):
        raise KerasBertError("expected it to run, received a node that failed to prepare.")

    monkeypatch.setattr(interpreter_session, "_run_graph", explode)
    report = validate(float_file, against=archive)
    assert [check.status for check in report.checks[1:]] == ["failed"] * 3
    assert "failed to prepare" in report.checks[1].reason


def test_missing_devices_are_not_run(float_file, archive, monkeypatch, tmp_path):
    monkeypatch.setenv("KERASBERT_HOME", str(tmp_path))
    report = validate(float_file, against=archive, on=["cpu", "tflite-2.14"])
    assert report.checks[-1].status == "not run" and "kerasbert setup tflite-2.14" in report.checks[-1].reason
    assert report.verdict == "incomplete" and not report.ok


def test_unknown_backends_are_an_error(float_file, archive):
    with pytest.raises(KerasBertError, match="expected backends among cpu, gpu, .*, all, received 'npu'"):
        validate(float_file, against=archive, on=["npu"])


def test_verdicts():
    def report(*statuses):
        checks = tuple(Check(str(i), status) for i, status in enumerate(statuses))
        return ValidationReport("m", "a", "float32", "single_label", 1, 8, Tolerance(), checks, {})

    assert report("passed", "passed").ok
    assert report("passed", "no difference found").verdict == "no difference found"
    assert report("passed", "no difference found").ok
    assert report("no difference found", "not judged").verdict == "not judged"
    assert report("no difference found", "not run").verdict == "incomplete"
    assert report("passed", "not run").verdict == "incomplete"
    assert report("not run", "failed").verdict == "failed"
    assert not report().ok


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"labels": ("a", "b")}, "same labels.*a, b, c"),
        ({"labels": ("a", "c", "b")}, "same labels"),
        ({"vocabulary": ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "other")}, "same vocabulary"),
        ({"kind": "regression", "labels": None}, "same problem"),
    ],
)
def test_a_reference_of_another_kind_is_refused(float_file, packed, helpers, overrides, said):
    with pytest.raises(KerasBertError, match=said):
        validate(packed(float_file), against=helpers.StubTask(float_file, **overrides), data=helpers.texts(3))


@pytest.mark.parametrize(
    ("labels", "said"), [(["a", "b", "z"], "'z'"), ([0, 1, 7], "0 to 2.*7"), ([0, 1], "3 rows and 2")]
)
def test_labels_of_another_model_are_refused(float_file, packed, helpers, labels, said):
    with pytest.raises(KerasBertError, match=said):
        validate(packed(float_file), against=helpers.StubTask(float_file), data=(helpers.texts(3), labels))


def test_different_widths_and_outputs(float_file, embedding_file, archive, helpers, tmp_path):
    with np.load(archive) as arrays:
        wide = {**arrays, "probabilities": np.ones((400, 5), np.float32) / 5}
    path = tmp_path / "wide.npz"
    np.savez(path, **wide)
    with pytest.raises(KerasBertError, match=r"same width.*\(3,\).*\(5,\)"):
        validate(float_file, against=path)
    with pytest.raises(KerasBertError, match="outputs probabilities.*embedding"):
        validate(float_file, against=embedding_file, data=helpers.packed_rows(2))


def test_texts_need_metadata(float_file, int8_file):
    with pytest.raises(KerasBertError, match="kerasbert metadata.*kerasbert convert"):
        validate(int8_file, against=float_file, data=["word1 word2"])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "at least one row"),
        ([1, 2], "texts to be a string.*row 0"),
        ((["word1"], ["word2", "word3"]), "labels"),
        (((["word1"], ["word1", "word2"]), [1]), "1 texts, 2 pairs"),
        ({"input_ids": np.ones((2, 8), np.int32)}, "attention_mask"),
    ],
)
def test_data_of_the_wrong_shape(float_file, packed, helpers, data, said):
    with pytest.raises(KerasBertError, match=said):
        validate(packed(float_file), against=helpers.StubTask(float_file), data=data)


def test_packed_rows_of_another_length(float_file, helpers):
    with pytest.raises(KerasBertError, match=r"shape \(1, 8\).*\(1, 12\)"):
        validate(float_file, against=float_file, data=helpers.packed_rows(2, length=12))


def test_damaged_archive(float_file, tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"nonsense")
    with pytest.raises(KerasBertError, match="npz"):
        validate(float_file, against=path)
    np.savez(path, input_ids=np.ones((2, 8), np.int32))
    with pytest.raises(KerasBertError, match="at least one output"):
        validate(float_file, against=path)


def test_sentence_pairs_of_an_encoder(embedding_file, packed, helpers):
    path = packed(embedding_file, task="SentenceEncoder", processor=Embedding())
    task = helpers.StubTask(embedding_file, kind="embedding", labels=None)
    texts = helpers.texts(12)
    report = validate(path, against=task, data=((texts[:6], texts[6:]), [0.0, 1.5, 2.0, 3.0, 4.0, 5.0]))
    assert report.ok and report.rows == 6 and report.processor.name == "embedding"
    assert report.checks[1].latency.runs == report.checks[1].outputs[0].lines == 12
    assert [metric.name for metric in report.checks[1].metrics] == ["Spearman", "Pearson"]
    assert report.checks[1].metrics[0].share == pytest.approx(1)
    assert report.checks[1].outputs[0].cosine == pytest.approx(1)


def test_rows_are_spread_and_progress_is_reported(float_file, archive):
    told = []

    class Told(Progress):
        def begin(self, stage, total=0, unit=""):
            told.append((stage, total))

        def advance(self, done, total=None, figures=()):
            told.append(done)

    report = validate(float_file, against=archive, rows=7, progress=Told())
    assert report.rows == 7
    start = told.index(("running cpu-xnnpack", 7))
    assert told[start + 7] == 7 and told[0] == ("running reference.npz", 7)
    with pytest.raises(KerasBertError, match="expected a kerasbert Progress, received a function"):
        validate(float_file, against=archive, progress=lambda *_: None)


def test_report_files(float_file, archive, tmp_path):
    validate(float_file, against=archive, rows=3, report=tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "passed"
    with pytest.raises(KerasBertError, match="html or .json"):
        validate(float_file, against=archive, rows=3, report=tmp_path / "r.pdf")


LIGHT = """
import sys
for name in ("tensorflow", "tf_keras", "typer", "rich", "tokenizers", "matplotlib", "safetensors", "huggingface_hub"):
    sys.modules[name] = None
import kerasbert.export, kerasbert.export.measurement.benchmarking
import kerasbert.export.validation.tolerances
report = kerasbert.export.validate(sys.argv[1], against=sys.argv[2], report=sys.argv[3])
assert report.ok, report.table()
assert kerasbert.export.inspect(sys.argv[1]).parameters > 0
assert kerasbert.export.validation.tolerances.TOLERANCES["float32"].max_error == 1e-4
print("light")
"""


def test_the_note_on_bundled_sentences_says_what_ran(float_file, packed, helpers):
    task = helpers.StubTask(float_file)
    rules = validate(float_file, against=task, on=["gpu-opencl"])
    assert not any(check.outputs for check in rules.checks)
    assert rules.notes[-1] == "note: no data were given, and nothing was run: only rules were applied"
    whole = validate(packed(float_file), against=task, on=["gpu-opencl"], rows=16)
    assert "16 of 430 English sentences" in whole.notes[-1]  # through the file's own pipeline
    assert [check.name for check in whole.checks if check.outputs] == ["pipeline"]


def test_checks_name_their_arithmetic(float_file, int8_file, archive):
    for file, expected in ((float_file, "fp32"), (int8_file, "int8 and fp32")):
        report = validate(file, against=archive, rows=20)
        assert {check.arithmetic for check in report.checks if check.outputs} == {expected}
        assert f", in {expected}" in report.table()


def test_a_recipe_that_the_operators_do_not_have_is_found(float_file, packed, helpers):
    """A float file that calls itself int4 is judged by the limits of float files."""
    report = validate(
        packed(float_file, recipe="dynamic_wi4_afp32"), against=helpers.StubTask(float_file), data=helpers.texts(8)
    )
    assert report.recipe == "float32" and report.tolerance.max_error == 1e-4
    reasons = {check.name: check.reason for check in report.checks if check.status == "failed"}
    assert "recipe 'dynamic_wi4_afp32' instead of 'float32'" in reasons["settings"] and report.verdict == "failed"


def test_needs_numpy_and_a_runtime_only(float_file, archive, tmp_path):
    command = [sys.executable, "-W", "error", "-c", LIGHT, str(float_file), str(archive), str(tmp_path / "r.html")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.strip() == "light", done.stderr
    assert (tmp_path / "r.html").exists()


def test_data_from_a_table(float_file, packed, helpers, tmp_path):
    task, texts = helpers.StubTask(float_file), helpers.texts(6)
    path = tmp_path / "dev.tsv"
    path.write_text(
        "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in zip(texts, "abcabc", strict=True))
    )
    report = validate(packed(float_file), against=task, data=path)
    assert report.ok and report.rows == 6 and report.checks[1].metrics[0].name == "accuracy"


def test_a_model_that_was_trained_further_is_judged_by_its_metric(int8_file, packed, helpers):
    path = packed(int8_file, recipe="dynamic_wi8_afp32", weights="0123456789abcdef")
    texts, task = helpers.texts(300), helpers.StubTask(int8_file)
    classes = task.serve_numpy(task.pack(texts, length=8))["probabilities"].argmax(1)
    labels = [task.labels[i] for i in classes]
    task.fingerprint = lambda: "0123456789abcdef"
    same = validate(path, against=task, data=(texts, labels), reference_rows=30)
    assert same.ok and same.tolerance.agreement == 0.98 and not any("other weights" in note for note in same.notes)

    task.fingerprint = lambda: "fedcba9876543210"
    other = validate(path, against=task, data=(texts, labels), reference_rows=30)
    assert other.ok and other.tolerance.agreement == 0.9 and other.tolerance.metric_share == 0.99
    assert any("StubTask has other weights" in note for note in other.notes)
    unlabelled = validate(path, against=task, data=texts, reference_rows=30)
    assert unlabelled.verdict == "not judged" and "the data carry no labels" in unlabelled.checks[1].reason


def test_a_broken_file_fails_against_other_weights_too(float_file, int8_file, packed, helpers):
    path = packed(int8_file, recipe="dynamic_wi8_afp32", weights="0123456789abcdef")
    texts, task = helpers.texts(40), helpers.StubTask(float_file)
    serve = task.serve_numpy
    task.fingerprint = lambda: "fedcba9876543210"
    task.serve_numpy = lambda rows: {"probabilities": serve(rows)["probabilities"][:, ::-1]}
    report = validate(path, against=task, data=texts, reference_rows=2)
    assert report.verdict == "failed" and "less than 0.9" in report.checks[1].reason


def test_a_file_that_crashes_its_process_is_a_failed_check(monkeypatch, float_file, helpers, tmp_path):
    from kerasbert.export.backends.subprocesses import probe
    from kerasbert.export.runtime.process import ProcessResult

    monkeypatch.setattr(probe, "run_module", lambda *_: ProcessResult(-11, "", 1.0))
    page = tmp_path / "report.html"
    settings = {"against": float_file, "data": helpers.packed_rows(2), "report": page}
    report = validate(float_file, **settings, isolated=True)
    (check,) = report.checks
    assert not report.ok and check.status == "failed" and "SIGSEGV" in check.reason
    assert "SIGSEGV" in page.read_text()
    assert validate(float_file, **settings).ok


def test_the_probe_reports_crashes_only(float_file, tmp_path):
    from kerasbert.export.backends.subprocesses.probe import failure_reason

    assert failure_reason(float_file) == ""
    cut = tmp_path / "cut.tflite"
    cut.write_bytes(float_file.read_bytes()[:2000])
    assert failure_reason(cut) == ""


def test_few_rows_are_not_judged(int8_file, archive):
    report = validate(int8_file, against=archive, rows=40)
    assert (
        report.verdict == "not judged" and "more rows would tell" in report.checks[1].reason
    )  # most labels are one class
    with np.load(archive) as arrays:
        unlabelled = {name: values for name, values in arrays.items() if name != "labels"}
    np.savez(archive, **unlabelled)
    report = validate(int8_file, against=archive, rows=40)
    assert report.verdict == "no difference found" and report.ok
    proven = "40 rows prove agreement of at least 0.9278; the limit is 0.9800, about 109 more rows would prove it"
    assert report.checks[1].reason == proven


def test_a_sample_does_not_pass_where_all_rows_do_not_decide(int8_file, archive):
    """A spot check needs 0.9 only, and would pass on 64 of 117 rows, while all 117 cannot prove 0.98."""
    with np.load(archive) as arrays:
        unlabelled = {name: values for name, values in arrays.items() if name != "labels"}
    np.savez(archive, **unlabelled)
    report = validate(int8_file, against=archive, rows=117, reference_rows=64)
    statuses = {check.name: check.status for check in report.checks}
    assert statuses["cpu-xnnpack"] == statuses["cpu-reference"] == report.verdict == "no difference found"
    assert "117 rows prove agreement of at least 0.9747" in report.checks[1].reason
    assert "a sample of the rows of cpu-xnnpack, which do not decide" in report.checks[2].reason


def test_slow_kernels_pass_on_a_sample_where_fast_ones_prove_the_file(int8_file, archive):
    spot, few, alone = (
        validate(int8_file, against=archive, reference_rows=rows, on=on)
        for rows, on in ((64, ["cpu"]), (10, ["cpu"]), (64, ["tflite-2.14"]))
    )
    assert spot.ok and spot.checks[2].rows == 64 and spot.checks[2].metrics[0].evidence.rows == 64
    assert (
        few.verdict == few.checks[2].status == "no difference found" and "the limit is 0.9000" in few.checks[2].reason
    )
    assert alone.verdict != "passed"


def test_a_number_of_rows_holds_for_slow_kernels_too(float_file, archive):
    assert [check.rows for check in validate(float_file, against=archive, rows=150).checks] == [150] * 4
    assert [check.rows for check in validate(float_file, against=archive).checks] == [400, 400, 64, 64]
    both = validate(float_file, against=archive, rows=150, reference_rows=20)
    assert [check.rows for check in both.checks] == [150, 150, 20, 20]


def test_a_metric_of_zero_proves_nothing(int8_file, archive):
    with np.load(archive) as arrays:
        wrong = {**arrays, "labels": (arrays["probabilities"].argmax(1) + 1) % 3}
    np.savez(archive, **wrong)
    report = validate(int8_file, against=archive)
    assert report.verdict == "not judged" and "accuracy is 0.0000 for the reference" in report.checks[1].reason
    assert any(note.startswith("warning: accuracy is 0.0000 of reference.npz") for note in report.notes)
    assert json.loads(report.json())["checks"][1]["metrics"][0]["share"] is None


def test_bundled_sentences_run_where_no_data_are_given(float_file, packed, helpers):
    task = helpers.StubTask(float_file)
    report = validate(packed(float_file), against=task)
    assert report.ok and report.rows == 430 and not report.checks[1].metrics
    assert "no data were given, so 430 English sentences" in report.notes[0] and "no metric" in report.notes[0]
    some = validate(packed(float_file), against=task, rows=64)
    assert "no data were given, so 64 of 430 English sentences" in some.notes[0]
    with pytest.raises(KerasBertError, match="names no task.*`data=`"):
        validate(float_file, against=float_file)
