"""`kerasbert distill --method tinybert`: stages, variants and unlabelled texts, and their resumption."""

import json

import pytest

from kerasbert.checkpoints.safetensors_file import read_tensors


@pytest.fixture
def command(place, made, tmp_path):
    """The command without --out; raw text and unlabelled texts are in files."""
    raw, more = tmp_path / "raw.txt", tmp_path / "more.txt"
    raw.write_text("a good film\nthe plot is so bad\n" * 8, "utf-8")
    more.write_text("a great plot\nso boring\n" * 4, "utf-8")
    options = {
        "method": "tinybert", "teacher": made.float, "layers": 1, "text": raw, "unlabelled": more, "augment": 1, "augmentation": "masks",
        "intermediate-epochs": 1, "epochs": 1, "batch-size": 16, "max-rows": 16, "train": place.train,
    }  # fmt: skip
    return ["distill", *(word for name, value in options.items() for word in (f"--{name}", value))]


@pytest.fixture
def interrupted(command, run, monkeypatch):
    """Runs the command and interrupts it when a state has been saved so many times."""

    def start(out, saves):
        from kerasbert.training import trainer

        count, save_state = [], trainer.save_state

        def saved(path, *arguments):
            save_state(path, *arguments)
            count.append(path)
            if len(count) == saves:
                raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(trainer, "save_state", saved)
            done = run(*command, "--out", out)
        assert done.code == 130 and "the same command with --resume continues" in done.err.splitlines()[-1]

    return start


@pytest.mark.long
def test_stages_train_one_after_the_other(command, run, tmp_path):
    whole = tmp_path / "whole"
    done = run(*command, "--out", whole)
    assert done.code == 0, done.err
    assert "24 variants of 24 texts" in done.err and "stage 1 of 3: general distillation" in done.err
    record = json.loads((whole / "training.json").read_text())
    assert [stage["stage"] for stage in record["stages"]] == ["general", "intermediate-layer"]
    assert record["stages"][0]["data"].startswith("raw.txt: 16 texts")
    assert record["stages"][1]["data"].startswith("train.tsv: 48 texts; no labels")
    assert record["settings"]["label_weight"] == 0 and "soft_labels" in record["epochs"][0]
    assert not (whole / "run" / "stages").exists()
    before, after = read_tensors(command[command.index("--teacher") + 1]), read_tensors(whole)
    pooler = "bert.pooler.dense.weight"  # no objective of the first stages reaches it
    assert (before[pooler] != after[pooler]).any()


@pytest.mark.long
def test_stages_resume_to_the_same_numbers(command, run, interrupted, tmp_path):
    assert run(*command, "--out", tmp_path / "whole").code == 0
    expected = read_tensors(tmp_path / "whole")
    for saves in (1, 2, 3):  # in each stage
        out = tmp_path / f"out{saves}"
        interrupted(out, saves)
        again = run(*command, "--out", out)
        assert again.code == 2 and "continue it with --resume" in again.err
        done = run(*command, "--out", out, "--resume")
        assert done.code == 0, done.err
        assert done.err.count("complete before the interruption") == saves - 1
        tensors = read_tensors(out)
        assert tensors.keys() == expected.keys()
        assert all((tensors[name] == expected[name]).all() for name in expected)
        assert json.loads((out / "training.json").read_text())["stages"][0]["stage"] == "general"
        assert not (out / "run" / "stages").exists()


@pytest.mark.parametrize(
    "options, expected",
    [
        (["--method", "tinybrt"], "received 'tinybrt'"),
        (["--text", "x.txt"], "expected --method tinybert with --text"),
        (["--augment", "0"], "of at least 1, received 0"),
        (["--augment", "2"], "expected --language-model with --augment and --augmentation words, received none; "),
        (["--augmentation", "masks"], "expected --augment with --augmentation"),
        (["--augment", "2", "--augmentation", "masks", "--language-model", "x"], "leave one out"),
        (["--method", "tinybert", "--general-teacher", "x"], "expected --text with --general-teacher"),
        (["--method", "tinybert", "--intermediate-objectives", "magic"], "received 'magic'"),
        (["--lstm-units", "8"], "expected --student bilstm with --lstm-units"),
        (["--unlabelled", "none.txt"], "none.txt"),
    ],
)
def test_bad_options(place, made, run, tmp_path, options, expected):
    out = tmp_path / "out"
    done = run("distill", "--teacher", made.float, "--layers", "1", "--train", place.train, *options, "--out", out)
    assert done.code == 2 and done.out == "" and not out.exists()
    assert expected in done.err.splitlines()[-1], done.err


def test_raw_text_that_is_empty_or_no_text_is_refused(place, made, run, tmp_path):
    for content, expected in ((b"", "received none"), (b"\x00\x01\xff" * 40, "raw.txt")):
        (tmp_path / "raw.txt").write_bytes(content)
        options = ["--layers", "1", "--text", tmp_path / "raw.txt", "--out", tmp_path / "out"]
        done = run("distill", "--method", "tinybert", "--teacher", made.float, "--train", place.train, *options)
        assert done.code == 2 and expected in done.err.splitlines()[-1], done.err


def test_a_model_without_word_scores_makes_no_variants(place, made, run, tmp_path):
    options = ["--augment", "2", "--language-model", place.checkpoint, "--out", tmp_path / "out"]
    done = run("distill", "--layers", "1", "--teacher", made.float, "--train", place.train, *options)
    assert done.code == 2 and "the trained head of MaskedLM" in done.err.splitlines()[-1], done.err


@pytest.mark.long
def test_a_bilstm_student(place, made, run, tmp_path):
    out, file = tmp_path / "out", tmp_path / "bilstm.tflite"
    options = ["--lstm-units", "6", "--embedding-size", "4", "--epochs", "1", "--max-rows", "32", "--out", out]
    done = run("distill", "--student", "bilstm", "--teacher", made.float, "--train", place.train, *options)
    assert done.code == 0, done.err
    config = json.loads((out / "config.json").read_text())
    assert (config["model_type"], config["hidden_size"], config["embedding_size"]) == ("bilstm", 12, 4)
    assert run("evaluate", out, "--data", place.dev).code == 0
    assert run("convert", out, "-o", file).code == 0
    assert run("predict", file, "a good film").code == 0
    refused = run(
        "distill",
        "--student",
        "bilstm",
        "--teacher",
        made.float,
        "--train",
        place.train,
        "--objectives",
        "hidden=1",
        "--out",
        file,
    )
    assert refused.code == 2
