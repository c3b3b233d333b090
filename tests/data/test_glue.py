"""GLUE's files: the columns of each task, with and without headers, and the files for the server."""

import gzip

import numpy as np
import pytest

from kerasbert.data import read_glue, write_glue
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


@pytest.mark.parametrize(
    ("name", "predictions", "file", "lines"),
    [
        ("SST-2", [{"label": "1", "score": 0.9}, {"label": "0", "score": 0.8}], "SST-2.tsv", ["0\t1", "1\t0"]),
        ("mrpc", np.array([1, 0]), "MRPC.tsv", ["0\t1", "1\t0"]),
        ("mnli", ("neutral", "entailment"), "MNLI-m.tsv", ["0\tneutral", "1\tentailment"]),
        ("sts-b", [{"score": 2.34567}, {"score": 5}], "STS-B.tsv", ["0\t2.346", "1\t5.000"]),
        ("sts-b", np.float32([0.5]), "STS-B.tsv", ["0\t0.500"]),
    ],
)
def test_a_file_for_the_server(tmp_path, name, predictions, file, lines):
    path = write_glue(tmp_path, name, predictions)
    assert path == tmp_path / file and path.read_text().splitlines() == ["index\tprediction", *lines]
    with pytest.raises(KerasBertError, match="there already; pass overwrite=True"):
        write_glue(tmp_path, name, predictions)
    assert write_glue(tmp_path, name, predictions, overwrite=True) == path


@pytest.mark.parametrize(
    ("name", "predictions", "told"),
    [
        ("sst-2", ["1", "positive"], r"a label of SST-2 \(0, 1\) for row 1, received 'positive'"),
        ("sts-b", [float("nan")], "a finite score of STS-B for row 0, received nan"),
        ("sts-b", ["2.5"], "received '2.5'"),
        ("rte", [], "received none"),
        ("snli", ["0"], "received 'snli'"),
        (2, ["0"], "received 2"),
        ("sst-2", [{"score": 1.0}], "a label of SST-2 .* received None"),
        ("sst-2", "01", "expected a list of predictions, received '01'"),
        ("sst-2", None, "expected a list of predictions, received None"),
    ],
)
def test_predictions_that_the_server_refuses(tmp_path, name, predictions, told):
    with pytest.raises(KerasBertError, match=told):
        write_glue(tmp_path, name, predictions)
    assert not list(tmp_path.iterdir())
