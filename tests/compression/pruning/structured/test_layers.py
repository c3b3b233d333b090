"""Which layers are dropped, and that those left are the ones that were there."""

import json

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import drop_layers, layer_similarities
from kerasbert.compression.pruning.structured.layer_strategies import kept_layers
from kerasbert.errors import KerasBertError
from kerasbert.tasks import SentenceEncoder

NAMES = ("bert", "albert", "mobilebert", "distilbert", "electra", "roberta")


@pytest.fixture(scope="module")
def twelve(make):
    """A task with twelve layers, of which only the number counts."""
    return make.classifier(num_hidden_layers=12, hidden_size=4, num_attention_heads=1, intermediate_size=4)


@pytest.mark.parametrize(
    ("strategy", "keep", "dropped"),
    [
        ("top", 8, [9, 10, 11, 12]),
        ("bottom", 8, [1, 2, 3, 4]),
        ("alternate", 8, [5, 7, 9, 11]),
        ("alternate-top", 8, [6, 8, 10, 12]),
        ("symmetric", 8, [5, 6, 7, 8]),
        ("symmetric", 7, [5, 6, 7, 8, 9]),
    ],
)
def test_strategies_drop_the_layers_of_the_paper(strategy, keep, dropped):
    assert sorted({*range(1, 13)} - {1 + layer for layer in kept_layers(12, keep, strategy)}) == dropped


@pytest.mark.long_cases("albert", "mobilebert")
@pytest.mark.parametrize("name", NAMES)
def test_kept_layers_keep_their_weights_and_survive_saving(make, tiny, tmp_path, name):
    model = make.classifier(name, num_hidden_layers=3)
    smaller = drop_layers(model, layers=[0, 2])
    assert type(smaller) is type(model) and smaller.config.num_hidden_layers == 2 and smaller.encoder.cut is None
    old, new = model.variables_by_path(), smaller.variables_by_path()
    if name != "albert":
        for path in new:
            np.testing.assert_array_equal(new[path], old[path.replace("layers.1.", "layers.2.")], err_msg=path)
        assert make.parameters(smaller) < make.parameters(model)
    else:
        make.assert_equal_weights(model, smaller)
        assert smaller.encoder.layers[0].attention.input_quantizer.num_calls == 2
    assert np.any(make.output(smaller, tiny.rows(4)[0]) != make.output(model, tiny.rows(4)[0]))
    smaller.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    make.assert_equal_weights(loaded, smaller)
    said = json.loads((tmp_path / "m" / "config.json").read_text("utf-8"))
    assert said.get("num_hidden_layers", said.get("n_layers")) == 2
    assert "encoder" not in json.loads((tmp_path / "m" / "kerasbert.json").read_text("utf-8"))


@pytest.mark.long_cases
@pytest.mark.parametrize("name", ["bert", "mobilebert"])
def test_contribution_drops_the_layer_without_effect(make, tiny, name):
    """Its output is its input, but for the norms that a BERT's layer ends with."""
    model, texts = make.classifier(name, num_hidden_layers=3, moves=False), tiny.rows(6)[0]
    for path, variable in model.variables_by_path().items():
        if path.startswith("encoder.layers.1.") and not path.endswith(("gamma", "beta")):
            variable.assign(0.0 * variable)
        elif path.startswith("encoder.layers.") and path.endswith("kernel"):
            variable.assign(20.0 * variable)
    similarities = layer_similarities(model, texts)
    assert similarities.shape == (3,) and np.all(np.abs(similarities) <= 1 + 1e-5)
    assert similarities[1] > 0.999 > max(similarities[0], similarities[2])
    smaller = drop_layers(model, keep=2, strategy="contribution", data=texts)
    same = drop_layers(model, layers=[0, 2])
    make.assert_equal_weights(smaller, same)
    np.testing.assert_allclose(make.output(smaller, texts), make.output(model, texts), atol=1e-4)


@pytest.mark.long
def test_albert_drops_groups_without_calls(make, tiny):
    sizes = {"num_hidden_layers": 4, "num_hidden_groups": 2, "inner_group_num": 2}
    model, texts = make.classifier("albert", **sizes), tiny.rows(4)[0]
    assert layer_similarities(model, texts).shape == (4,)
    even = drop_layers(model, layers=[1, 3])
    assert (even.config.num_hidden_layers, even.config.num_hidden_groups) == (2, 2)
    make.assert_equal_weights(even, model)
    second = drop_layers(model, keep=2, strategy="bottom")
    assert (second.config.num_hidden_groups, len(second.encoder.layers)) == (1, 2)
    for path, value in second.variables_by_path().items():
        found = model.variables_by_path()[path.replace("layers.0.", "layers.2.").replace("layers.1.", "layers.3.")]
        np.testing.assert_array_equal(value, found, err_msg=path)
    with pytest.raises(KerasBertError, match=r"2 groups the calls that a config gives it, received \[0, 2, 3\]"):
        drop_layers(model, layers=[0, 2, 3])


@pytest.mark.long
def test_adapters_and_layer_mix_of_kept_layers_are_kept(make):
    model = make.classifier(num_hidden_layers=3, options={"adapters": 2, "layer_mix": True})
    smaller = drop_layers(model, layers=[0, 2])
    scores = model.encoder.layer_mix.scores.numpy()
    np.testing.assert_array_equal(smaller.encoder.layer_mix.scores, scores[[0, 1, 3]])
    assert smaller.encoder.options == {"adapters": 2, "layer_mix": True}


@pytest.mark.long
def test_masked_language_model_drops_layers(make, tiny):
    model = make.classifier(task=SentenceEncoder, num_hidden_layers=3)
    smaller = drop_layers(model, keep=1, strategy="contribution", data=tiny.rows(4)[0])
    assert make.output(smaller, tiny.rows(2)[0]).shape == (2, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"keep": 0}, "expected from 1 to 1 layers to keep, received 0"),
        ({"keep": 2}, "expected from 1 to 1 layers to keep, received 2"),
        ({"keep": 1.5}, "expected from 1 to 1 layers to keep, received 1.5"),
        ({"layers": [0, 1]}, "expected from 1 to 1 layers to keep, received 2"),
        ({"layers": []}, "expected from 1 to 1 layers to keep, received 0"),
        ({"layers": [2]}, "expected layers from 0 to 1, received 2"),
        ({"layers": [0, 0]}, "every one of the layers once"),
        ({"layers": ["a"]}, "expected numbers of layers"),
        ({}, "expected one of keep and layers, received none"),
        ({"keep": 1, "layers": [0]}, "expected one of keep and layers, received keep and layers"),
        ({"keep": 1, "strategy": "middle"}, "expected a strategy of top, bottom"),
        ({"keep": 1, "strategy": "contribution"}, "expected data to compare layers"),
    ],
)
def test_invalid_arguments_are_refused(plain, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        drop_layers(plain, **arguments)


def test_too_few_layers_for_a_strategy(twelve):
    with pytest.raises(KerasBertError, match="expected at least 6 of 12 layers to keep .*'alternate', received 2"):
        drop_layers(twelve, keep=2, strategy="alternate")


def test_quantized_task_is_refused(quantized):
    with pytest.raises(KerasBertError, match="cut first, quantize then"):
        drop_layers(quantized, keep=1)
