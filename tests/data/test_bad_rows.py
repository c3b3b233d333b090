"""Rows that cannot be read are skipped and counted on request, and the first three are described."""

import pytest

from kerasbert.data.records import LONGEST_CELL
from kerasbert.errors import KerasBertError
from kerasbert.processors import read_for

CASES = {
    "single_label": ("a.tsv", "text\tlabel\ngood\t1\nbad\nbad\t0\t\nfine\t1\n\nx\n", ["line 3", "line 4", "line 7"], 2),
    "regression": ("a.jsonl", '{"text": "a", "score": 1}\n{"text": 1}\n[\n{"text": "b"}\n', ["line 2", "line 3", "line 4"], 1),
    "multiple_choice": ("a.jsonl", '{"prompt": "a", "choices": ["b"], "label": 0}\n{"prompt": ""}\n{"a": 1\n', ["line 3", "line 2"], 1),
    "tagging": ("a.conll", "Ann B-PER\nsings O\n\nBob\nruns O\n\nall O\n", ["line 4"], 2),
    "question_answering": ("a.jsonl", '{"question": "a", "context": "b"}\n{"question": 1}\n{}\n', ["line 2", "line 3"], 1),
}  # fmt: skip


@pytest.mark.parametrize("problem", CASES)
def test_bad_rows_are_skipped_and_counted(tmp_path, problem):
    name, content, lines, kept = CASES[problem]
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(KerasBertError, match=lines[0]):
        read_for(problem, path)
    table = read_for(problem, path, skip_bad_rows=True)
    assert (len(table), table.bad.count) == (kept, len(lines))
    told = table.bad.describe()
    assert told.startswith(f"{name}: {len(lines)} bad row") and all(line in told for line in lines)


def test_three_of_many_bad_rows_are_described(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,label\na,1\n" + "x\n" * 9)
    told = read_for("single_label", path, skip_bad_rows=True).bad.describe()
    assert told.count("expected 2 columns, received 1") == 3 and told.endswith("; and 6 more")
    path.write_text("text,label\nx\n")
    with pytest.raises(KerasBertError, match="a header and no rows; a.csv: 1 bad row left out: line 2"):
        read_for("single_label", path, skip_bad_rows=True)


def test_huge_cells_are_bad_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"text,label\n{'long ' * 40_000},1\nb,0\n")  # more than Python's limit of 131,072
    assert [len(text) for text in read_for("single_label", path).texts] == [200_000, 1]
    path.write_text(f'text,label\na,1\n"{"x" * LONGEST_CELL}x,0\n')
    with pytest.raises(KerasBertError, match="line 3: expected cells of at most 10,000,000 .*quote .* never closed"):
        read_for("single_label", path)


def test_an_unclosed_quote_is_reported_at_its_first_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text,label\na,1\n"b,0\nc,1\nd,0\n')
    with pytest.raises(KerasBertError, match="line 3: expected CSV, received a quote .* never closed"):
        read_for("single_label", path)
