"""GLUE's files: the columns of each task, with and without headers."""

import gzip

import pytest

from kerasbert.data import read_glue
from kerasbert.errors import KerasBertError

FILES = {
    "CoLA/train.tsv": "gj04\t1\t\tThe book was read.\nks08\t0\t*\tBook the read was.\n",
    "CoLA/test.tsv": "index\tsentence\n0\tWho read it?\n",
    "MRPC/dev.tsv": '\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tHe said "no.\tHe said "no.\n',
    "sts-b/train.tsv": "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\tsentence1\tsentence2\tscore\n"
    "0\tnews\tf\t2012\t1\ta\tb\tOne.\tTwo.\t2.500\n",
    "qnli/dev.tsv": "index\tquestion\tsentence\tlabel\n0\tWhen?\tIn May.\tentailment\n",
    "MNLI/dev_matched.tsv": "index\tsentence1\tsentence2\tgold_label\n0\tA.\tB.\tneutral\n",
    "MNLI/dev_mismatched.tsv": "index\tsentence1\tsentence2\tgold_label\n0\tC.\tD.\tentailment\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("glue")
    for name, content in FILES.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(content, encoding="utf-8")
    (place / "sst-2").mkdir()
    (place / "sst-2" / "dev.tsv.gz").write_bytes(gzip.compress(b"sentence\tlabel\nso good\t1\n"))
    return place


@pytest.mark.parametrize(
    ("name", "split", "x", "labels"),
    [
        ("cola", "train", ["The book was read.", "Book the read was."], ["1", "0"]),
        ("cola", "test", ["Who read it?"], None),
        ("mrpc", "dev", (['He said "no.'], ['He said "no.']), ["1"]),
        ("STS-B", "train", (["One."], ["Two."]), ["2.500"]),
        ("qnli", "dev", (["When?"], ["In May."]), ["entailment"]),
        ("mnli", "dev", (["A."], ["B."]), ["neutral"]),
        ("mnli-mm", "dev", (["C."], ["D."]), ["entailment"]),
        ("sst-2", "dev", ["so good"], ["1"]),
    ],
)
def test_each_task_has_its_columns(folder, name, split, x, labels):
    table = read_glue(folder, name, split)
    assert table.x == x and table.y == labels


def test_files_directly_in_the_folder(folder):
    assert read_glue(folder / "CoLA", "cola").labels == ["1", "0"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("snli",), "received 'snli'"),
        (("cola", "valid"), "received 'valid'"),
        (("rte",), "expected train.tsv or train.tsv.gz of rte"),
    ],
)
def test_missing_files_raise(folder, arguments, told):
    with pytest.raises(KerasBertError, match=told):
        read_glue(folder, *arguments)
    with pytest.raises(KerasBertError, match="a file"):
        read_glue(folder / "CoLA" / "train.tsv", "cola")
