"""The search for layers: similarities against whole pruned models, its order, the beam, and every architecture and kind of task."""

import itertools

import numpy as np
import pytest

from kerasbert.compression.pruning.structured import drop_layers, layer_search, search_layers
from kerasbert.compression.pruning.structured.layer_strategies import kept_layers, layer_similarities
from kerasbert.data import read_table
from kerasbert.encoders.layer_groups import layer_group
from kerasbert.errors import KerasBertError
from kerasbert.processors.metrics import cosine, pearson
from kerasbert.tasks import (
    MaskedLM,
    MultipleChoice,
    QuestionAnswerer,
    SentenceEncoder,
    TextClassifier,
    TokenTagger,
)

NAMES = ("bert", "mobilebert", "distilbert", "electra", "roberta")


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(12, seed=2)[0]


@pytest.fixture(scope="module")
def encoder(make):
    return make.classifier(task=SentenceEncoder, num_hidden_layers=4)


@pytest.mark.long_cases("[bert")
@pytest.mark.parametrize("name", NAMES)
def test_similarities_are_those_of_pruned_models(make, texts, name):
    model = make.classifier(name, task=SentenceEncoder, num_hidden_layers=3)
    whole, found = make.output(model, texts), search_layers(model, 2, texts, batch_size=5)
    assert {choice.layers for choice in found} == set(itertools.combinations(range(3), 2))
    for choice in found:
        vectors = make.output(drop_layers(model, layers=choice.layers), texts)
        assert choice.similarity == pytest.approx(cosine(whole, vectors).mean(), abs=1e-4), (
            choice
        )  # trigrams read padding
        error = np.linalg.norm(vectors - whole) / np.linalg.norm(whole)
        assert choice.error == pytest.approx(error, rel=1e-3), choice
    ranks = [(-choice.similarity, choice.error) for choice in found]
    assert ranks == sorted(ranks)
    assert model.config.num_hidden_layers == len(model.encoder.layers) == 3  # the model is not changed


@pytest.mark.long
def test_fixed_strategies_are_named(encoder, texts):
    by_layers = {choice.layers: choice.strategies for choice in search_layers(encoder, 2, texts)}
    named = [(name, layers) for layers, names in by_layers.items() for name in names]
    similarities = layer_similarities(encoder, texts)
    fixed = {
        name: tuple(kept_layers(4, 2, name, similarities if name == "contribution" else None)) for name, _ in named
    }
    assert dict(named) == fixed and len(named) == 6
    few = [name for choice in search_layers(encoder, 1, texts) for name in choice.strategies]
    assert sorted(few) == ["bottom", "contribution", "symmetric", "top"]  # others remove two of four at most


@pytest.mark.long
def test_drop_layers_takes_the_best_choice(make, encoder, texts):
    best = search_layers(encoder, 2, texts)[0]
    found = drop_layers(encoder, keep=2, strategy="search", data=texts)
    make.assert_equal_weights(found, drop_layers(encoder, layers=best.layers))


@pytest.mark.long
def test_a_layer_without_effect_goes_first(make, texts):
    model = make.classifier(num_hidden_layers=3, moves=False)
    for path, variable in model.variables_by_path().items():
        if path.startswith("encoder.layers.1.") and not path.endswith(("gamma", "beta")):
            variable.assign(0.0 * variable)
        elif path.startswith("encoder.layers.") and path.endswith("kernel"):
            variable.assign(20.0 * variable)
    best = search_layers(model, 2, texts)[0]
    assert best.layers == (0, 2) and best.similarity == 1 and best.error < 1e-4


@pytest.mark.long
def test_a_beam_follows_the_best_choices(make, texts, monkeypatch):
    model = make.classifier(task=SentenceEncoder, num_hidden_layers=6)
    everything = {choice.layers: choice for choice in search_layers(model, 3, texts)}
    assert len(everything) == 20
    monkeypatch.setattr(layer_search, "EXHAUSTIVE", 0)
    greedy = search_layers(model, 3, texts, beam=1)
    layers = tuple(range(6))
    for keep in (5, 4):
        pruned = {layers[:i] + layers[i + 1 :] for i in range(len(layers))}
        layers = next(choice.layers for choice in search_layers_of(model, keep, texts, pruned))
    reachable = {layers[:i] + layers[i + 1 :] for i in range(4)}
    unnamed = {choice.layers for choice in greedy if not choice.strategies}
    assert unnamed <= reachable <= {choice.layers for choice in greedy}
    for choice in greedy:
        assert choice.similarity == pytest.approx(everything[choice.layers].similarity, abs=1e-6)
    wide = search_layers(model, 3, texts, beam=100)
    assert {choice.layers for choice in wide} == set(everything)


def search_layers_of(model, keep, texts, among):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer_search, "EXHAUSTIVE", 500)
        return [choice for choice in search_layers(model, keep, texts) if choice.layers in among]


@pytest.mark.long
def test_albert_tries_what_calls_other_blocks(make, texts):
    sizes = {"num_hidden_layers": 4, "num_hidden_groups": 2, "inner_group_num": 2}
    model = make.classifier("albert", task=SentenceEncoder, **sizes)
    found = search_layers(model, 2, texts)
    groups = [tuple(layer_group(model.config, layer) for layer in choice.layers) for choice in found]
    assert sorted(groups) == [(0, 0), (0, 1), (1, 1)]
    whole = make.output(model, texts)
    for choice in found:
        vectors = make.output(drop_layers(model, layers=choice.layers), texts)
        assert choice.similarity == pytest.approx(cosine(whole, vectors).mean(), abs=1e-5)
    three = {
        tuple(layer_group(model.config, layer) for layer in choice.layers) for choice in search_layers(model, 3, texts)
    }
    assert three == {(0, 0, 1)}  # no config has one call of the first group and two of the second


@pytest.mark.long_cases("TextClassifier-settings0", "QuestionAnswerer")
@pytest.mark.parametrize(
    ("task", "settings"),
    [
        (TextClassifier, {"labels": ("a", "b", "c")}),
        (TextClassifier, {"labels": ("a", "b", "c"), "problem": "multi_label"}),
        (TextClassifier, {"problem": "regression"}),
        (TokenTagger, {"labels": ("O", "B-X", "I-X")}),
        (QuestionAnswerer, {}),
        (MultipleChoice, {}),
        (MaskedLM, {}),
    ],
)
def test_every_task_is_compared(make, tiny, texts, task, settings):
    model = make.classifier(num_hidden_layers=3)
    model = task(model.encoder, model.tokenizer, sequence_length=tiny.length, **settings)
    examples = {
        QuestionAnswerer: [(text.split()[-1], text) for text in texts],
        MultipleChoice: [(text, ("bad film", "a book", "it was")[: 2 + i % 2]) for i, text in enumerate(texts)],
    }.get(task, texts)
    found = search_layers(model, 2, examples)
    assert len(found) == 3 and all(-1 <= choice.similarity <= 1 and choice.error > 0 for choice in found)
    if settings.get("problem") == "regression":
        scores = [make.output(drop_layers(model, layers=choice.layers), texts)[:, 0] for choice in found]
        expected = [pearson(make.output(model, texts)[:, 0], each) for each in scores]
        np.testing.assert_allclose([choice.similarity for choice in found], expected, atol=1e-4)
    elif task is TextClassifier and not settings.get("problem"):
        decided = make.output(model, texts).argmax(1)
        pruned = [drop_layers(model, layers=choice.layers) for choice in found]
        same = [(make.output(each, texts).argmax(1) == decided).mean() for each in pruned]
        assert [choice.similarity for choice in found] == pytest.approx(same)


@pytest.mark.long
def test_rows_are_spread_over_the_data(encoder, texts):
    few = search_layers(encoder, 2, texts, rows=3)
    chosen = [texts[0], texts[6], texts[11]]  # 5.5 is rounded to the even number
    assert few == search_layers(encoder, 2, chosen)
    packed = encoder.pack(chosen)
    for one, other in zip(few, search_layers(encoder, 2, packed), strict=True):
        assert one.layers == other.layers and one.similarity == pytest.approx(other.similarity, abs=1e-5)


@pytest.mark.long
def test_labels_are_not_used(encoder, texts, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{text}\tthe film\t1\n" for text in texts), "utf-8")
    table = read_table(path, text="0", pair="1", label="2")
    assert search_layers(encoder, 2, table) == search_layers(encoder, 2, table.x)


@pytest.mark.parametrize(
    ("keep", "data", "message"),
    [
        (4, ["a film"], "expected from 1 to 3 layers to keep, received 4"),
        (2, None, "expected data to compare choices of layers on, received none"),
        (2, [], "expected at least one text to compare choices of layers on"),
        (2, ["xyz"], "expected texts in words that the model's tokenizer knows to compare choices of layers on them"),
    ],
)
def test_invalid_arguments_are_refused(encoder, keep, data, message):
    with pytest.raises(KerasBertError, match=message):
        search_layers(encoder, keep, data)


def test_layer_mix_and_quantized_tasks_are_refused(make, quantized, texts):
    mixed = make.classifier(num_hidden_layers=3, options={"layer_mix": True})
    with pytest.raises(KerasBertError, match="received one with a layer mix; name the layers to keep"):
        search_layers(mixed, 2, texts)
    with pytest.raises(KerasBertError, match="cut first, quantize then"):
        search_layers(quantized, 1, texts)
