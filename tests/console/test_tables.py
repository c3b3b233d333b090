import pytest

from kerasbert.console.tables import Facts, Table, render
from kerasbert.console.widths import cell_width, wrap

CHECKS = Table(
    ("check", "result", "rows", "remark"),
    [
        ("cpu", "passed", 430, ""),
        ("reference kernels", "failed", 64, "agreement 0.9688 in 'probabilities', less than 0.98"),
    ],
)


def test_fitting_table_is_aligned():
    natural = CHECKS.render()
    assert natural.splitlines()[:3] == [
        "check              result  rows  remark",
        "-----------------  ------  ----  ---------------------------------------------------",
        "cpu                passed  430",
    ]
    assert CHECKS.render(max(map(len, natural.splitlines()))) == natural


def test_cells_are_wrapped_between_words():
    assert CHECKS.render(80).splitlines()[3:] == [
        "reference kernels  failed  64    agreement 0.9688 in 'probabilities', less than",
        "                                 0.98",
    ]


def test_headings_are_wrapped():
    table = Table(("model", "agreement with Keras"), [("assistant.tflite", "99.1%")])
    assert (
        table.render(30)
        == "model             agreement\n                  with Keras\n----------------  ------------\nassistant.tflite  99.1%"
    )


def test_rows_are_stacked_when_columns_do_not_fit():
    assert CHECKS.render(50) == (
        "check:  cpu\nresult: passed\nrows:   430\n\n"
        "check:  reference kernels\nresult: failed\nrows:   64\n"
        "remark: agreement 0.9688 in 'probabilities', less\n        than 0.98"
    )


def test_stacked_rows_omit_empty_cells():
    table = Table(("check", "result", "remark"), [("x" * 24, "-", ""), ("y" * 24, "passed", "-")])
    assert table.render(32) == f"check: {'x' * 24}\n\ncheck:  {'y' * 24}\nresult: passed"


@pytest.mark.parametrize("width", [20, 30, 50, 80, 100, 200])
def test_lines_fit_and_words_stay_whole(width):
    lines = CHECKS.render(width).splitlines()
    assert all(cell_width(line) <= width for line in lines)
    words = {word for row in CHECKS.rows for cell in row for word in cell.split()}
    assert words <= {word for line in lines for word in line.split()}


def test_words_longer_than_the_terminal_stay_whole():
    path = "/a/" + "b" * 60
    assert path in Table(("name", "folder"), [("x", path)]).render(40).split()


def test_wide_characters_take_two_cells():
    table = Table(("label", "text"), [("正", "x"), ("ab", "y"), ("👍", "z")])
    assert table.render().splitlines()[2:] == ["正     x", "ab     y", "👍     z"]
    assert wrap("日本語のテキスト", 6) == ["日本語", "のテキ", "スト"]


def test_control_characters_in_cells_are_escaped():
    text = Table(("label",), [("\x1b[2J\nforged",)]).render()
    assert text.splitlines()[2:] == ["\\x1b[2J\\nforged"]


def test_cells_must_match_columns():
    with pytest.raises(ValueError, match="expected 2 cells in a row, received 1"):
        Table(("a", "b"), [("c",)])


def test_facts_are_wrapped():
    assert Facts([("labels", "one, two, three"), ("size", 3)]).render(24) == ("labels: one, two, three\nsize:   3")
    assert Facts([("labels", "first, second, third")]).render(24) == "labels: first, second,\n        third"


def test_blocks_are_rendered_below_each_other():
    assert render(["head", "", Table(("a",), [("b",)]), "end"]) == "head\n\na\n-\nb\n\nend"
    stacked = render([CHECKS, "a line that is longer than the terminal is wide"], 30)
    assert "\n\na line that is longer than the\nterminal is wide" in stacked
    assert render("\x1b[1m", 80) == "\\x1b[1m"


def test_columns_to_spare_are_left_out_first():
    table = Table(("name", "size", "note"), [("one", "12 kB", "a long remark")], spare=("note", "size"))
    assert table.render().splitlines()[0] == "name  size   note"
    assert table.render(20).splitlines()[0] == "name  size"
    assert table.render(8).splitlines()[0] == "name"
