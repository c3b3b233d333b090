"""A pre-norm encoder with gated feed-forward networks and rotary positions is one config: its values, its checkpoint, its files."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import tf_keras as keras
from safetensors.numpy import load_file

import kerasbert as kb
from kerasbert.checkpoints import name_tables
from kerasbert.checkpoints.name_map import Entry
from kerasbert.encoders import ENCODERS
from kerasbert.encoders.base import Encoder
from kerasbert.layers.blocks.slotted_block import BlockForm, SlottedBlock
from kerasbert.layers.config import EncoderConfig
from kerasbert.layers.lowering.options import LoweringOptions, lowered


@dataclass(frozen=True)
class ModernConfig(EncoderConfig):
    model_type: ClassVar[str] = "modern"
    type_vocab_size: ClassVar[int] = 0
    has_biases: ClassVar[bool] = False
    has_position_table: ClassVar[bool] = False
    pre_norm: ClassVar[bool] = True

    rotary_base: float = 10000.0

    def block_form(self, layer: int) -> BlockForm:
        return BlockForm(input_norm=layer > 0, gated=True, rotary_base=self.rotary_base)


@keras.utils.register_keras_serializable("tests")
class ModernEncoder(Encoder):
    config_class = ModernConfig
    block_class = SlottedBlock


def _entries(config: ModernConfig) -> list[Entry]:
    entries = [
        Entry("embeddings.tok_embeddings.weight", "embeddings.word.table"),
        Entry("embeddings.norm.weight", "embeddings.norm.gamma"),
        Entry("final_norm.weight", "final_norm.gamma"),
    ]
    for i in range(config.num_hidden_layers):
        here, there = f"layers.{i}", f"layers.{i}"
        entries += [
            Entry(f"{there}.attn.Wqkv.weight#{n}/3", f"{here}.attention.{part}.kernel", transpose=True)
            for n, part in enumerate(("query", "key", "value"))
        ]
        entries += [
            Entry(f"{there}.mlp.Wi.weight#{n}/2", f"{here}.feed_forward.{part}.kernel", transpose=True)
            for n, part in enumerate(("intermediate", "gate"))
        ]
        entries += [
            Entry(f"{there}.attn.Wo.weight", f"{here}.attention.output_dense.kernel", transpose=True),
            Entry(f"{there}.mlp.Wo.weight", f"{here}.feed_forward.output_dense.kernel", transpose=True),
            Entry(f"{there}.mlp_norm.weight", f"{here}.feed_forward_norm.gamma"),
        ]
        entries += [Entry(f"{there}.attn_norm.weight", f"{here}.attention_norm.gamma")] if i else []
    return entries


@pytest.fixture(scope="module")
def model(tiny):
    keras.utils.set_random_seed(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENCODERS, "modern", ModernEncoder)
        patch.setitem(name_tables.ARCHITECTURES, "modern", name_tables.Architecture("model.", _entries))
        config = ModernConfig(**{**tiny.sizes, "initializer_range": 0.3})
        model = kb.TextClassifier(
            ModernEncoder(config), tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length
        )
        yield model


def _norm(x, gamma):
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-12) * gamma


def _rotated(x, base):
    """Rotates pairs of channels as complex numbers: (N, S, D)."""
    half = x.shape[-1] // 2
    pairs = x[..., :half] + 1j * x[..., half:]
    turns = np.exp(1j * np.arange(x.shape[1])[:, None] * base ** (-np.arange(half) / half))
    pairs = pairs * turns
    return np.concatenate([pairs.real, pairs.imag], -1)


def _reference(tensors, ids, config):
    """The last hidden state of one row without padding, from a checkpoint's tensors."""
    erf = np.vectorize(math.erf)
    x = _norm(tensors["embeddings.tok_embeddings.weight"][ids], tensors["embeddings.norm.weight"])
    for i in range(config.num_hidden_layers):
        weights = {
            name.removeprefix(f"layers.{i}."): value for name, value in tensors.items() if f"layers.{i}." in name
        }
        y = _norm(x, weights["attn_norm.weight"]) if i else x
        heads = (len(ids), 3, config.num_attention_heads, -1)
        q, k, v = (y @ weights["attn.Wqkv.weight"].T).reshape(heads).transpose(1, 2, 0, 3)
        q, k = _rotated(q, config.rotary_base), _rotated(k, config.rotary_base)
        scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
        context = (scores / scores.sum(-1, keepdims=True)) @ v
        x = x + context.transpose(1, 0, 2).reshape(len(ids), -1) @ weights["attn.Wo.weight"].T
        inner, gate = np.split(_norm(x, weights["mlp_norm.weight"]) @ weights["mlp.Wi.weight"].T, 2, -1)
        x = x + (inner * (1 + erf(inner / 2**0.5)) / 2 * gate) @ weights["mlp.Wo.weight"].T
    return _norm(x, tensors["final_norm.weight"])


def test_values_are_those_of_the_formulas_and_the_checkpoint_is_complete(model, tmp_path):
    model.save_pretrained(tmp_path)
    tensors = {name.removeprefix("model."): value for name, value in load_file(tmp_path / "model.safetensors").items()}
    assert tensors["layers.0.attn.Wqkv.weight"].shape == (96, 32) and "layers.0.attn_norm.weight" not in tensors
    loaded = kb.TextClassifier.from_pretrained(tmp_path)
    assert (loaded.load_report.missing, loaded.load_report.unused) == ((), ())
    ids = np.array([[2, 9, 7, 12, 5, 3]], np.int32)
    expected = _reference(tensors, ids[0], model.config)
    for each in (model, loaded):
        np.testing.assert_allclose(each.encoder(ids).sequence[0], expected, atol=2e-4)


@pytest.mark.long_cases("float16")
@pytest.mark.parametrize("recipe", ["float16", "static_wi8_ai8"])
def test_a_file_computes_what_the_model_computes(model, tiny, tmp_path, recipe):
    texts, _ = tiny.rows(16, seed=1)
    if recipe == "static_wi8_ai8":
        model = kb.compression.quantize(model, recipe, calibration=texts)
    path = kb.export.convert(model, recipe=recipe).save(tmp_path / "modern.tflite")
    report = kb.export.validate(path, against=model, data=texts)
    assert report.ok, report.table()


@pytest.mark.long
def test_neurons_of_a_gated_network_are_pruned_together(model, tiny):
    from kerasbert.compression.pruning.structured import prune_feed_forward

    network = prune_feed_forward(model, widths=16, data=tiny.rows(4)).encoder.layers[0].feed_forward
    assert network.gate.kernel.shape == network.intermediate.kernel.shape == (32, 16)


@pytest.mark.long
def test_an_integer_only_file_computes_what_the_model_computes(model, tiny, tmp_path):
    texts, _ = tiny.rows(128, seed=1)
    integers = kb.compression.quantize(model, calibration=texts, integer_only=True)
    path = kb.export.convert(integers).save(tmp_path / "modern.tflite")
    report = kb.export.validate(path, against=integers, data=texts)
    (difference,) = next(each for each in report.checks if each.name == "cpu-xnnpack").outputs
    assert difference.agreement > 0.95 and difference.max_error < 0.12, report.table()
    with pytest.raises(kb.KerasBertError, match="stay in float: .* COS"):
        kb.export.convert(integers, length="resizable")


def test_rotary_positions_are_refused_where_attention_is_decomposed(model):
    with lowered(LoweringOptions(decomposed_attention=True)):
        with pytest.raises(kb.KerasBertError, match="positions in the embeddings .* received rotary positions"):
            model.encoder(np.array([[2, 9, 7]], np.int32))
