"""Layers that share weights: the ALBERT that computes what a task computes, and which weights a group gets."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import factorize, layer_sharing, prune_heads, share_layers
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM, SentenceEncoder


def alike(model, *layers):
    """The task, with the weights of the first of these layers in all of them."""
    variables = model.variables_by_path()
    for path, variable in variables.items():
        for layer in layers[1:]:
            if path.startswith(f"encoder.layers.{layer}."):
                variable.assign(variables[path.replace(f"layers.{layer}.", f"layers.{layers[0]}.", 1)])
    return model


@pytest.mark.long_cases("bert-T", "distilbert")
@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("bert", kb.TextClassifier),
        ("bert", MaskedLM),
        ("roberta", kb.TextClassifier),
        ("electra", SentenceEncoder),
        ("distilbert", SentenceEncoder),
        ("distilbert", MaskedLM),
    ],
    ids=["bert-T", "bert-M", "roberta", "electra", "distilbert", "distilbert-M"],
)
def test_equal_layers_are_shared_without_effect(make, tiny, name, task):
    model, texts = alike(make.classifier(name, task=task), 0, 1), tiny.rows(4)[0]
    shared = share_layers(model, 1)
    assert type(shared) is type(model) and shared.config.model_type == "albert" and len(shared.encoder.layers) == 1
    assert make.parameters(shared) < make.parameters(model)
    np.testing.assert_allclose(make.output(shared, texts), make.output(model, texts), atol=2e-5)


@pytest.mark.long
def test_groups_are_consecutive_and_get_the_named_weights(make):
    model = make.classifier(num_hidden_layers=5)
    path = "encoder.layers.{}.feed_forward.intermediate.kernel"
    kernels = [model.variables_by_path()[path.format(layer)].numpy() for layer in range(5)]
    expected = {
        "mean": [np.mean(kernels[:3], 0), np.mean(kernels[3:], 0)],
        "first": [kernels[0], kernels[3]],
        "middle": [kernels[1], kernels[4]],
        "last": [kernels[2], kernels[4]],
    }
    for weights, values in expected.items():
        variables = share_layers(model, 2, weights).variables_by_path()
        for group, value in enumerate(values):
            np.testing.assert_allclose(variables[path.format(group)], value, rtol=1e-6)


@pytest.mark.long_cases
@pytest.mark.parametrize("exhaustive", [500, 0])
def test_search_finds_the_layer_whose_calls_give_the_closest_outputs(make, tiny, monkeypatch, exhaustive):
    monkeypatch.setattr(layer_sharing, "EXHAUSTIVE", exhaustive)
    model, texts = make.classifier(task=SentenceEncoder, num_hidden_layers=3), tiny.rows(16)[0]
    before = make.output(model, texts)
    each = [share_layers(model, 1, weights) for weights in ("first", "middle", "last")]
    cosines = [(make.output(shared, texts) * before).sum(1).mean() for shared in each]
    make.assert_equal_weights(share_layers(model, 1, data=texts), each[int(np.argmax(cosines))])


@pytest.mark.long
def test_groups_of_an_albert_are_merged(make):
    model = make.classifier("albert", num_hidden_layers=4, num_hidden_groups=4, inner_group_num=2)
    shared = share_layers(model, 2, "last")
    assert (shared.config.num_hidden_groups, len(shared.encoder.layers)) == (2, 4)
    path = "encoder.layers.{}.attention.query.kernel"
    of_shared, of_model = shared.variables_by_path(), model.variables_by_path()
    for block, source in enumerate((2, 3, 6, 7)):
        np.testing.assert_array_equal(of_shared[path.format(block)], of_model[path.format(source)])


@pytest.mark.long
def test_shared_model_is_saved_quantized_and_converted_once(make, tiny, tmp_path):
    model, texts = prune_heads(make.classifier(), heads={0: [0], 1: [2]}), tiny.rows(64)[0]
    shared = share_layers(model)
    shared.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    make.assert_equal_weights(loaded, shared)
    assert (loaded.load_report.missing, loaded.load_report.unused) == ((), ())
    assert loaded.encoder.options == {"cut": {"heads": [3]}}
    int8 = kb.compression.quantize(loaded, "static_wi8_ai8", calibration=texts)
    file = kb.export.convert(int8)
    sizes = [len(kb.export.convert(each, recipe="float32").data) for each in (model, loaded)]
    assert sizes[1] < sizes[0]
    file.save(tmp_path / "m.tflite")
    opened = kb.open(tmp_path / "m.tflite").predictions(texts[:8])
    expected = int8.predictions(texts[:8])
    for one, other in zip(opened, expected, strict=True):
        np.testing.assert_allclose(
            list(one["probabilities"].values()), list(other["probabilities"].values()), atol=0.05
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": 2}, "expected groups of layers as a whole number from 1 to 1, received 2; the model has 2 layers"),
        ({"groups": 3}, "received 3"),
        ({"groups": 0}, "received 0"),
        ({"groups": 1.0}, "received 1.0"),
        ({"groups": True}, "received True"),
        ({"weights": "best"}, "expected weights of mean, first, middle, last, search of a group, received 'best'"),
        ({"weights": "search"}, "expected data to compare choices of layers on, received none"),
    ],
)
def test_invalid_arguments_are_refused(plain, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        share_layers(plain, **arguments)


@pytest.mark.long
def test_models_that_cannot_be_shared_are_refused(make, tiny, quantized):
    exits = tiny.classifier(exits=[1])
    for model, message in [
        (
            make.classifier("mobilebert"),
            "expected layers that an ALBERT can have, to share them, received those of a mobilebert",
        ),
        (make.classifier("albert"), "as a whole number below 1, received 1; the model has 1 groups of layers"),
        (
            make.classifier("distilbert"),
            "expected a pooler with tanh, which an ALBERT has, received the one of a distilbert's",
        ),
        (prune_heads(make.classifier(), heads={0: [0]}), "share layers before you prune heads or neurons"),
        (factorize(make.classifier(), rank=2), "share layers first, factorize then"),
        (exits, "expected a model without early exits, received one with them; cut first, train exits then"),
        (quantized, "cut first, quantize then"),
    ]:
        with pytest.raises(KerasBertError, match=message):
            share_layers(model)
