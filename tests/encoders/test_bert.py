from pathlib import Path

import numpy as np
import pytest

from kerasbert.encoders import BertConfig, BertEncoder, encoder_class
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import dense_layers, named_variables
from kerasbert.tasks.pretrained import load_encoder

GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = ("bert-pretraining", "bert-gelu-new", "bert-sequence-classification")


@pytest.fixture(scope="module", params=FOLDERS)
def golden(request):
    """An encoder, PyTorch's numbers for it, and what the encoder makes of the same inputs."""
    folder = GOLDEN / request.param
    encoder, reference = load_encoder(folder), dict(np.load(folder / "reference.npz"))
    inputs = {name: reference[name] for name in INPUT_NAMES}
    return encoder, reference, encoder(inputs, output_hidden_states=True, output_attentions=True)


def test_hidden_states_and_attentions_are_those_of_pytorch(golden):
    encoder, reference, output = golden
    real = reference["attention_mask"].astype(bool)
    assert len(output.hidden_states) == encoder.config.num_hidden_layers + 1
    assert len(output.attentions) == encoder.config.num_hidden_layers
    for i, hidden in enumerate(output.hidden_states):
        np.testing.assert_allclose(hidden.numpy()[real], reference[f"hidden_{i}"][real], atol=1e-5, rtol=0)
    for i, attention in enumerate(output.attentions):
        ours, theirs = (np.moveaxis(a, 2, 1)[real] for a in (attention.numpy(), reference[f"attention_{i}"]))
        np.testing.assert_allclose(ours, theirs, atol=1e-5, rtol=0)
    np.testing.assert_array_equal(output.sequence, output.hidden_states[-1])


def test_padding_gets_no_attention(golden):
    _, reference, output = golden
    padding = reference["attention_mask"] == 0
    assert padding.any()
    for attention in output.attentions:
        assert np.abs(np.moveaxis(attention.numpy(), 3, 1)[padding]).max() == 0


def test_bare_encoder_and_pooler_are_those_of_pytorch():
    folder = GOLDEN / "bert-gelu-new"
    reference = dict(np.load(folder / "reference.npz"))
    output = load_encoder(folder)({name: reference[name] for name in INPUT_NAMES})
    real = reference["attention_mask"].astype(bool)
    np.testing.assert_allclose(output.sequence.numpy()[real], reference["last_hidden_state"][real], atol=1e-5, rtol=0)
    np.testing.assert_allclose(output.pooled, reference["pooler_output"], atol=1e-5, rtol=0)


def test_pooler_of_a_pretraining_checkpoint_gives_its_next_sentence_logits():
    from safetensors.numpy import load_file

    folder = GOLDEN / "bert-pretraining"
    reference, tensors = dict(np.load(folder / "reference.npz")), load_file(folder / "model.safetensors")
    pooled = load_encoder(folder)({name: reference[name] for name in INPUT_NAMES}).pooled.numpy()
    logits = pooled @ tensors["cls.seq_relationship.weight"].T + tensors["cls.seq_relationship.bias"]
    np.testing.assert_allclose(logits, reference["seq_relationship_logits"], atol=1e-5, rtol=0)


def test_every_tensor_of_a_checkpoint_is_accounted_for():
    report = load_encoder(GOLDEN / "bert-pretraining").load_report
    assert (report.missing, report.unused, report.wrong_shape) == ((), (), ())
    assert {reason for _, reason in report.ignored} == {"masked-LM head", "next-sentence head"}
    assert len(report.loaded) == 5 + 3 * 16 + 2


def test_mask_and_token_types_may_be_left_out(tiny):
    encoder = tiny.encoder()
    ids = np.array([[2, 6, 7, 3]], np.int32)
    full = encoder({"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})
    for inputs in ({"input_ids": ids}, ids):
        np.testing.assert_array_equal(encoder(inputs).sequence, full.sequence)
    other = encoder({"input_ids": ids, "token_type_ids": np.ones_like(ids)})
    assert np.abs(other.sequence - full.sequence).max() > 1e-3


def test_padding_changes_nothing(tiny):
    encoder = tiny.encoder()
    ids = np.array([[2, 6, 7, 8, 3]], np.int32)
    padded = np.pad(ids, ((0, 0), (0, 11)), constant_values=9)
    mask = np.pad(np.ones_like(ids), ((0, 0), (0, 11)))
    short, long = encoder(ids), encoder({"input_ids": padded, "attention_mask": mask})
    np.testing.assert_allclose(long.sequence[:, :5], short.sequence, atol=2e-6)
    np.testing.assert_allclose(long.pooled, short.pooled, atol=2e-6)


def test_outputs_are_none_by_default(tiny):
    output = tiny.encoder(pooler=False)(np.array([[2, 3]], np.int32))
    assert output.pooled is None and output.hidden_states is None and output.attentions is None


def test_dropout_works_only_in_training(tiny):
    encoder, ids = tiny.encoder(), np.array([[2, 6, 7, 3]], np.int32)
    np.testing.assert_array_equal(encoder(ids).sequence, encoder(ids).sequence)
    assert np.abs(encoder(ids, training=True).sequence - encoder(ids, training=True).sequence).max() > 0.01


def test_new_weights_are_not_the_same_values_twice(tiny):
    encoder = tiny.encoder()
    encoder(np.array([[2, 3]], np.int32))
    kernels = [dense.kernel.numpy() for dense in dense_layers(encoder) if dense.kernel.shape == (32, 32)]
    assert len(kernels) == 2 * 4 + 1
    assert all(np.abs(a - b).max() > 0.05 for i, a in enumerate(kernels) for b in kernels[:i])
    assert np.std(kernels[0]) == pytest.approx(tiny.sizes["initializer_range"], rel=0.25)


def test_paths_name_every_variable_once(tiny):
    encoder = tiny.encoder()
    encoder(np.array([[2, 3]], np.int32))
    paths = encoder.variables_by_path()
    assert "layers.1.attention.query.kernel" in paths and "embeddings.word.table" in paths
    assert len(paths) == len(encoder.trainable_variables) == 5 + 2 * 16 + 2
    assert {id(v) for v in named_variables(encoder).values()} == {id(v) for v in encoder.variables}
    points = [point.path for point in activation_quantizers(encoder)]
    assert len(points) == len(set(points))


def test_config_round_trip(tiny):
    from kerasbert.compression import POLICIES

    encoder = tiny.encoder(POLICIES["static_wi8_ai8"], pooler=False, hidden_act="relu")
    other = BertEncoder.from_config(encoder.get_config())
    assert (other.config, other.policy, other.pooler) == (encoder.config, encoder.policy, None)
    assert BertConfig.from_dict({**encoder.config.to_dict(), "use_cache": True}) == encoder.config


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"hidden_size": 30}, "hidden_size"),
        ({"num_attention_heads": 0}, "num_attention_heads"),
        ({"num_hidden_layers": -1}, "num_hidden_layers"),
        ({"vocab_size": "40"}, "vocab_size"),
        ({"intermediate_size": 6.5}, "intermediate_size"),
        ({"max_position_embeddings": True}, "max_position_embeddings"),
        ({"hidden_act": "swish"}, "swish"),
    ],
)
def test_wrong_sizes_raise_one_line(tiny, wrong, named):
    with pytest.raises(KerasBertError, match=named) as error:
        BertConfig(**{**tiny.sizes, **wrong})
    assert "\n" not in str(error.value)


def test_an_unknown_model_type_lists_the_supported_ones():
    with pytest.raises(KerasBertError, match="bert.*'llama'"):
        encoder_class("llama")
