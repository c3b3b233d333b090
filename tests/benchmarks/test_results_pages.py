"""The pages of results are those that `benchmarks.reports.results_pages` writes."""

import re

import pytest

from benchmarks.common.record import ROOT
from benchmarks.reports import plots
from benchmarks.reports.front_tables import support
from benchmarks.reports.markdown_tables import fill, places, table
from benchmarks.reports.results import names
from benchmarks.reports.results_pages import FRONT_PAGES, IMAGES, PAGES, generated, page_path

LARGEST_IMAGE = 300_000  # bytes


@pytest.fixture(scope="module")
def pages():
    return generated(ROOT)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_up_to_date(name, pages):
    path = page_path(name)
    message = f"{path} differs from the result files: run python -m benchmarks.reports.results_pages"
    assert path.read_text("utf-8") == pages[path], message


@pytest.mark.parametrize("name", FRONT_PAGES)
def test_a_front_page_is_up_to_date(name, pages):
    assert (ROOT / name).read_text("utf-8") == pages[ROOT / name], "run python -m benchmarks.reports.results_pages"


@pytest.mark.parametrize("name", PAGES)
def test_every_table_of_a_page_is_generated(name):
    """A table without markers lists words or links, and no numbers with decimals."""
    text = page_path(name).read_text("utf-8")
    assert sorted(places(text)) == sorted(PAGES[name])
    outside = re.sub(r"^<!-- (?!end)[^>]+ -->$.*?^<!-- end -->$", "", text, flags=re.DOTALL | re.MULTILINE)
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert [row for row in rows if re.search(r"\d\.\d", row)] == []


def test_every_result_file_is_named():
    text = page_path("index").read_text("utf-8")
    assert [name for name in names() if f"`{name}.json`" not in text] == []


@pytest.mark.parametrize("name", plots.PLOTS)
@pytest.mark.parametrize("theme", plots.THEMES)
def test_a_plot_is_shown(name, theme):
    path = IMAGES / f"{name}-{theme}.png"
    assert 0 < path.stat().st_size < LARGEST_IMAGE
    shown = f"](../images/{path.name}#only-{theme})"
    assert any(shown in page_path(page).read_text("utf-8") for page in PAGES)


@pytest.mark.long
def test_plots_are_drawn_from_the_current_results(tmp_path):
    plots.write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}-{theme}.png" for name in plots.PLOTS for theme in plots.THEMES
    )


def test_a_table_has_a_cell_for_each_column():
    assert table(("a", "b (ms)"), [(1, None)]) == ["| a | b (ms) |", "|---|---|", "| 1 | - |"]
    with pytest.raises(ValueError, match="expected 2 cells, received 1"):
        table(("a", "b"), [(1,)])


def test_a_table_needs_its_place():
    text = "before\n<!-- x -->\nold\n<!-- end -->\nafter"
    assert fill(text, {"x": ["new"]}) == "before\n<!-- x -->\nnew\n<!-- end -->\nafter"
    with pytest.raises(ValueError, match="expected one place <!-- y -->, received 0"):
        fill(text, {"y": ["new"]})


def test_a_failed_check_counts_against_its_task():
    def run(head, status):
        checks = {name: {"status": status} for name in ("cpu-xnnpack", "gpu-strict", "gpu-half")}
        return {"architecture": "bert", "recipe": "float32", "head": head, "checks": checks}

    runs = [run("classifier", "passed"), run("TextClassifier", "failed"), run("tagger", "passed")]
    row = support({"runs": runs})[2]
    assert row == "| BERT | float32 | 1 of 2 tasks | - | 1 of 2 tasks | - | - |"
