"""Readers of texts and labels: tables, tagged sentences, questions, choices, plain text."""

import gzip
import json
from pathlib import Path

from benchmarks.robustness.fuzz_targets.samples import json_lines, wordpiece
from benchmarks.robustness.fuzz_targets.target import Target, try_all


def _table(folder: Path) -> None:
    from kerasbert.data.labels import LabelSet
    from kerasbert.data.tables import read_table

    (path,) = folder.iterdir()
    table = read_table(path)
    table.describe()
    if table.labels is not None:
        try_all(
            lambda: LabelSet.from_values(table.labels).index(table.labels),
            lambda: LabelSet.from_cells(table.labels).multi_hot(table.labels),
            lambda: LabelSet.to_scores(table.labels),
        )


def _conll(folder: Path) -> None:
    from kerasbert.data.conll import read_conll, read_tagged_lines

    (path,) = folder.iterdir()
    try_all(lambda: read_conll(path).describe(), lambda: read_tagged_lines(path).describe())


def _tagged(folder: Path) -> None:
    from kerasbert.data.tagged_tables import read_tagged_table

    (path,) = folder.iterdir()
    try_all(lambda: read_tagged_table(path).describe(), lambda: read_tagged_table(path, skip_bad_rows=True).describe())


def _squad(folder: Path) -> None:
    from kerasbert.data.squad import read_squad

    (path,) = folder.iterdir()
    read_squad(path).describe()


def _choices(folder: Path) -> None:
    from kerasbert.data.choices import read_choices
    from kerasbert.processors import make_processor

    (path,) = folder.iterdir()
    table = read_choices(path)
    table.describe()
    if table.y is not None:
        problem = make_processor("multiple_choice")
        problem.encode_labels(
            table.y, problem.examples(table.x), problem.features(problem.examples(table.x), wordpiece(), 16)
        )


def _glue(folder: Path) -> None:
    from kerasbert.data.glue import read_glue

    read_glue(folder, "cola", "train").describe()


def _plain(folder: Path) -> None:
    from kerasbert.data.plain_text import pairs_from_text, read_text

    (path,) = folder.iterdir()
    text = read_text(path)
    text.describe()
    read_text(path, unit="paragraph")
    try_all(lambda: pairs_from_text(text), lambda: pairs_from_text(text, "sentence_order"))


def _cells(folder: Path) -> None:
    """Labels of the Python API, one cell per line."""
    from kerasbert.data.labels import LabelSet

    cells = (folder / "labels").read_bytes().decode("utf-8", "surrogateescape").split("\n")
    try_all(*(lambda use=use: use(cells) for use in (LabelSet.from_values, LabelSet.from_cells, LabelSet.to_scores)))


_ROWS = [("a good film", "bad", "x"), ("a b, c", "good", "1"), ('say ""', "é", "y")]
_OBJECTS = [{"text": a, "pair": b, "label": c} for a, b, c in _ROWS]
_ANSWERS = {"text": ["film"], "answer_start": [7]}


def _tables() -> list[dict[str, bytes]]:
    tsv = "text\tpair\tlabel\n" + "".join("\t".join(row) + "\n" for row in _ROWS)
    csv = "text,label\n" + 'a,1\n"b, ""c""",2\n"d\ne",3\n'
    lines = json_lines(_OBJECTS) + json_lines([{"text": "c", "pair": "d", "label": "1.5"}])
    numbers = json_lines([{"text": "a", "label": 1}, {"text": "b", "label": 2.5}])
    return [
        {"a.tsv": tsv.encode()}, {"a.csv": csv.encode()}, {"a.jsonl": lines}, {"a.jsonl": numbers},
        {"a.tsv.gz": gzip.compress(tsv.encode(), mtime=0)}, {"a.jsonl.gz": gzip.compress(lines, mtime=0)},
        {"a.jsonl": json_lines([{"sentence": "a", "label": ["x", "y"]}, {"sentence": "b", "label": []}])},
    ]  # fmt: skip


def _sentences() -> list[dict[str, bytes]]:
    columns = "-DOCSTART- -X- O\n\nJohn NNP B-PER\nSmith NNP I-PER\n. . O\n\nin IN O\nRome NNP I-LOC\n"
    rows = "# a\n1-2\ta b\t_\tX\t_\t_\t_\t_\t_\t_\n1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n2\tb\tb\tY\t_\t_\t_\t_\t_\t_\n"
    lines = json_lines([{"words": ["a", "b"], "tags": ["B-X", "O"]}, {"words": ["c"], "tags": ["S-Y"]}])
    return [
        {"a.conll": columns.encode()}, {"a.conll": rows.encode()}, {"a.jsonl": lines},
        {"a.conll": b"a b c\tPER-B O O\nd\tO\n"}, {"a.conll.gz": gzip.compress(columns.encode(), mtime=0)},
    ]  # fmt: skip


def _tagged_rows() -> list[dict[str, bytes]]:
    lists = b'tokens,tags\n"[""a"", ""b""]","[""B-X"", ""O""]"\n"[\'c\']","[\'O\']"\nd e,O B-Y\n'
    words = b"sentence,word,tag\n1,John,B-PER\n1,Smith,I-PER\n2,Rome,B-LOC\n"
    return [{"a.csv": lists}, {"a.csv": words}, {"a.csv": words.replace(b",", b";")}]


def _questions() -> list[dict[str, bytes]]:
    answerable = {"question": "q", "id": "1", "answers": [{"text": "film", "answer_start": 7}], "is_impossible": False}
    unanswerable = {"question": "r", "id": "2", "answers": [], "is_impossible": True}
    content = {"data": [{"title": "t", "paragraphs": [{"context": "a good film", "qas": [answerable, unanswerable]}]}]}
    flat = [{"question": "q", "context": "a good film", "answers": _ANSWERS}]
    whole = json.dumps(content).encode()
    return [
        {"a.json": whole}, {"a.json": json.dumps(flat).encode()}, {"a.jsonl": json_lines(flat * 2)},
        {"a.json.gz": gzip.compress(whole, mtime=0)},
    ]  # fmt: skip


def _prompts() -> list[dict[str, bytes]]:
    csv = b'prompt,choices,label\np,"[""a"", ""b""]",0\nq,"[""c""]",0\n'
    tsv = b"question\tchoice0\tchoice1\tanswer\np\ta\tb\t1\nq\tc\t\t0\n"
    lines = json_lines(
        [{"prompt": "p", "choices": ["a", "b"], "label": "b"}, {"prompt": "q", "choices": ["c"], "label": "c"}]
    )
    return [{"a.csv": csv}, {"a.tsv": tsv}, {"a.jsonl": lines}, {"a.json": lines}]


_LABEL_CELLS = (b"1\n2\n-3\n1.5\n", b"a\nb c\n5\n", b'["a", "b"]\n["c"]\n[]\n', b"a|b\nc\nb|a\n")

TARGETS = [
    Target("table", _table, _tables),
    Target("conll", _conll, _sentences),
    Target("tagged table", _tagged, _tagged_rows),
    Target("squad", _squad, _questions),
    Target("choices", _choices, _prompts),
    Target("glue", _glue, lambda: [{"train.tsv": b"gj04\t1\t\tA good film.\ngj04\t0\t*\tFilm good.\n"}]),
    Target("plain text", _plain, lambda: [
        {"a.txt": b"One. Two! Three?\nFour.\n\nFive. Six.\n"}, {"b.gz": gzip.compress(b"A. B.\n", mtime=0)},
    ]),
    Target("labels", _cells, lambda: [{"labels": cells} for cells in _LABEL_CELLS]),
]  # fmt: skip
