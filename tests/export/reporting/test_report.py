import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export import Tolerance, inspect, write_html
from kerasbert.export.reporting.charts import bar_chart, histogram, line_chart, scatter
from kerasbert.export.reporting.report import Bars, Lines, Table
from kerasbert.export.validation.checks import (
    Check,
    Latency,
    ValidationReport,
    check_columns,
    check_report_path,
    check_row,
)
from kerasbert.export.validation.comparison import Metric, compare
from kerasbert.processors.classification import SingleLabel

HOSTILE = "<script>alert('x')</script>&\""


class _Balance(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("meta", "br", "rect", "circle", "line", "polyline"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def report():
    draw = np.random.default_rng(0)
    expected = draw.dirichlet(np.ones(3), 50)
    actual = expected + 0.01 * draw.normal(size=expected.shape)
    check = Check(
        "cpu-xnnpack",
        "failed",
        HOSTILE,
        device="a CPU",
        threads=1,
        rows=50,
        partitions=2,
        ops={"xnnpack": {"ADD": 3}, "builtin": {"GATHER": 1}},
        outputs=(compare("probabilities", [(expected, actual)], "single_label"),),
        metrics=(Metric("accuracy", 0.9, 0.8),),
        latency=Latency(1e-3, 2e-3, 3e-3, 1e-3, 50),
    )
    checks = (check, Check("gpu", "not run", "no GPU"), Check("web-wasm", "passed", device="Chromium 1"))
    samples = {"cpu: probabilities": (expected.ravel(), actual.ravel())}
    return ValidationReport(
        HOSTILE,
        HOSTILE,
        "static_wi8_ai8",
        SingleLabel(("a", "b", "c")),
        50,
        8,
        Tolerance(),
        checks,
        {"cpu": HOSTILE},
        (HOSTILE,),
        samples,
    )


def test_a_page_is_self_contained_and_escaped(report, float_file, tmp_path):
    sections = [
        Table(HOSTILE, ("model", HOSTILE), [("float", HOSTILE), ("int8", 0.95)], HOSTILE),
        Lines("Training", {HOSTILE: [(1, 0.5), (2, float("nan")), (3, 0.1)]}),
        Bars("Accuracy", [(HOSTILE, 0.95), ("QAT", 0.94)], "percent"),
    ]
    path = tmp_path / "report.html"
    write_html(
        path, report, title=HOSTILE, inspection=inspect(float_file), sections=sections, command=f"kerasbert {HOSTILE}"
    )
    page = path.read_text()
    assert "<script" not in page and "alert(&#x27;x&#x27;)" in page
    assert not re.search(r"https?:|//[a-z]|src=|href=|url\(|@import", page)
    parser = _Balance()
    parser.feed(page)
    assert not parser.open
    assert parser.seen.count("svg") >= 6
    assert "prefers-color-scheme: dark" in page
    for expected in (
        "At least one check failed",
        "not run",
        "GATHER",
        "Chromium 1",
        "mean cosine",
        "88.89%",
        "static_wi8_ai8",
        "prefers-color-scheme: dark",
    ):
        assert expected in page


def test_remarks_and_labels_are_not_cut(report, tmp_path):
    """A remark has the width of the table, a long label its own line, and a metric's bar the name of its model."""
    long = "a remark of many words that no column of a table has room for " * 3
    check = dataclasses.replace(
        report.checks[0], reason=long, metrics=(Metric("accuracy", 0.9, 0.8), Metric("macro F1", 0.7, 0.6))
    )
    report = dataclasses.replace(
        report, model="assistant-dynamic_wi8_afp32.tflite", against="runs/mine", checks=(check,)
    )
    page = write_html(tmp_path / "r.html", report).read_text()
    assert f'<tr class="below"><td colspan="11"><p>{long}' in page
    assert (
        "theirs" not in page
        and "</i>runs/mine</span>" in page
        and "</i>assistant-dynamic_wi8_afp32.tflite</span>" in page
    )
    chart = bar_chart([("assistant-dynamic_wi8_afp32.tflite, one thread p50", 1.0)], str)
    assert ">assistant-dynamic_wi8_afp32.tflite, one thread p50</text>" in chart and "…" not in chart
    wrapped = bar_chart([("word " * 20, 1.0)], str)
    assert wrapped.count('class="label"') == 2 and wrapped.count("word") == 20


def test_a_page_may_lack_a_validation(tmp_path):
    page = write_html(tmp_path / "r.html", title="Only a table", sections=[Table("T", ("a",), [(1,)])]).read_text()
    assert "Only a table" in page and "banner" not in page.partition("</style>")[2]


def test_charts_draw_nan_and_empty_data():
    assert histogram(np.array([np.nan]), "x") == ""
    assert "svg" in histogram(np.zeros(5), "x")
    assert scatter({}, "a", "b") == ""
    assert "svg" in scatter({"one": (np.ones(1), np.ones(1))}, "a", "b")
    assert line_chart({"loss": []}, "a", "b") == ""
    assert "svg" in line_chart({"loss": [(1, 2.0)]}, "a", "b")
    assert "nan" in bar_chart([("a", float("nan")), ("b", 0.0)], str)


def test_other_suffixes_are_refused():
    with pytest.raises(KerasBertError, match="html"):
        check_report_path("report.txt")


@pytest.mark.parametrize("wide", [False, True])
def test_a_row_has_a_cell_under_each_heading(report, wide):
    columns, row = check_columns(report.processor, wide), check_row(report.checks[0], wide)
    assert len(row) == len(columns)
    assert (row[columns.index("share")], row[columns.index("p50")]) == ("88.89%", "1 ms")
    assert ("mean cosine" in columns, "partitions" in columns) == (wide, not wide)


def test_devices_are_named_in_text(report):
    assert "cpu-xnnpack: on a CPU" in report.table() and "web-wasm: on Chromium 1" in report.table()
