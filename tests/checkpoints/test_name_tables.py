import numpy as np
import pytest

from kerasbert.checkpoints.name_tables import build_name_map
from kerasbert.encoders import BertConfig
from kerasbert.errors import KerasBertError

HIDDEN, INNER, WORDS, POSITIONS = 8, 16, 30, 12
CONFIG = BertConfig(num_hidden_layers=2)
LAYER_SHAPES = {
    "attention.self.query.weight": (HIDDEN, HIDDEN),
    "attention.self.query.bias": (HIDDEN,),
    "attention.self.key.weight": (HIDDEN, HIDDEN),
    "attention.self.key.bias": (HIDDEN,),
    "attention.self.value.weight": (HIDDEN, HIDDEN),
    "attention.self.value.bias": (HIDDEN,),
    "attention.output.dense.weight": (HIDDEN, HIDDEN),
    "attention.output.dense.bias": (HIDDEN,),
    "attention.output.LayerNorm.weight": (HIDDEN,),
    "attention.output.LayerNorm.bias": (HIDDEN,),
    "intermediate.dense.weight": (INNER, HIDDEN),
    "intermediate.dense.bias": (INNER,),
    "output.dense.weight": (HIDDEN, INNER),
    "output.dense.bias": (HIDDEN,),
    "output.LayerNorm.weight": (HIDDEN,),
    "output.LayerNorm.bias": (HIDDEN,),
}
SHAPES = {
    "embeddings.word_embeddings.weight": (WORDS, HIDDEN),
    "embeddings.position_embeddings.weight": (POSITIONS, HIDDEN),
    "embeddings.token_type_embeddings.weight": (2, HIDDEN),
    "embeddings.LayerNorm.weight": (HIDDEN,),
    "embeddings.LayerNorm.bias": (HIDDEN,),
    **{f"encoder.layer.{i}.{name}": shape for i in range(2) for name, shape in LAYER_SHAPES.items()},
    "pooler.dense.weight": (HIDDEN, HIDDEN),
    "pooler.dense.bias": (HIDDEN,),
}
# Our names for one layer, written out: the contract with the encoder's attribute paths.
FIRST_LAYER = {
    "layers.0.attention.query.kernel": ("attention.self.query.weight", True),
    "layers.0.attention.query.bias": ("attention.self.query.bias", False),
    "layers.0.attention.key.kernel": ("attention.self.key.weight", True),
    "layers.0.attention.key.bias": ("attention.self.key.bias", False),
    "layers.0.attention.value.kernel": ("attention.self.value.weight", True),
    "layers.0.attention.value.bias": ("attention.self.value.bias", False),
    "layers.0.attention.output_dense.kernel": ("attention.output.dense.weight", True),
    "layers.0.attention.output_dense.bias": ("attention.output.dense.bias", False),
    "layers.0.attention_norm.gamma": ("attention.output.LayerNorm.weight", False),
    "layers.0.attention_norm.beta": ("attention.output.LayerNorm.bias", False),
    "layers.0.feed_forward.intermediate.kernel": ("intermediate.dense.weight", True),
    "layers.0.feed_forward.intermediate.bias": ("intermediate.dense.bias", False),
    "layers.0.feed_forward.output_dense.kernel": ("output.dense.weight", True),
    "layers.0.feed_forward.output_dense.bias": ("output.dense.bias", False),
    "layers.0.feed_forward_norm.gamma": ("output.LayerNorm.weight", False),
    "layers.0.feed_forward_norm.beta": ("output.LayerNorm.bias", False),
}


def checkpoint(prefix=""):
    generator = np.random.default_rng(1)
    return {prefix + name: generator.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()}


def variables(name_map):
    """Zeros in the shape of each variable."""
    shapes = {**SHAPES, "classifier.weight": (3, HIDDEN), "classifier.bias": (3,)}
    zeros = {}
    for entry in name_map.entries:
        shape = shapes[entry.checkpoint.removeprefix("bert.")]
        zeros[entry.model] = np.zeros(shape[::-1] if entry.transpose else shape, np.float32)
    return zeros


def test_entries_match_the_encoders_variables():
    name_map = build_name_map(CONFIG, pooler=True)
    checkpoint_names = {entry.model: (entry.checkpoint, entry.transpose) for entry in name_map.entries}
    for path, (hf_name, transpose) in FIRST_LAYER.items():
        assert checkpoint_names[path] == (f"encoder.layer.0.{hf_name}", transpose)
        second = path.replace("layers.0", "layers.1")
        assert checkpoint_names[second] == (f"encoder.layer.1.{hf_name}", transpose)
    assert checkpoint_names["embeddings.word.table"] == ("embeddings.word_embeddings.weight", False)
    assert checkpoint_names["embeddings.position.table"] == ("embeddings.position_embeddings.weight", False)
    assert checkpoint_names["embeddings.token_type.table"] == ("embeddings.token_type_embeddings.weight", False)
    assert checkpoint_names["embeddings.norm.gamma"] == ("embeddings.LayerNorm.weight", False)
    assert checkpoint_names["embeddings.norm.beta"] == ("embeddings.LayerNorm.bias", False)
    assert checkpoint_names["pooler.kernel"] == ("pooler.dense.weight", True)
    assert checkpoint_names["pooler.bias"] == ("pooler.dense.bias", False)
    assert len(checkpoint_names) == len(SHAPES) == len(name_map.entries)


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_checkpoint_round_trip(prefix):
    tensors = checkpoint(prefix)
    name_map = build_name_map(CONFIG, pooler=True, bare=not prefix)
    model = variables(name_map)
    report = name_map.apply(tensors, model)
    assert report.summary() == f"{len(SHAPES)} tensors loaded"
    exported = name_map.export(model)
    assert exported.keys() == tensors.keys()
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(exported[name], tensor)


def test_norms_with_tensorflow_names():
    tensors = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in checkpoint("bert.").items()
    }
    assert "bert.embeddings.LayerNorm.gamma" in tensors
    name_map = build_name_map(CONFIG, pooler=True)
    model = variables(name_map)
    assert len(name_map.apply(tensors, model).loaded) == len(SHAPES)
    np.testing.assert_array_equal(model["embeddings.norm.beta"], tensors["bert.embeddings.LayerNorm.beta"])


def test_other_heads_are_ignored():
    others = {
        "bert.embeddings.position_ids": np.arange(POSITIONS)[None],
        "cls.predictions.bias": np.zeros(WORDS, np.float32),
        "cls.predictions.transform.dense.weight": np.zeros((HIDDEN, HIDDEN), np.float32),
        "cls.seq_relationship.weight": np.zeros((2, HIDDEN), np.float32),
        "qa_outputs.bias": np.zeros(2, np.float32),
        "classifier.bias": np.zeros(3, np.float32),
    }
    name_map = build_name_map(CONFIG, pooler=False)
    report = name_map.apply({**checkpoint("bert."), **others}, variables(name_map))
    assert not report.unused and len(report.loaded) == len(SHAPES) - 2
    assert report.ignored == (
        ("bert.pooler.dense.weight", "pooler"),
        ("bert.pooler.dense.bias", "pooler"),
        ("bert.embeddings.position_ids", "position_ids"),
        ("cls.predictions.bias", "masked-LM head"),
        ("cls.predictions.transform.dense.weight", "masked-LM head"),
        ("cls.seq_relationship.weight", "next-sentence head"),
        ("qa_outputs.bias", "question-answering head"),
        ("classifier.bias", "classifier"),
    )


def test_heads_are_loaded_without_prefix():
    name_map = build_name_map(CONFIG, pooler=True, heads=["classifier"])
    head = {"classifier.weight": np.ones((3, HIDDEN), np.float32), "classifier.bias": np.ones(3, np.float32)}
    model = variables(name_map)
    report = name_map.apply({**checkpoint("bert."), **head, "classifier.scale": np.ones(3)}, model, may_drop=True)
    assert len(report.loaded) == len(SHAPES) + 2 and not report.ignored and report.unused == ("classifier.scale",)
    assert model["classifier.kernel"].shape == (HIDDEN, 3) and model["classifier.bias"].all()
    assert {"classifier.weight", "bert.pooler.dense.bias"} <= name_map.export(model).keys()


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_layers_beyond_the_configuration_are_errors(prefix):
    one_layer = build_name_map(BertConfig(num_hidden_layers=1), pooler=True)
    with pytest.raises(
        KerasBertError, match=f"{len(LAYER_SHAPES)} other tensors in it .* fewer layers than the weights"
    ):
        one_layer.apply(checkpoint(prefix), variables(one_layer), may_drop=True)


@pytest.mark.parametrize("name", ["fit_dense.weight", "fit_denses.3.bias", "bert.embeddings.position_ids"])
def test_known_layers_of_other_programs_are_ignored(name):
    name_map = build_name_map(CONFIG, pooler=True)
    assert name_map.apply({**checkpoint("bert."), name: np.zeros(1)}, variables(name_map)).ignored
