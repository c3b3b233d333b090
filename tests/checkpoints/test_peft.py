"""LoRA folders of PEFT: merged as W + alpha / r * B A (Hu et al. 2021, section 4.1), or refused with the reason.

PEFT 0.21 with PyTorch gave the same logits within 3e-6 for folders of this form: rank-stabilized, with patterns, biases and new heads.
"""

import json
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import kerasbert as kb
from kerasbert.errors import KerasBertError

LABELS = ("neg", "neu", "pos")
TEXTS = ["the film was good", "a dull book"]
QUERY, DENSE = "bert.encoder.layer.0.attention.self.query", "bert.encoder.layer.0.output.dense"
SETTINGS = {
    "peft_type": "LORA", "task_type": "SEQ_CLS", "r": 2, "lora_alpha": 6, "lora_dropout": 0.1, "target_modules": ["query", "dense"],
    "bias": "none", "fan_in_fan_out": False, "use_rslora": False, "use_dora": False, "modules_to_save": ["classifier", "score"],
    "rank_pattern": {}, "alpha_pattern": {"output.dense": 4}, "init_lora_weights": True, "loftq_config": {}, "layer_replication": None,
}  # fmt: skip


def factors(rank=2):
    draw = np.random.default_rng(0)
    shapes = {QUERY: ((rank, 8), (8, rank)), DENSE: ((rank, 16), (8, rank))}
    return {
        f"base_model.model.{module}.lora_{name}.weight": draw.normal(0, 0.5, shape).astype(np.float32)
        for module, pair in shapes.items()
        for name, shape in zip("AB", pair, strict=True)
    }


@pytest.fixture(scope="module")
def base(tiny, tmp_path_factory):
    """A trained classifier as transformers would have saved it."""
    folder = tmp_path_factory.mktemp("peft") / "base"
    tiny.narrow(seed=1, labels=LABELS).save_pretrained(folder)
    (folder / "kerasbert.json").unlink()
    return folder


@pytest.fixture
def adapter(base, tmp_path):
    def make(tensors=None, **settings):
        folder = tmp_path / "adapter"
        folder.mkdir()
        content = {**SETTINGS, "base_model_name_or_path": str(base), **settings}
        (folder / "adapter_config.json").write_text(json.dumps(content), "utf-8")
        save_file(factors() if tensors is None else tensors, folder / "adapter_model.safetensors")
        return folder

    return make


def by_hand(base, folder, changes):
    """A copy of the base with other tensors."""
    copy = shutil.copytree(base, folder)
    save_file({**load_file(base / "model.safetensors"), **changes}, copy / "model.safetensors")
    return kb.load_task(copy)


@pytest.mark.parametrize(("stabilized", "scales"), [(False, (6 / 2, 4 / 2)), (True, (6 / 2**0.5, 4 / 2**0.5))])
@pytest.mark.long_cases
def test_factors_are_merged_into_their_kernels(base, adapter, tmp_path, stabilized, scales):
    tensors, saved = factors(), load_file(base / "model.safetensors")
    changes = {}
    for module, scale in zip((QUERY, DENSE), scales, strict=True):
        down, up = (tensors[f"base_model.model.{module}.lora_{name}.weight"] for name in "AB")
        changes[f"{module}.weight"] = (saved[f"{module}.weight"] + scale * up @ down).astype(np.float32)
    merged = kb.load_task(adapter(use_rslora=stabilized))
    assert type(merged) is kb.TextClassifier and merged.labels == LABELS
    expected = by_hand(base, tmp_path / "expected", changes).predict(TEXTS)
    np.testing.assert_allclose(merged.predict(TEXTS), expected, atol=1e-6)
    assert np.abs(expected - kb.load_task(base).predict(TEXTS)).max() > 1e-3


def test_saved_heads_and_biases_replace_those_of_the_base(base, adapter, tmp_path):
    head = {"classifier.weight": np.full((3, 8), 0.5, np.float32), "classifier.bias": np.arange(3, dtype=np.float32)}
    bias = np.ones(8, np.float32)
    tensors = {f"base_model.model.{name}": values for name, values in head.items()}
    tensors[f"base_model.model.{QUERY}.base_layer.bias"] = bias
    tensors["base_model.model.classifier.original_module.bias"] = np.zeros(3, np.float32)
    expected = by_hand(base, tmp_path / "expected", {**head, f"{QUERY}.bias": bias}).predict(TEXTS)
    np.testing.assert_array_equal(kb.load_task(adapter(tensors)).predict(TEXTS), expected)


def test_base_of_another_task_gets_the_head_of_the_adapter(base, adapter):
    head = {"classifier.weight": np.ones((4, 8), np.float32), "classifier.bias": np.zeros(4, np.float32)}
    folder = adapter({f"base_model.model.{name}": values for name, values in head.items()}, task_type="TOKEN_CLS")
    tagger = kb.load_task(folder)
    assert type(tagger) is kb.TokenTagger and tagger.labels == ("LABEL_0", "LABEL_1", "LABEL_2", "LABEL_3")


@pytest.mark.long
def test_base_is_found_by_its_folder_or_by_argument(base, adapter, tmp_path):
    folder = adapter(base_model_name_or_path="bert-base-uncased")
    with pytest.raises(KerasBertError, match="received 'bert-base-uncased', which is no folder here; pass base="):
        kb.load_task(folder)
    expected = kb.load_task(folder, base=base).predict(TEXTS)
    np.testing.assert_array_equal(kb.TextClassifier.from_pretrained(folder, base=base).predict(TEXTS), expected)
    assert kb.load_encoder(folder, base=base).load_report.missing == ()
    shutil.copytree(base, tmp_path / "bert-base-uncased")  # beside the adapter
    np.testing.assert_array_equal(kb.load_task(folder).predict(TEXTS), expected)
    with pytest.raises(KerasBertError, match="which is no folder here"):
        kb.load_task(folder, base=folder)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"peft_type": "IA3"}, "expected peft_type 'LORA', the only supported value, received 'IA3'"),
        ({"peft_type": None}, "expected peft_type 'LORA'"),
        ({"use_dora": True}, "expected use_dora False or None.*received True; .*merge it with PEFT"),
        ({"init_lora_weights": "pissa"}, "expected init_lora_weights .*received 'pissa'"),
        ({"layer_replication": [[0, 1]]}, "expected layer_replication None"),
        ({"task_type": "CAUSAL_LM"}, "expected task_type .*received 'CAUSAL_LM'"),
        ({"alpha_pattern": {"layer.[01]": 2}}, "alpha_pattern with names without wildcards"),
        ({"lora_alpha": "6", "alpha_pattern": {}}, "expected lora_alpha as a number, received '6'"),
    ],
)
def test_unsupported_settings_are_errors(adapter, settings, message):
    with pytest.raises(KerasBertError, match=message):
        kb.load_task(adapter(**settings))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({f"base_model.model.{QUERY}.lora_magnitude_vector.weight": np.ones(8, np.float32)}, "lora_magnitude_vector"),
        (
            {"base_model.model.bert.embeddings.word_embeddings.lora_embedding_A": np.ones((2, 40), np.float32)},
            "factors of",
        ),
        ({f"base_model.model.{QUERY}.lora_A.weight": np.ones((3, 8), np.float32)}, r"two factors that fit, .*\(3, 8\)"),
        ({"base_model.model.bert.x.lora_A.weight": np.ones((2, 8), np.float32)}, "two factors that fit"),
        ({"base_model.model.bert.x.scale": np.ones(2, np.float32)}, r"1 other tensor in it \(bert.x.scale\)"),
    ],
)
def test_unknown_tensors_are_errors(adapter, changes, message):
    with pytest.raises(KerasBertError, match=message):
        kb.load_task(adapter({**factors(), **changes}))


def test_factors_of_another_base_are_an_error(adapter):
    tensors = {name.replace("layer.0", "layer.5"): values for name, values in factors().items()}
    with pytest.raises(
        KerasBertError, match=r"layer.5.*of shape \(8, 8\) in the base model, received none; is this its base"
    ):
        kb.load_task(adapter(tensors))
