import json
from pathlib import Path

import numpy as np
import pytest

from kerasbert.checkpoints import hub
from kerasbert.checkpoints.hugging_face import label_names, longest_row, read_config, resolve, write_folder_files
from kerasbert.checkpoints.safetensors_file import read_tensors
from kerasbert.errors import KerasBertError

CONFIG = {
    "model_type": "bert",
    "vocab_size": 30,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}


@pytest.fixture
def asked(monkeypatch):
    """What the hub was asked for."""
    calls = []
    monkeypatch.setattr(hub, "download", lambda *request: calls.append(request) or Path("/cache"))
    return calls


def write_config(folder, text):
    (folder / "config.json").write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def complaint(call, *arguments):
    with pytest.raises(KerasBertError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    return str(caught.value)


def test_a_folder_comes_before_the_hub(tmp_path, monkeypatch, asked):
    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert resolve("org/name") == Path("org/name")
    assert resolve(tmp_path) == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/org") == tmp_path / "org"
    assert asked == []


def test_a_hub_name_goes_to_the_hub(asked):
    assert resolve("google-bert/bert-base-uncased") == Path("/cache")
    assert resolve("org/name", revision="v1") == Path("/cache")
    assert asked == [("google-bert/bert-base-uncased", None), ("org/name", "v1")]


def test_a_name_without_an_owner_goes_to_the_hub_as_it_is(asked):
    assert resolve("bert-base-uncased") == Path("/cache")
    assert asked == [("bert-base-uncased", None)]


def test_a_folder_that_is_not_there_is_told_first_with_the_one_that_is_near(tmp_path, monkeypatch, capsys):
    (tmp_path / "runs" / "mine-int8").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def download(name, revision):
        assert capsys.readouterr().err == f"there is no folder {name!r} here; asking the hub\n"
        raise KerasBertError("the hub cannot be reached")

    monkeypatch.setattr(hub, "download", download)
    for name, near in (("runs/mine-int", "runs/mine-int8"), ("run", "runs")):
        assert complaint(resolve, name).endswith(f"the hub cannot be reached; did you mean the folder {near!r}?")
    assert "did you mean 'runs'" in complaint(resolve, "./run") and "no such folder" in complaint(resolve, "./x")
    assert "asking" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        "",
        "model.tflite",
        "./org/name",
        "../name",
        "/no/where",
        "~/name",
        "a/b/c",
        "a\\b",
        "org/..",
        "a/b\n",
        "x\0y",
        "n" * 9999,
    ],
)
def test_what_is_neither_folder_nor_hub_name(name, asked):
    assert "a checkpoint folder or a hub name" in complaint(resolve, name)
    assert asked == []


def test_a_path_object_never_goes_to_the_hub(asked):
    assert "neither" in complaint(resolve, Path("org/name"))
    assert asked == []


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "model.safetensors"
    path.touch()
    assert "received a file" in complaint(resolve, path)


def test_folder_files_round_trip(tmp_path):
    tensors = {"a": np.arange(4, dtype=np.float32)}
    write_folder_files(tmp_path / "new", {**CONFIG, "label": "gemütlich"}, tensors)
    assert read_config(tmp_path / "new") == {**CONFIG, "label": "gemütlich"}
    np.testing.assert_array_equal(read_tensors(tmp_path / "new")["a"], tensors["a"])
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["config.json", "model.safetensors"]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    assert "expected to write it" in complaint(write_folder_files, tmp_path / "file", CONFIG, {})


def test_a_failed_write_leaves_the_old_config(tmp_path, monkeypatch):
    write_folder_files(tmp_path, CONFIG, {})

    def full_disk(path, *_):
        path.write_bytes(b"{")
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    assert "No space left" in complaint(write_folder_files, tmp_path, {**CONFIG, "hidden_size": 9}, {})
    assert read_config(tmp_path) == CONFIG


def test_a_config_that_json_cannot_hold_leaves_nothing(tmp_path):
    with pytest.raises(ValueError):
        write_folder_files(tmp_path / "new", {"dropout": float("nan")}, {})
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"bert"', b"\xff\xfe{}", "[" * 100_000, "5"],
    ids=["", "cut", "[]", "str", "utf", "deep", "5"],
)
def test_a_config_that_is_no_json_object(tmp_path, text):
    assert "a JSON object" in complaint(read_config, write_config(tmp_path, text))


def test_no_config(tmp_path):
    assert "expected config.json in it" in complaint(read_config, tmp_path)


def test_a_config_without_a_model_type(tmp_path):
    config = {name: value for name, value in CONFIG.items() if name != "model_type"}
    assert '"model_type": "bert"' in complaint(read_config, write_config(tmp_path, json.dumps(config)))


@pytest.mark.parametrize(
    "name", ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
)
@pytest.mark.parametrize("value", [None, 0, -1, "8", 8.0, True, 2**40])
def test_a_size_that_is_no_positive_whole_number(tmp_path, name, value):
    text = complaint(read_config, write_config(tmp_path, json.dumps({**CONFIG, name: value})))
    assert name in text and repr(value) in text


@pytest.mark.parametrize(
    ("model_type", "name"),
    [
        *(("albert", name) for name in ("embedding_size", "num_hidden_groups", "inner_group_num")),
        *(("mobilebert", name) for name in ("embedding_size", "intra_bottleneck_size", "num_feedforward_networks")),
        *(("electra", "embedding_size"), ("roberta", "type_vocab_size"), ("bert", "max_position_embeddings")),
    ],
)
def test_sizes_that_may_be_left_out(tmp_path, model_type, name):
    config = {**CONFIG, "model_type": model_type}
    for allowed in ({}, {name: None}, {name: 4}):
        assert read_config(write_config(tmp_path, json.dumps(config | allowed))) == config | allowed
    for value in (0, -1, "8", 8.0, True, 2**40):
        text = complaint(read_config, write_config(tmp_path, json.dumps({**config, name: value})))
        assert f"{name} as a positive whole number" in text and repr(value) in text


@pytest.mark.parametrize("name", ["num_hidden_layers", "num_hidden_groups", "inner_group_num"])
def test_more_layers_than_anyone_has(tmp_path, name):
    text = complaint(read_config, write_config(tmp_path, json.dumps({**CONFIG, name: 1001})))
    assert f"{name} of at most 1000, received 1001" in text


@pytest.mark.parametrize(
    ("model_type", "sizes"),
    [
        ("bert", {"hidden_size": 10**6}),
        ("bert", {"vocab_size": 2**31 - 1, "hidden_size": 64}),
        ("bert", {"intermediate_size": 2**31 - 1}),
        ("bert", {"max_position_embeddings": 2**31 - 1, "hidden_size": 64}),
        ("albert", {"embedding_size": 10**9}),
        ("mobilebert", {"intra_bottleneck_size": 10**9}),
        ("distilbert", {"vocab_size": 30, "dim": 10**6, "n_layers": 2, "n_heads": 2, "hidden_dim": 16}),
    ],
)
def test_weights_that_fit_in_no_memory(tmp_path, model_type, sizes):
    text = complaint(read_config, write_config(tmp_path, json.dumps({**CONFIG, "model_type": model_type, **sizes})))
    assert "weights of at most 64 GiB" in text and "are the sizes right?" in text


def test_the_largest_models_fit(tmp_path):
    """ALBERT xxlarge, whose 12 layers are one; and XLM-RoBERTa XXL, 10.7 billion weights."""
    shared = {"hidden_size": 4096, "intermediate_size": 16384, "embedding_size": 128, "vocab_size": 30000}
    write_config(tmp_path, json.dumps({**CONFIG, "model_type": "albert", **shared, "num_hidden_layers": 12}))
    assert read_config(tmp_path)["hidden_size"] == 4096
    sizes = {"hidden_size": 4096, "intermediate_size": 16384, "vocab_size": 250880, "num_hidden_layers": 48}
    write_config(tmp_path, json.dumps({**CONFIG, "model_type": "roberta", **sizes, "max_position_embeddings": 514}))
    assert read_config(tmp_path)["num_hidden_layers"] == 48


def test_distilbert_has_its_own_names(tmp_path):
    sizes = {"vocab_size": 30, "dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 16}
    config = {"model_type": "distilbert", **sizes}
    assert read_config(write_config(tmp_path, json.dumps(config))) == config


def test_labels_in_their_order():
    assert label_names({}) == []
    assert label_names({"id2label": {"10": "k", "2": "c", "0": "a"}}) == ["a", "c", "k"]
    for wrong in ({"x": "a"}, {"0": 5}, ["a"], {"1" * 5000: "a"}, 3):
        with pytest.raises(KerasBertError, match="id2label as an object of labels by number"):
            label_names({"id2label": wrong})


def test_the_longest_row_of_a_roberta_depends_on_its_padding():
    assert longest_row({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}) == 512
    with pytest.raises(KerasBertError, match="pad_token_id as a whole number"):
        longest_row({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": "1"})
