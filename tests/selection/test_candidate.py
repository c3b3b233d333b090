"""Candidates: their names, folders and commands."""

from pathlib import Path

from kerasbert.selection.candidate import Candidate, Data, steps

DATA = Data("my {data}.csv", Path("work/texts.txt"), {"dev": "0.1"}, {"label_column": "mood"}, {}, (16, 32))


def commands(candidate, rows=None, **settings):
    return [each.arguments() for each in steps(candidate, DATA, Path("work"), rows, **settings)]


def test_folders_that_end_alike_have_names_and_results_of_their_own():
    one, other = Candidate("a/encoder"), Candidate("b/encoder")
    assert str(one) != str(other) and one.slug() != other.slug()
    assert Candidate("small-en").slug() == "small-en"
    assert (
        str(Candidate("small-en", layers=1, vocabulary=True, rate=0.5))
        == "small-en, 1 layer, own vocabulary, 0.5 x rate"
    )


def test_the_commands_of_a_whole_and_of_a_cut_encoder():
    train, convert = commands(Candidate("small-en"))
    assert train == [
        "train",
        "--model",
        "small-en",
        "--train",
        "my {data}.csv",
        "--dev",
        "0.1",
        "--out",
        "work/small-en/rate-1/trained",
    ]
    assert (
        convert[:2] == ["convert", "work/small-en/rate-1/trained"] and convert[convert.index("--length") + 1] == "16,32"
    )
    prune, train, _ = commands(Candidate("small-en", layers=2, vocabulary=True, rate=2.0), rows=300)
    assert prune[1:6] == ["small-en", "--layers", "2", "--vocabulary", "work/texts.txt"]
    assert train[train.index("--rate-factor") + 1] == "2" and train[train.index("--train-rows") + 1] == "300"


def test_a_narrowed_model_is_trained_again():
    names = [each[0] for each in commands(Candidate("small-en", feed_forward=0.5))]
    assert names == ["train", "prune", "train", "convert"]
    probe = commands(Candidate("small-en", feed_forward=0.5), rows=64, probe=True)
    assert [each[0] for each in probe] == [
        "train",
        "prune",
        "convert",
    ]  # its file costs what that of the trained one does
    assert probe[0][probe[0].index("--epochs") + 1] == "1" and probe[1][probe[1].index("--max-rows") + 1] == "64"
    static = commands(Candidate("small-en", recipe="static_wi8_ai8"))[-1]
    assert static[static.index("--calibration") + 1] == "my {data}.csv"
