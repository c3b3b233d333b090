"""Data files of commands: checked before TensorFlow is loaded; errors name options of the command and lines of the file."""

import re
from pathlib import Path

import pytest

from kerasbert.cli.inputs.saved_model import read_processor
from kerasbert.processors.registry import TASK_NAMES

NEWS = "id,headline,kind\n" + "".join(
    f"{n},so {'good' if n % 2 else 'bad'} a film,{'pos' if n % 2 else 'neg'}\n" for n in range(12)
)


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.csv"
    path.write_text(NEWS)
    return path


@pytest.fixture
def unloaded(monkeypatch):
    """Fail the test if a model is loaded."""

    def fail(*arguments, **options):
        raise AssertionError("TensorFlow would have been loaded")

    monkeypatch.setattr("kerasbert.cli.process.progress.keep_memory", fail)
    monkeypatch.setattr("kerasbert.tasks.auto.load_task", fail)
    monkeypatch.setattr("kerasbert.export.validator.validate", fail)


def commands(made, place, path, out):
    """Return the arguments of every command that reads data, without a column."""
    return {
        "train": ["--model", place.checkpoint, "--train", path, "--out", out],
        "quantize": [made.float, "--train", path, "--out", out],
        "prune": [made.float, "--train", path, "--out", out, "--sparsity", "0.5"],
        "distill": ["--teacher", made.float, "--layers", "1", "--train", path, "--out", out],
        "prune parts": [made.float, "--heads", "0.5", "--data", path, "--out", out],
        "diagnose": [made.int8, "--data", path],
        "evaluate": [made.float, "--data", path],
        "predict": [made.float, "--file", path],
        "convert": [made.float, "--calibration", path, "-o", f"{out}.tflite"],
        "validate": [made.file, "--against", made.float, "--data", path],
        "benchmark": [made.file, "--data", path],
    }


NAMES = list(commands(*[type("Any", (), {"__getattr__": lambda *_: ""})()] * 2, "", ""))


@pytest.mark.parametrize("command", NAMES)
def test_a_wrong_column_is_reported_before_the_model_is_loaded(made, place, run, news, tmp_path, unloaded, command):
    out = tmp_path / "out"
    done = run(command.split()[0], *commands(made, place, news, out)[command])
    message = "expected a column of texts, received the columns id, headline, kind (header on line 1, split at ',')"
    assert done.code == 2
    assert done.err.splitlines()[-1] == f"error: {news}: {message}; name one with --text-column"
    assert not out.exists()


@pytest.mark.parametrize("command", NAMES)
def test_every_command_takes_a_delimiter_and_skips_bad_rows(made, place, run, tmp_path, unloaded, command):
    path = tmp_path / "a.dat"
    path.write_text("text~label\n~~\na film\n")
    line = commands(made, place, path, tmp_path / "out")[command]
    done = run(command.split()[0], *line, "--delimiter", "~")
    assert done.err.splitlines()[-1] == (
        f"error: {path}, line 2: expected 2 columns, received 3; leave bad rows out with --skip-bad-rows"
    )
    done = run(command.split()[0], *line, "--delimiter", "~", "--skip-bad-rows")
    assert "received a header and no rows; a.dat: 2 bad rows left out: line 2: expected 2 columns" in done.err


@pytest.mark.parametrize("command", ["train", "quantize", "prune", "distill", "prune parts", "evaluate", "validate"])
def test_a_wrong_label_is_reported_with_its_line(made, place, run, tmp_path, unloaded, command):
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\na\tpos\n\nb\t\nc\tneg\n")
    done = run(command.split()[0], *commands(made, place, path, tmp_path / "out")[command])
    expected = "a label" if command == "train" else "one of the labels neg, pos"
    assert done.err.splitlines()[-1] == f"error: {path}, line 4: expected {expected}, received ''"


def test_arguments_in_messages_are_options_of_a_command():
    import typer

    from kerasbert.arguments import argument, naming_options
    from kerasbert.cli.app import build_app
    from kerasbert.cli.arguments.flags import argument_options

    root = Path(__file__).parents[3]
    texts = "".join(path.read_text() for folder in ("kerasbert", "export") for path in (root / folder).rglob("*.py"))
    named = set(re.findall(r"\{argument\(['\"](\w+)['\"]\)\}", texts))
    app = typer.main.get_command(build_app())
    known = [argument_options(command) for command in app.commands.values()]
    assert len(named) > 15 and [name for name in named if not any(name in options for options in known)] == []
    assert argument("label") == "`label=`"
    with naming_options(argument_options(app.commands["evaluate"])):
        assert argument("label") == "--label-column" and argument("unheard_of") == "`unheard_of=`"


def test_files_determine_the_processor(made, place):
    from kerasbert import tasks

    for model in (made.float, made.int8, made.file):
        processor = read_processor(model)
        assert (processor.name, processor.labels) == ("single_label", ("neg", "pos"))
    assert read_processor(place.checkpoint).name == "embedding"
    assert tasks.TASKS.keys() == TASK_NAMES.keys()


@pytest.mark.long
def test_a_fraction_of_the_training_rows_becomes_dev(place, run, tmp_path):
    import json

    out = tmp_path / "out"
    command = ["train", "--model", place.checkpoint, "--train", place.train, "--epochs", "1", "--out", out]
    done = run(*command, "--dev", "0.1", "--json")
    assert done.code == 0, done.err
    assert "dev: 26 of the 256 rows of train.tsv; 230 rows are for training" in done.err
    assert "rows repeat an earlier one" in done.err
    assert json.loads(done.out)["settings"]["dev"] == "0.1" and "accuracy" in json.loads(done.out)["dev"]
    config = out / "run" / "config.toml"
    assert 'dev = "0.1"' in config.read_text()
    number = tmp_path / "config.toml"
    number.write_text(config.read_text().replace('dev = "0.1"', "dev = 0.1").replace(str(out), str(tmp_path / "again")))
    again = run("train", number, "--json")
    assert json.loads(again.out)["dev"] == json.loads(done.out)["dev"]


@pytest.mark.parametrize("dev", ["1.5", "0", "-0.1", "nan"])
def test_invalid_dev_fractions_are_rejected(place, run, tmp_path, dev):
    out = tmp_path / "out"
    done = run("train", "--model", place.checkpoint, "--train", place.train, f"--dev={dev}", "--out", out)
    message = f"error: expected --dev as a file, or a fraction above 0 and below 1, received '{dev}'"
    assert done.code == 2 and done.err.splitlines()[-1] == message and not out.exists()


def test_rare_labels_are_noted(place, run, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("text\tlabel\n" + "a film\tSports\nthe plot\tWorld\n" * 12 + "so\tSport\n")
    done = run(
        "train", "--model", place.checkpoint, "--train", path, "--out", tmp_path / "out", "--sequence-length", "900"
    )
    assert "the label 'Sport' is seen once; is it 'Sports', which 12 rows have?" in done.err


def test_options_are_checked_before_data(made, place, run, tmp_path, unloaded):
    command = ["quantize", made.float, "--train", tmp_path / "none.tsv", "--out", tmp_path / "out"]
    for options, message in (
        (["--recipe", "int3"], "received 'int3'"),
        (["--calibration-method", "median"], "received 'median'"),
        (["--objectives", "telepathy"], "received 'telepathy'"),
        (["--objectives", "hidden=-1"], "weights of at least 0, such as soft-labels=0.5, received 'hidden=-1'"),
        (["--objectives", "hidden=nan"], "received 'hidden=nan'"),
    ):
        assert message in run(*command, *options).err
    assert "no such file" in run(*command).err


@pytest.mark.parametrize("command", ["train", "quantize", "prune", "distill"])
def test_tensorboard_is_checked_before_data(made, place, run, tmp_path, unloaded, monkeypatch, command):
    from kerasbert.errors import KerasBertError

    def missing(package, purpose):
        raise KerasBertError(f"expected the package {package} for {purpose}, received none")

    monkeypatch.setattr("kerasbert.cli.runs.training_run.require_package", missing)
    out = tmp_path / "out"
    done = run(command, *commands(made, place, tmp_path / "none.tsv", out)[command], "--tensorboard")
    assert done.code == 2 and "the package tensorboard for --tensorboard" in done.err and not out.exists()


def test_objectives_have_one_list_of_names():
    from kerasbert.training.distillation import OBJECTIVES
    from kerasbert.training.objective_names import NAMES

    assert tuple(OBJECTIVES) == NAMES


@pytest.mark.parametrize(
    ("problem", "bad", "message"),
    [("single_label", "", "a label, received ''"), ("regression", "x", "a finite number")],
)
def test_rows_with_bad_labels_are_skipped_too(tmp_path, capsys, problem, bad, message):
    from kerasbert.cli.inputs.data_files import read_described
    from kerasbert.data.file_options import FileOptions
    from kerasbert.processors import processor_class

    path = tmp_path / "a.tsv"
    path.write_text(f"text\tlabel\na\t1\nb\t{bad}\nc\n\nd\t2\n")
    table = read_described(processor_class(problem), path, FileOptions(skip_bad_rows=True))
    assert (table.texts, table.labels, table.lines) == (["a", "d"], ["1", "2"], [2, 6])
    notes = capsys.readouterr().err
    assert "a.tsv: 2 bad rows left out: line 4: expected 2 columns, received 1; line 3: expected " + message in notes


@pytest.mark.long
def test_an_interrupted_training_with_a_dev_fraction_resumes_to_the_same_scores(place, run, tmp_path, monkeypatch):
    import json

    from kerasbert.training import trainer

    command = [
        "train",
        "--model",
        place.checkpoint,
        "--train",
        place.train,
        "--max-rows",
        "64",
        "--epochs",
        "2",
        "--dev",
        "0.2",
        "--json",
    ]
    whole = json.loads(run(*command, "--out", tmp_path / "whole").out)
    save, saved = trainer.TrainerCallback._save_state, []

    def interrupt(callback):
        save(callback)
        saved.append(callback)
        raise KeyboardInterrupt

    monkeypatch.setattr(trainer.TrainerCallback, "_save_state", interrupt)
    assert run(*command, "--out", tmp_path / "out").code == 130 and len(saved) == 1
    monkeypatch.setattr(trainer.TrainerCallback, "_save_state", save)
    done = run(*command, "--out", tmp_path / "out", "--resume")
    assert done.code == 0, done.err
    assert [epoch["dev"] for epoch in json.loads(done.out)["epochs"]] == [epoch["dev"] for epoch in whole["epochs"]]


WITHOUT_TENSORFLOW = """
import json, sys
from kerasbert.cli import main

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name in ("tensorflow", "tf_keras", "keras"):
            raise AssertionError(f"{name} is imported")

sys.meta_path.insert(0, Refuse())
for command in json.loads(sys.argv[1]):
    print(f"code {main(command)} of {command[0]}")
"""


@pytest.mark.long
def test_wrong_columns_are_reported_without_tensorflow(made, place, news, tmp_path):
    import json
    import subprocess
    import sys

    lines = [[name.split()[0], *map(str, line)] for name, line in commands(made, place, news, tmp_path / "out").items()]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TENSORFLOW, json.dumps(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"code 2 of {name.split()[0]}" for name in NAMES], done.stderr
    assert done.stderr.count("name one with --text-column") == len(NAMES)


def test_columns_of_zeros_and_ones_are_the_labels_of_a_training(tmp_path, capsys):
    from kerasbert.cli.inputs.data_files import read_train_and_dev
    from kerasbert.cli.inputs.training_data import label_names
    from kerasbert.errors import KerasBertError
    from kerasbert.processors import make_processor, processor_class
    from kerasbert.training.config import TrainConfig

    (tmp_path / "a.csv").write_text("comment_text,toxic,insult,rare\na,1,0,0\nb,0,1,0\na,0,0,0\n")
    (tmp_path / "dev.csv").write_text("comment_text,toxic,insult,rare\nb,1,0,1\n")
    multi = processor_class("multi_label")
    config = TrainConfig(train=str(tmp_path / "a.csv"), dev=str(tmp_path / "dev.csv"))
    whole, train, dev = read_train_and_dev(multi, config)
    names = label_names(multi, whole, None)
    assert names == ("toxic", "insult", "rare")  # also the one that no training text has
    assert make_processor("multi_label", names).numbers(dev.y).tolist() == [[1, 0, 1]]
    told = capsys.readouterr().err
    assert "a.csv: 1 of 3 rows repeats an earlier one" in told and "dev.csv: 1 of 1 rows is in a.csv too" in told
    assert "a.csv: 1 repeated example has different labels, such as those of lines 2 and 4" in told
    single = TrainConfig(train=str(tmp_path / "a.csv"), label_column="toxic,insult")
    whole, *_ = read_train_and_dev(processor_class("single_label"), single)
    with pytest.raises(
        KerasBertError, match="expected one column of labels for this task, received toxic, insult; choose --task"
    ):
        label_names(processor_class("single_label"), whole, None)


def test_the_encoding_is_an_option_of_the_commands(tmp_path, run):
    (tmp_path / "a.csv").write_bytes("text,label\nüber,a\nstürzt,b\n".encode("cp1252"))
    done = run("train", "--model", "small-en", "--train", tmp_path / "a.csv", "--out", tmp_path / "out")
    assert done.code == 2 and "name its encoding with --encoding, such as cp1252" in done.err
    done = run(
        "train",
        "--model",
        tmp_path / "none",
        "--train",
        tmp_path / "a.csv",
        "--out",
        tmp_path / "out",
        "--encoding",
        "cp1252",
    )
    assert "a.csv: 2 texts; labels a: 1, b: 1" in done.err
