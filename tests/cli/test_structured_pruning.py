"""`kerasbert prune` of layers, heads, neurons, the hidden size, vocabulary and dimensions: output, errors, and use of the pruned folder."""

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="module")
def folder(place):
    """A classifier with four heads and 32 neurons in each of three layers."""
    import tf_keras as keras

    from kerasbert.encoders.bert import BertConfig, BertEncoder
    from kerasbert.tasks import TextClassifier
    from kerasbert.text import tokenizer_from_folder

    keras.utils.set_random_seed(0)
    tokenizer = tokenizer_from_folder(place.checkpoint)
    sizes = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 32}
    config = BertConfig(vocab_size=tokenizer.vocabulary_size, max_position_embeddings=64, **sizes)
    task = TextClassifier(BertEncoder(config), tokenizer, labels=["neg", "pos"], sequence_length=16)
    task.save_pretrained(place.folder / "whole")
    return place.folder / "whole"


@pytest.fixture(scope="module")
def pruned(place, folder):
    """The folder with every kind of part removed."""
    from kerasbert.cli import main

    words = place.folder / "corpus.txt"
    words.write_text("a good plot\nthe film is so bad\ngreat fun\n\nboring\n", "utf-8")
    out = place.folder / "cut"
    ways = ["--layers", "2", "--heads", "0.25", "--feed-forward", "0.4", "--hidden", "12", "--vocabulary", str(words)]
    data = ["--data", place.train, "--dev", place.dev, "--max-rows", "24"]
    assert main(["prune", str(folder), *ways, *data, "--out", str(out)]) == 0
    return out


@pytest.mark.long
def test_all_parts_in_one_command(pruned):
    from kerasbert.tasks.auto import load_task

    task = load_task(pruned)
    assert task.config.num_hidden_layers == 2 and task.config.intermediate_size == 24
    assert sum(task.encoder.cut.heads) == 6 and min(task.encoder.cut.heads) >= 1
    assert task.config.hidden_size == 12 and task.encoder.cut.head_size == 4
    assert (
        task.config.vocab_size == 16 and "awful" not in task.tokenizer.vocabulary
    )  # the corpus and five special tokens
    assert task.predict(["a good film"]).shape == (1, 2)


def test_json_has_sizes_and_metrics(run, place, folder):
    done = run("prune", folder, "--layers", 1, "--strategy", "symmetric", "--dev", place.dev, "--max-rows", 16,
               "--out", place.folder / "one", "--json")  # fmt: skip
    found = json.loads(done.out)
    assert done.code == 0 and (found["before"]["layers"], found["after"]["layers"]) == (3, 1)
    assert found["after"]["heads"] == [4] and found["after"]["feed_forward"] == [32]
    assert found["after"]["bytes"] == 4 * found["after"]["parameters"] < found["before"]["bytes"]
    assert set(found["dev_before"]) == set(found["dev_after"]) == {"accuracy", "F1", "MCC"}


@pytest.mark.parametrize(("option", "strategy"), [("--data", "search"), ("--dev", "search"), (None, "top")])
@pytest.mark.long_cases
def test_the_choice_of_layers_is_measured_where_data_are_given(run, place, folder, option, strategy):
    data = [option, place.dev, "--max-rows", 16] if option else []
    done = run("prune", folder, "--layers", 2, *data, "--out", place.folder / f"by{option}", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["strategy"] == strategy and f"strategy {strategy}: " in done.err
    assert ("search" in found) == (strategy == "search")
    if strategy == "search":
        assert found["search"][0]["similarity"] == max(choice["similarity"] for choice in found["search"])


@pytest.mark.long
def test_sizes_are_printed_as_a_table(run, place, folder):
    done = run("prune", folder, "--heads", 0.5, "--heads-per-layer", "--data", place.train, "--max-rows", 16,
               "--out", place.folder / "heads")  # fmt: skip
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert done.code == 0 and lines[0] == f"saved {place.folder / 'heads'}"
    assert {"layers 3 3", "heads 4 2", "feed-forward 32 32", "hidden size 16 16"} <= set(lines)
    assert "note: transformers cannot load the model: its config.json has no keys for these sizes (heads)\n" in done.err


@pytest.mark.long
def test_a_pruned_model_is_trained_and_converted(run, place, pruned):
    trained, file = place.folder / "trained", place.folder / "cut.tflite"
    learn = ["--epochs", 1, "--learning-rate", "1e-3", "--max-rows", 16, "--batch-size", 16]
    done = run("train", "--task", "classification", "--model", pruned, "--train", place.train, *learn, "--out", trained)
    assert done.code == 0
    own = [json.loads((path / "kerasbert.json").read_text("utf-8"))["encoder"] for path in (pruned, trained)]
    assert own[0] == own[1]
    assert run("convert", trained, "--recipe", "dynamic_wi8_afp32", "-o", file).code == 0
    from kerasbert.export.runtime.opening import open_pipeline
    from kerasbert.tasks.auto import load_task

    texts = ["a good film", "so bad", "boring plot"]
    of_file = [each["probabilities"] for each in open_pipeline(str(file), 1).predictions(texts)]
    of_folder = [each["probabilities"] for each in load_task(trained).predictions(texts)]
    for one, other in zip(of_file, of_folder, strict=True):
        np.testing.assert_allclose(list(one.values()), list(other.values()), atol=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "expected --sparsity, --keep-zeros, --layers, --share-layers, --heads, --feed-forward, --hidden, --vocabulary, ",
        ),
        (["--heads", "1"], "expected --heads above 0 and below 1, received 1"),
        (["--feed-forward", "0"], "expected --feed-forward above 0 and below 1, received 0"),
        *(
            (
                ["--hidden", each, "--data", "x.tsv"],
                f"expected --hidden as a fraction above 0 and below 1 or a whole number of at least 1, received {each}",
            )
            for each in ("0", "1.0", "-8", "many", "nan", "8,4", "1e2", "\u0663")
        ),
        (
            ["--hidden", "0.5"],
            "expected --data for --hidden, which is measured on it, received none; add a labelled file",
        ),
        (
            ["--heads", "0.5"],
            "expected --data for --heads, which is measured on it, received none; add a labelled file",
        ),
        (
            ["--layers", "1", "--strategy", "contribution"],
            "expected --data for --strategy contribution, which is measured on it, received none; add a file of texts",
        ),
        (["--layers", "1", "--strategy", "search"], "expected --data for --strategy search, which is measured on it"),
        (["--dimensions", "4"], "expected --data for --dimensions, which is measured on it"),
        (["--dimensions", "0", "--data", "x.txt"], "expected --dimensions of at least 1, received 0"),
        (["--rank", "0"], "expected --rank above 0, received 0"),
        (["--rank-part", "pooler"], "expected --rank-part as PATH=N, received 'pooler'"),
        (["--layers", "two"], "expected --layers as a number, or indices separated by commas, received 'two'"),
        (
            ["--layers", "0,1", "--strategy", "search", "--data", "x.txt"],
            "expected --layers as a number with --strategy search, received 0,1; leave --strategy out",
        ),
        (["--share-layers", "0"], "expected --share-layers of at least 1, received 0"),
        (
            ["--layers", "1", "--shared-weights", "mean"],
            "expected --share-layers with --shared-weights mean, received none",
        ),
        (
            ["--share-layers", "1", "--shared-weights", "search"],
            "expected --data for --shared-weights search, which is measured on it, received none",
        ),
        (["--layers", "1", "--heads-per-layer"], "expected --heads with --heads-per-layer, received none"),
        (["--layers", "1", "--no-characters"], "expected --vocabulary with --no-characters, received none"),
        (["--layers", "1", "--vocabulary-size", "9"], "expected --vocabulary with --vocabulary-size, received none"),
        (["--heads", "0.5", "--strategy", "bottom"], "expected --layers with --strategy bottom, received none"),
        (
            ["--layers", "1", "--sparsity", "0.5"],
            "expected either --sparsity or parts to remove, received both with --layers",
        ),
        (["--layers", "1", "--train", "x.tsv"], "expected no training for --layers, received --train"),
        (["--layers", "1", "--resume"], "expected no training for --layers, received --resume"),
        (["--sparsity", "0.5"], "expected --train for --sparsity and --keep-zeros, received none"),
    ],
)
def test_options_are_checked_before_the_model_is_loaded(run, place, arguments, message):
    done = run("prune", "no such folder", *arguments, "--out", place.folder / "never")
    assert done.code == 2 and message in done.err and not (place.folder / "never").exists()


@pytest.mark.long
def test_layers_share_weights(run, place, folder):
    from kerasbert.tasks.auto import load_task

    done = run(
        "prune",
        folder,
        "--share-layers",
        2,
        "--dev",
        place.dev,
        "--max-rows",
        16,
        "--out",
        place.folder / "shared",
        "--json",
    )
    assert done.code == 0 and "shared weights search: " in done.err
    found = json.loads(done.out)
    assert (found["before"]["groups"], found["after"]["groups"], found["after"]["layers"]) == (3, 2, 3)
    config = json.loads((place.folder / "shared" / "config.json").read_text("utf-8"))
    assert (config["model_type"], config["num_hidden_groups"]) == ("albert", 2)
    assert load_task(place.folder / "shared").predict(["a good film"]).shape == (1, 2)
    done = run("prune", folder, "--share-layers", 3, "--out", place.folder / "never")
    assert done.code == 2 and "as a whole number from 1 to 2, received 3; the model has 3 layers" in done.err


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ("16", "expected a hidden size as a whole number from 1 to 15, below the present one, received 16"),
        ("10", "expected a hidden size that the 4 attention heads divide, received 10; 8 is the nearest"),
        ("0.1", "expected a share that cuts 8 of 16 hidden dimensions, received 0.1; choose a larger share"),
    ],
)
def test_hidden_sizes_that_do_not_fit_are_rejected(run, place, folder, size, message):
    done = run(
        "prune", folder, "--hidden", size, "--data", place.train, "--max-rows", 8, "--out", place.folder / "never"
    )
    assert done.code == 2 and message in done.err and not (place.folder / "never").exists()


def test_too_many_layers_are_rejected(run, place, folder):
    done = run("prune", folder, "--layers", 3, "--out", place.folder / "never")
    assert done.code == 2
    message = f"expected --layers from 1 to 2, received 3; {folder} has 3 layers, and pruning must leave fewer"
    assert done.err == f"error: {message}\n"  # nothing was loaded
    assert not (place.folder / "never").exists()


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ("0,3", "expected layer indices from 0 to 2 in --layers, received 3"),
        ("0,0", "expected different layer indices in --layers, fewer than the 3 layers"),
        ("0,1,2", "received 0,1,2; pruning must leave fewer"),
    ],
)
def test_wrong_indices_are_rejected(run, place, folder, layers, message):
    done = run("prune", folder, "--layers", layers, "--out", place.folder / "never")
    assert done.code == 2 and message in done.err and done.err.startswith("error: ")  # nothing was loaded
    assert not (place.folder / "never").exists()


@pytest.mark.long
def test_layers_are_named_by_index(run, place, folder):
    from kerasbert.tasks.auto import load_task

    assert run("prune", folder, "--layers", "0,2", "--out", place.folder / "named").code == 0
    whole, named = (load_task(path).variables_by_path() for path in (folder, place.folder / "named"))
    path = "encoder.layers.{}.attention.query.kernel"
    np.testing.assert_array_equal(named[path.format(1)], whole[path.format(2)])


@pytest.fixture(scope="module")
def corpus(place):
    """Unlabelled texts, a line each."""
    path = place.folder / "unlabelled.txt"
    lines = Path(place.train).read_text("utf-8").splitlines()[1:]
    path.write_text("\n".join(line.partition("\t")[0] for line in lines) + "\n", "utf-8")
    return path


@pytest.mark.long
def test_a_search_shows_its_choices_and_keeps_the_best(run, place, folder, corpus):
    search = ["--layers", 2, "--strategy", "search", "--data", corpus]
    done = run("prune", folder, *search, "--out", place.folder / "searched", "--json")
    found = json.loads(done.out)
    assert done.code == 0 and (found["tried"], found["measure"]) == (3, "agreement")
    ranks = [(-each["similarity"], each["error"]) for each in found["search"]]
    assert ranks == sorted(ranks) and found["layers"] == found["search"][0]["layers"]
    top = next(each for each in found["search"] if each["layers"] == [0, 1])
    assert "top" in top["strategies"]
    named = ",".join(map(str, found["layers"]))
    assert run("prune", folder, "--layers", named, "--out", place.folder / "same").code == 0
    weights = [(place.folder / name / "model.safetensors").read_bytes() for name in ("searched", "same")]
    assert weights[0] == weights[1]
    lines = run("prune", folder, *search, "--out", place.folder / "shown").out.splitlines()
    table = [line.split() for line in lines[lines.index("") :]]
    assert ["layers", "kept", "agreement", "strategy"] in table and any(row[:1] == [named] for row in table)


@pytest.mark.long
def test_vectors_are_shortened(run, place, corpus):
    short = place.folder / "short"
    done = run("prune", place.checkpoint, "--dimensions", 6, "--data", corpus, "--out", short, "--json")
    found = json.loads(done.out)
    assert done.code == 0 and (found["before"]["dimensions"], found["after"]["dimensions"]) == (16, 6)
    assert found["after"]["parameters"] == found["before"]["parameters"] + 16 * 6
    lines = run("prune", place.checkpoint, "--dimensions", 5, "--data", corpus, "--out", place.folder / "five").out
    assert "numbers in a vector 16 5" in [" ".join(line.split()) for line in lines.splitlines()]
    file = place.folder / "short.tflite"
    assert run("convert", short, "--recipe", "float32", "-o", file).code == 0
    vectors = {}
    for model in (short, file):
        assert run("predict", model, "a good film", "so bad", "--out", place.folder / "v.npy", "--overwrite").code == 0
        vectors[model] = np.load(place.folder / "v.npy")
    assert vectors[file].shape == (2, 6)
    np.testing.assert_allclose(vectors[file], vectors[short], atol=1e-5)
    settings = json.loads(run("inspect", file, "--json").out)
    assert settings and run("validate", file, "--against", short).code == 0


@pytest.mark.long
def test_matrices_become_factors_that_are_distilled_and_converted(run, place, folder):
    out, distilled, file = (place.folder / name for name in ("factors", "factors-distilled", "factors.tflite"))
    ranks = ["--rank", 0.25, "--embedding-rank", 6, "--rank-part", "layers.*.feed_forward.*=7"]
    done = run(
        "prune", folder, *ranks, "--data", place.train, "--dev", place.dev, "--max-rows", 16, "--out", out, "--json"
    )
    assert done.code == 0, done.err
    found = json.loads(done.out)
    low_rank = found["low_rank"]
    assert low_rank["ranks"]["layers.2.feed_forward.intermediate"] == 7 and low_rank["whole"] == []
    assert (low_rank["ranks"]["layers.0.attention.key"], low_rank["ranks"]["embeddings.word"]) == (4, 6)
    assert 0 < low_rank["kept"] < 1 and found["after"]["parameters"] < found["before"]["parameters"]
    assert "note: transformers cannot load a model with two factors" in done.err
    learn = ["--epochs", 1, "--learning-rate", "1e-3", "--max-rows", 16, "--batch-size", 16, "--train", place.train]
    done = run("distill", "--teacher", folder, "--student", out, *learn, "--out", distilled)
    assert done.code == 0, done.err
    assert run("convert", distilled, "--recipe", "dynamic_wi8_afp32", "-o", file).code == 0
    report = run("validate", file, "--against", distilled, "--data", place.dev).out
    assert "not judged" in report and "failed" not in report  # the model is at chance


def test_a_teacher_takes_the_vocabulary_of_its_student(run, place, folder):
    from kerasbert.text import tokenizer_from_folder

    student, teacher, words = (place.folder / name for name in ("few-tokens", "matched", "words.txt"))
    words.write_text("a good film\n", "utf-8")
    assert run("prune", folder, "--vocabulary", words, "--out", student).code == 0
    done = run("prune", folder, "--vocabulary-of", student, "--out", teacher, "--json")
    assert done.code == 0, done.err
    found, expected = json.loads(done.out), tokenizer_from_folder(student).vocabulary
    assert tokenizer_from_folder(teacher).vocabulary == expected
    assert found["before"]["vocabulary"] > found["after"]["vocabulary"] == len(expected)


def test_a_vocabulary_that_cannot_be_taken(run, place, folder, corpus):
    never = place.folder / "never"
    done = run("prune", folder, "--vocabulary-of", place.folder / "nowhere", "--out", never)
    assert done.code == 2 and "nowhere" in done.err
    done = run("prune", folder, "--vocabulary-of", folder, "--vocabulary", corpus, "--out", never)
    assert done.code == 2 and "expected either --vocabulary or --vocabulary-of, received both" in done.err
    done = run("prune", folder, "--vocabulary-of", "small-en", "--out", never)
    assert done.code == 2 and "tokens the model has, received" in done.err and "that it lacks" in done.err
    assert not never.exists()


def test_only_sentence_encoders_have_dimensions(run, place, folder, corpus):
    done = run("prune", folder, "--dimensions", 6, "--data", corpus, "--out", place.folder / "never")
    assert done.code == 2 and "received a model of the task type 'single_label'; leave --dimensions out" in done.err
    done = run("prune", place.checkpoint, "--dimensions", 16, "--data", corpus, "--out", place.folder / "never")
    assert done.code == 2 and "expected from 1 to 15 dimensions, received 16" in done.err
    few = place.folder / "few.txt"
    few.write_text("a good film\nso bad\n", "utf-8")
    done = run("prune", place.checkpoint, "--dimensions", 6, "--data", few, "--out", place.folder / "never")
    assert (
        done.code == 2 and "in at least 6 directions, one for each dimension, received 2; pass more texts" in done.err
    )
    assert not (place.folder / "never").exists()


def test_importance_needs_texts_with_known_tokens(run, place, folder, tmp_path):
    blank = tmp_path / "blank.tsv"
    blank.write_text("text\tlabel\n \tpos\n \tneg\n", "utf-8")
    for arguments in (["--heads", "0.5"], ["--layers", "1", "--strategy", "contribution"]):
        done = run("prune", folder, *arguments, "--data", blank, "--out", tmp_path / "never")
        assert done.code == 2 and "2 rows without one" in done.err and not (tmp_path / "never").exists()


def test_the_most_frequent_tokens_of_texts_are_kept(run, place, folder):
    words, out = place.folder / "frequent.txt", place.folder / "frequent"
    words.write_text("a good film\na good plot\na good film\n", "utf-8")
    command = ["prune", folder, "--vocabulary", words, "--no-characters", "--vocabulary-size"]
    done = run(*command, 8, "--out", out)
    assert done.code == 0, done.err
    from kerasbert.text import tokenizer_from_folder

    kept = tokenizer_from_folder(out).vocabulary
    assert len(kept) == 8 and {"a", "good", "film"} < set(kept) and "plot" not in kept
    done = run(*command, 3, "--out", place.folder / "too-few")
    assert (
        done.code == 2
        and "expected a vocabulary of at least the 5 special" in done.err
        and not (place.folder / "too-few").exists()
    )
