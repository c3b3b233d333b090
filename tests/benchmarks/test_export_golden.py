"""The golden vectors in android_demo/testdata are those of the tokenizers of this checkout."""

import gzip
import json
import sys

import pytest

from benchmarks.common.record import ROOT
from benchmarks.parity import export_golden

GOLDEN = ROOT / "android_demo" / "testdata" / "golden"
MOST_BYTES = 750_000  # the map of characters of XLM-RoBERTa has 200,000 of them


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    pytest.importorskip("fugashi")
    pytest.importorskip("unidic_lite")
    folder = tmp_path_factory.mktemp("golden")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["export_golden", "--small", "--out", str(folder)])
        export_golden.main()
    return folder


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def lines(path):
    return content(path).decode("utf-8").removesuffix("\n").split("\n")


def files(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


@pytest.mark.long
def test_the_committed_vectors_are_current(made):
    assert files(GOLDEN) == files(made)
    compressed = [path for path in files(made) if path.suffix == ".gz"]
    assert [str(path) for path in compressed if content(GOLDEN / path) != content(made / path)] == []


def test_settings_name_their_vocabulary(made):
    for path in GOLDEN.glob("*/tokenizer.json"):
        committed, new = (
            json.loads((folder / path.relative_to(GOLDEN)).read_text("utf-8")) for folder in (GOLDEN, made)
        )
        assert committed["settings"] == new["settings"]
        assert (path.parent / committed["vocabulary"]).is_file()


def test_the_committed_vectors_are_small():
    assert sum((GOLDEN / path).stat().st_size for path in files(GOLDEN)) < MOST_BYTES


def test_a_tokenizer_that_changes_is_found(made):
    case = next(case for case in export_golden.small_cases() if case.name == "characters-uncased")
    texts = [json.loads(line) for line in lines(GOLDEN / "texts.jsonl.gz")]
    wrong = export_golden.Case(case.name, case.vocabulary, {**case.settings, "tokenize_chinese_chars": False})
    rows = map(json.loads, lines(GOLDEN / case.name / "tokens.jsonl.gz"))
    changed = export_golden.tokens_of(wrong.tokenizer(), texts)
    assert sum(row != other for row, other in zip(rows, changed, strict=True)) > 10
