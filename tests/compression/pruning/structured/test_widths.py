"""Feed-forward networks: which neurons go, how many, and where the new widths are written."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import drop_layers, neuron_importance, prune_feed_forward, prune_heads
from kerasbert.compression.pruning.structured.model_surgery import feed_forwards
from kerasbert.compression.pruning.structured.widths import _round_up
from kerasbert.errors import KerasBertError

NAMES = ("bert", "albert", "mobilebert", "distilbert")


def silence(model, silent) -> None:
    """Makes what these neurons of every network say zero."""
    for network in feed_forwards(model):
        kernel = network.output_dense.kernel.numpy()
        kernel[silent] = 0
        network.output_dense.kernel.assign(kernel)


@pytest.mark.long_cases("albert", "mobilebert")
@pytest.mark.parametrize("name", NAMES)
def test_pruning_neurons_without_effect_keeps_outputs(make, tiny, tmp_path, name):
    model, (texts, labels) = make.classifier(name, hidden_act="gelu"), tiny.rows(8)  # ReLU silences further ones
    silence(model, np.arange(3, 11))
    smaller = prune_feed_forward(model, share=1 / 3, data=(texts, labels))
    assert type(smaller) is type(model)
    assert smaller.config.intermediate_size == 16 and smaller.encoder.cut is None
    for mine, theirs in zip(feed_forwards(smaller), feed_forwards(model), strict=True):
        kept = np.delete(np.arange(24), np.arange(3, 11))
        np.testing.assert_array_equal(mine.intermediate.kernel, theirs.intermediate.kernel.numpy()[:, kept])
        np.testing.assert_array_equal(mine.intermediate.bias, theirs.intermediate.bias.numpy()[kept])
        np.testing.assert_array_equal(mine.output_dense.kernel, theirs.output_dense.kernel.numpy()[kept])
    np.testing.assert_allclose(make.output(smaller, texts), make.output(model, texts), atol=1e-5)
    smaller.save_pretrained(tmp_path / "m")
    said = json.loads((tmp_path / "m" / "config.json").read_text("utf-8"))
    assert said.get("intermediate_size", said.get("hidden_dim")) == 16
    assert "encoder" not in json.loads((tmp_path / "m" / "kerasbert.json").read_text("utf-8"))
    make.assert_equal_weights(kb.load_task(tmp_path / "m"), smaller)


@pytest.mark.long_cases("albert")
@pytest.mark.parametrize("name", ["bert", "albert", "mobilebert"])
def test_networks_may_have_different_widths(make, tiny, tmp_path, name):
    model, (texts, labels) = make.classifier(name, num_hidden_layers=2), tiny.rows(8)
    networks = len(feed_forwards(model))
    wanted = [24 - i for i in range(networks)] if networks > 1 else [17]
    smaller = prune_feed_forward(model, widths=wanted, data=(texts, labels))
    cut = {"cut": {"intermediate": wanted}} if networks > 1 else {}
    assert smaller.encoder.options == cut
    assert [network.intermediate.units for network in feed_forwards(smaller)] == wanted
    smaller.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    assert loaded.encoder.options == cut
    make.assert_equal_weights(loaded, smaller)
    quantized = loaded.with_policy(kb.compression.POLICIES["static_wi8_ai8"])
    make.assert_equal_weights(quantized, smaller)


@pytest.mark.long
def test_neurons_of_all_layers_ranked_together(make, tiny):
    model, data = make.classifier(), tiny.rows(8)
    network = feed_forwards(model)[0]
    network.output_dense.kernel.assign(0 * network.output_dense.kernel)
    smaller = prune_feed_forward(model, share=0.4, data=data, per_layer=False)
    assert smaller.encoder.options == {"cut": {"intermediate": [8, 24]}}
    fine = prune_feed_forward(model, share=0.4, data=data, per_layer=False, multiple=1)
    assert fine.encoder.options == {"cut": {"intermediate": [5, 24]}}
    alike = prune_feed_forward(smaller, widths=8, data=data)
    assert alike.encoder.options == {} and alike.config.intermediate_size == 8


def test_widths_are_rounded_up_to_blocks(make, tiny):
    for share, multiple, width in ((0.1, 1, 22), (0.4, 1, 15), (0.9, 1, 3), (0.4, 8, 16), (0.9, 8, 8), (0.1, 5, 24)):
        assert _round_up(24 - int(share * 24), 24, multiple) == width
    assert prune_feed_forward(make.classifier(), share=0.9, data=tiny.rows(4)).config.intermediate_size == 8


@pytest.mark.long
def test_prunings_can_be_combined(make, tiny, tmp_path):
    model, (texts, labels) = make.classifier(num_hidden_layers=3), tiny.rows(8)
    smaller = prune_heads(model, heads={0: [0], 2: [1, 2]})
    smaller = prune_feed_forward(smaller, widths=[8, 16, 24], data=(texts, labels))
    assert smaller.encoder.options == {"cut": {"heads": [3, 4, 2], "intermediate": [8, 16, 24]}}
    smaller = drop_layers(smaller, layers=[0, 2])
    assert smaller.encoder.options == {"cut": {"heads": [3, 2], "intermediate": [8, 24]}}
    smaller.save_pretrained(tmp_path / "m")
    np.testing.assert_array_equal(make.output(kb.load_task(tmp_path / "m"), texts), make.output(smaller, texts))


def test_every_feed_forward_network_has_importance(make, tiny):
    found = neuron_importance(make.classifier("mobilebert"), tiny.rows(4))
    assert [values.shape for values in found] == [(24,)] * 4
    np.testing.assert_allclose([np.linalg.norm(values) for values in found], 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 0.0}, "expected a share of neurons above 0 and below 1, received 0.0"),
        ({"share": 1}, "expected a share of neurons above 0 and below 1, received 1"),
        ({"share": 0.1}, "expected narrower networks than 64 neurons in the end, received a share of 0.1; cut more"),
        ({"share": 0.5}, "expected labelled examples: .*`data=`"),
        ({"share": 0.5, "multiple": 0}, "expected widths in multiples of 1 or more, received 0"),
        ({"widths": 64}, "expected narrower networks than 64 neurons in the end, received widths of 64"),
        ({"widths": 65}, "expected widths as whole numbers from 1 to 64, the present width, received 65"),
        ({"widths": [8]}, "expected one of the widths for each of 2 networks, received 1"),
        ({"widths": [8, 0.5]}, "expected widths as whole numbers from 1 to 64"),
        ({}, "expected one of share and widths, received none"),
    ],
)
def test_invalid_arguments_are_refused(plain, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        prune_feed_forward(plain, **arguments)


def test_quantized_task_is_refused(quantized, tiny):
    with pytest.raises(KerasBertError, match="cut first, quantize then"):
        prune_feed_forward(quantized, share=0.5, data=tiny.rows(4))
