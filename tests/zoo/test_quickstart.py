"""The quickstart on few rows: every step runs, and the report agrees with the summary."""

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.zoo import quickstart

ROWS = 64


@pytest.fixture(scope="module")
def quickstart_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("quickstart") / "new" / "folder"
    with contextlib.redirect_stderr(io.StringIO()) as output:
        return quickstart.run(out, epochs=1, rows=ROWS), out, output.getvalue()


@pytest.mark.long
def test_output_folder_holds_models_files_and_report(quickstart_run):
    summary, out, _ = quickstart_run
    files = {f"assistant-{recipe}.tflite" for recipe in quickstart.RECIPES}
    cards = {f"{name}.json" for name in files}
    assert {path.name for path in out.iterdir()} == files | cards | {"float", "int8", "report.html", "summary.json"}
    assert [row.model for row in summary.models[2:]] == [f"assistant-{recipe}.tflite" for recipe in quickstart.RECIPES]
    for row in summary.models[2:]:
        assert row.size == (out / row.model).stat().st_size
        assert row.latency > 0
    sizes = [row.size for row in summary.models[2:]]
    assert sizes[2] < sizes[0] / 3, "an int8 file is about a quarter of the float one"


@pytest.mark.long
def test_files_agree_with_their_keras_models(quickstart_run):
    summary, _, _ = quickstart_run
    assert summary.verdicts["float32"] == "passed"
    assert summary.models[2].agreement == 1.0
    assert summary.models[2].test_accuracy == pytest.approx(summary.models[0].test_accuracy)
    # After two updates all classes are about equally likely, so 8 bits may well swap some.
    assert all(row.agreement >= 0.85 for row in summary.models[3:])


@pytest.mark.long
def test_report_holds_the_numbers_of_the_summary(quickstart_run):
    summary, _, _ = quickstart_run
    page = Path(summary.report).read_text("utf-8")
    rows = re.sub(r'<td data-label="[^"]*">', "<td>", page)
    for cells in summary.cells():
        assert "".join(f"<td>{cell}</td>" for cell in cells) in rows
    for text, intent, probability in summary.predictions:
        assert f"<td>{text}</td><td>{intent}</td><td>{probability:.1%}</td>" in rows
    assert "Loss" in page and "dev, 8-bit training" in page
    assert not re.search(r"(src|href)\s*=\s*['\"]?(https?:)?//", page), "the page refers to external files"


@pytest.mark.long
def test_summary_is_saved_as_json(quickstart_run):
    summary, out, _ = quickstart_run
    saved = json.loads((out / "summary.json").read_text("utf-8"))
    assert saved["ok"] is summary.ok
    assert [row["test_accuracy"] for row in saved["models"]] == [row.test_accuracy for row in summary.models]
    assert len(saved["history"]["float"]["loss"]) == len(saved["history"]["int8"]["val_accuracy"]) == 1


@pytest.mark.long
def test_plain_output_numbers_the_steps(quickstart_run):
    _, _, output = quickstart_run
    assert [line[:3] for line in output.splitlines() if line.endswith(" ...")] == [f"{n}/7" for n in range(1, 8)]
    assert "    epoch 1 of 1: loss" in output
    assert "\x1b" not in output


@pytest.mark.long
def test_saved_models_load_again(quickstart_run):
    import kerasbert as kb

    summary, out, _ = quickstart_run
    task = kb.load_task(out / "int8")
    assert task.policy.recipe == "static_wi8_ai8"
    assert task.labels == quickstart.assistant.INTENTS


@pytest.mark.parametrize("bad", [{"epochs": 0}, {"rows": 0}])
def test_counts_below_one_are_rejected(tmp_path, bad):
    with pytest.raises(KerasBertError, match="at least 1, received 0"):
        quickstart.run(tmp_path, **bad)


@pytest.mark.long
def test_own_results_may_be_replaced(quickstart_run):
    assert quickstart._check_arguments(quickstart_run[1], epochs=None, rows=None) == quickstart_run[1]


def test_file_instead_of_the_output_folder_is_rejected(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(KerasBertError, match="expected a folder"):
        quickstart.run(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"
