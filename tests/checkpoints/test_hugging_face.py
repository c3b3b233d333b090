import json
from pathlib import Path

import numpy as np
import pytest

from kerasbert.checkpoints import hub
from kerasbert.checkpoints.hugging_face import (
    label_names,
    max_sequence_length,
    read_config,
    resolve,
    write_folder_files,
)
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
def requests(monkeypatch):
    """The requests to the hub."""
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


def test_local_folder_takes_precedence_over_the_hub(tmp_path, monkeypatch, requests):
    (tmp_path / "org" / "name").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert resolve("org/name") == Path("org/name")
    assert resolve(tmp_path) == tmp_path
    monkeypatch.setenv("HOME", str(tmp_path))
    assert resolve("~/org") == tmp_path / "org"
    assert requests == []


def test_hub_names_are_downloaded(requests):
    assert resolve("google-bert/bert-base-uncased") == Path("/cache")
    assert resolve("org/name", revision="v1") == Path("/cache")
    assert requests == [("google-bert/bert-base-uncased", None), ("org/name", "v1")]


def test_hub_name_without_organization_is_downloaded(requests):
    assert resolve("bert-base-uncased") == Path("/cache")
    assert requests == [("bert-base-uncased", None)]


def test_similar_folder_is_suggested(tmp_path, monkeypatch, capsys):
    (tmp_path / "runs" / "mine-int8").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def download(name, revision):
        assert capsys.readouterr().err == f"there is no folder {name!r} here; asking the hub\n"
        raise KerasBertError("the hub cannot be reached")

    monkeypatch.setattr(hub, "download", download)
    for name, similar in (("runs/mine-int", "runs/mine-int8"), ("run", "runs")):
        assert complaint(resolve, name).endswith(f"the hub cannot be reached; did you mean the folder {similar!r}?")
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
def test_names_that_are_neither_folder_nor_hub_name(name, requests):
    assert "a checkpoint folder or a hub name" in complaint(resolve, name)
    assert requests == []


def test_path_objects_are_never_downloaded(requests):
    assert "neither" in complaint(resolve, Path("org/name"))
    assert requests == []


def test_file_instead_of_a_folder(tmp_path):
    path = tmp_path / "model.safetensors"
    path.touch()
    assert "received a file" in complaint(resolve, path)


def test_folder_files_round_trip(tmp_path):
    tensors = {"a": np.arange(4, dtype=np.float32)}
    write_folder_files(tmp_path / "new", {**CONFIG, "label": "gemütlich"}, tensors)
    assert read_config(tmp_path / "new") == {**CONFIG, "label": "gemütlich"}
    np.testing.assert_array_equal(read_tensors(tmp_path / "new")["a"], tensors["a"])
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["config.json", "model.safetensors"]


def test_unwritable_folder(tmp_path):
    (tmp_path / "file").touch()
    assert "expected a writable file" in complaint(write_folder_files, tmp_path / "file", CONFIG, {})


def test_failed_write_keeps_the_old_config(tmp_path, monkeypatch):
    write_folder_files(tmp_path, CONFIG, {})

    def full_disk(path, *_):
        path.write_bytes(b"{")
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_text", full_disk)
    assert "No space left" in complaint(write_folder_files, tmp_path, {**CONFIG, "hidden_size": 9}, {})
    assert read_config(tmp_path) == CONFIG


def test_config_that_json_cannot_represent_writes_nothing(tmp_path):
    with pytest.raises(ValueError):
        write_folder_files(tmp_path / "new", {"dropout": float("nan")}, {})
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '"bert"', b"\xff\xfe{}", "[" * 100_000, "5"],
    ids=["", "cut", "[]", "str", "utf", "deep", "5"],
)
def test_config_must_be_a_json_object(tmp_path, text):
    assert "a JSON object" in complaint(read_config, write_config(tmp_path, text))


def test_missing_config(tmp_path):
    assert "expected config.json in it" in complaint(read_config, tmp_path)


def test_missing_model_type(tmp_path):
    config = {name: value for name, value in CONFIG.items() if name != "model_type"}
    assert '"model_type": "bert"' in complaint(read_config, write_config(tmp_path, json.dumps(config)))


@pytest.mark.parametrize("model_type", ["deberta-v2", "xlnet", "t5", "gpt2", "bart", "nomic_bert"])
def test_unsupported_model_types_are_named_before_other_faults(tmp_path, model_type):
    """Such a config has other keys, so that all sizes seem to be missing."""
    text = complaint(read_config, write_config(tmp_path, json.dumps({"model_type": model_type, "d_model": 32})))
    assert "supported (albert, bert, bilstm, distilbert, electra, mobilebert, roberta, static, xlm-roberta)" in text
    assert f"received {model_type!r}; load a checkpoint" in text and "correct the config" not in text


@pytest.mark.parametrize(
    "name", ["vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
)
@pytest.mark.parametrize("value", [None, 0, -1, "8", 8.0, True, 2**40])
def test_sizes_must_be_positive_whole_numbers(tmp_path, name, value):
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
def test_optional_sizes(tmp_path, model_type, name):
    config = {**CONFIG, "model_type": model_type}
    for allowed in ({}, {name: None}, {name: 4}):
        assert read_config(write_config(tmp_path, json.dumps(config | allowed))) == config | allowed
    for value in (0, -1, "8", 8.0, True, 2**40):
        text = complaint(read_config, write_config(tmp_path, json.dumps({**config, name: value})))
        assert f"{name} as a positive whole number" in text and repr(value) in text


@pytest.mark.parametrize("name", ["num_hidden_layers", "num_hidden_groups", "inner_group_num"])
def test_number_of_layers_is_limited(tmp_path, name):
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
def test_size_of_weights_is_limited(tmp_path, model_type, sizes):
    text = complaint(read_config, write_config(tmp_path, json.dumps({**CONFIG, "model_type": model_type, **sizes})))
    assert "weights of at most 64 GiB" in text and "are the sizes right?" in text


def test_largest_published_models_are_accepted(tmp_path):
    """ALBERT xxlarge, whose 12 layers share weights, and XLM-RoBERTa XXL with 10.7 billion weights."""
    shared = {"hidden_size": 4096, "intermediate_size": 16384, "embedding_size": 128, "vocab_size": 30000}
    write_config(tmp_path, json.dumps({**CONFIG, "model_type": "albert", **shared, "num_hidden_layers": 12}))
    assert read_config(tmp_path)["hidden_size"] == 4096
    sizes = {"hidden_size": 4096, "intermediate_size": 16384, "vocab_size": 250880, "num_hidden_layers": 48}
    write_config(tmp_path, json.dumps({**CONFIG, "model_type": "roberta", **sizes, "max_position_embeddings": 514}))
    assert read_config(tmp_path)["num_hidden_layers"] == 48


def test_distilbert_config_keys(tmp_path):
    sizes = {"vocab_size": 30, "dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 16}
    config = {"model_type": "distilbert", **sizes}
    assert read_config(write_config(tmp_path, json.dumps(config))) == config


def test_label_names_are_in_order():
    assert label_names({}) == []
    numbered = {str(number): f"name {number}" for number in (10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)}
    assert label_names({"id2label": numbered}) == [f"name {number}" for number in range(11)]
    for wrong in ({"x": "a"}, {"0": 5}, ["a"], {"1" * 5000: "a"}, 3):
        with pytest.raises(KerasBertError, match="id2label as an object of labels by number"):
            label_names({"id2label": wrong})


def test_max_sequence_length_of_roberta_depends_on_its_padding_id():
    assert max_sequence_length({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}) == 512
    with pytest.raises(KerasBertError, match="pad_token_id as a whole number"):
        max_sequence_length({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": "1"})


@pytest.mark.parametrize("numbers", [("1", "2"), ("0", "2"), ("0", "00")])
def test_labels_without_all_numbers_from_0_are_errors(numbers):
    """Their rows in the head would be others."""
    assert "numbered from 0 without gaps" in complaint(label_names, {"id2label": dict.fromkeys(numbers, "a")})
