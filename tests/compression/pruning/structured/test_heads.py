"""Heads: how important they are, which go, and that what goes is gone from every kernel."""

import json

import numpy as np
import pytest
import tf_keras as keras

import kerasbert as kb
from kerasbert.compression.pruning.structured import head_importance, prune_heads
from kerasbert.compression.pruning.structured.importance import gate_derivatives
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM, MultipleChoice, Pretrainer, QuestionAnswerer, SentenceEncoder

NAMES = ("bert", "albert", "mobilebert", "distilbert", "electra", "roberta")


def silence(model, heads: dict[int, list[int]]) -> None:
    """Makes what these heads say zero."""
    for layer, numbers in heads.items():
        attention = model.encoder.layers[layer].attention
        kernel = attention.output_dense.kernel.numpy()
        for head in numbers:
            kernel[head * attention.head_size : (head + 1) * attention.head_size] = 0
        attention.output_dense.kernel.assign(kernel)


@pytest.mark.long_cases("albert", "mobilebert")
@pytest.mark.parametrize("name", NAMES)
def test_pruning_heads_without_effect_keeps_outputs(make, tiny, name):
    model, (texts, labels) = make.classifier(name), tiny.rows(8)
    blocks = len(model.encoder.layers)
    silent = {0: [1, 2], blocks - 1: [1, 2]} if blocks == 1 else {0: [0], 1: [1, 2, 3]}
    silence(model, silent)
    smaller = prune_heads(model, heads=silent)
    left = [4 - len(numbers) for numbers in silent.values()]
    assert type(smaller) is type(model) and smaller.encoder.options == {"cut": {"heads": left}}
    for block, number in zip(smaller.encoder.layers, left, strict=True):
        attention, width = block.attention, model.encoder.layers[0].attention.head_size * number
        assert {d.kernel.shape[1] for d in (attention.query, attention.key, attention.value)} == {width}
        assert attention.output_dense.kernel.shape[0] == width
    assert make.parameters(smaller) < make.parameters(model)
    np.testing.assert_allclose(make.output(smaller, texts), make.output(model, texts), atol=1e-5)
    found = prune_heads(model, share=sum(map(len, silent.values())) / (4 * blocks), data=(texts, labels))
    make.assert_equal_weights(found, smaller)  # importance finds the silent ones


@pytest.mark.long_cases("albert")
@pytest.mark.parametrize("name", ["bert", "albert", "mobilebert"])
def test_pruned_model_can_be_saved_and_quantized(make, tiny, tmp_path, name):
    model, texts = make.classifier(name), tiny.rows(8)[0]
    blocks = len(model.encoder.layers)
    smaller = prune_heads(model, heads={0: [0], blocks - 1: [1, 3]})
    smaller.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    assert loaded.encoder.options == smaller.encoder.options
    make.assert_equal_weights(loaded, smaller)
    assert (loaded.load_report.missing, loaded.load_report.unused) == ((), ())
    np.testing.assert_array_equal(make.output(loaded, texts), make.output(smaller, texts))
    assert kb.load_encoder(tmp_path / "m").options == smaller.encoder.options
    quantized = loaded.with_policy(kb.compression.POLICIES["static_wi8_ai8"])
    assert quantized.encoder.options == smaller.encoder.options
    make.assert_equal_weights(quantized, smaller)


@pytest.mark.long
def test_keras_file_keeps_pruned_sizes(make, tmp_path):
    smaller = prune_heads(make.classifier(), heads={1: [0]})
    smaller.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    assert again.encoder.options == {"cut": {"heads": [4, 3]}}
    make.assert_equal_weights(again, smaller)


@pytest.mark.long
def test_gate_derivative_matches_finite_difference(make, tiny):
    """Against the loss itself, with one head's output a little larger and a little smaller."""
    model, (texts, labels) = make.classifier(), tiny.rows(1)
    points = [block.attention.context for block in model.encoder.layers]
    found = gate_derivatives(model, points, [4, 4], (texts, labels))
    loss, (inputs, targets) = model.default_loss(), next(iter(model.dataset(texts, labels)))
    kernel = model.encoder.layers[1].attention.output_dense.kernel
    first, losses = kernel.numpy(), []
    for factor in (0.95, 1.05):
        gate = np.ones((8, 1))
        gate[2:4] = factor  # head 1
        kernel.assign(first * gate)
        losses.append(float(loss(targets, model(inputs))))
    assert found[1][1] == pytest.approx(abs(losses[1] - losses[0]) / 0.1, rel=0.05)
    assert all(point.observer is None for point in points)


@pytest.mark.long
def test_absolute_derivatives_are_averaged_over_texts(make, tiny):
    """Texts whose losses would change in opposite directions do not cancel out."""
    model, (texts, labels) = make.classifier(), tiny.rows(4)
    points = [block.attention.context for block in model.encoder.layers]
    alone = [gate_derivatives(model, points, [4, 4], ([t], [y])) for t, y in zip(texts, labels, strict=True)]
    together = gate_derivatives(model, points, [4, 4], (texts, labels))
    assert (np.array(alone) > 0).all()
    np.testing.assert_allclose(together, np.mean(alone, axis=0), rtol=1e-3)


@pytest.mark.long
def test_importance_is_normalized_and_leaves_the_task_unchanged(make, tiny):
    model = make.classifier(num_hidden_layers=3)
    before = {path: variable.numpy() for path, variable in model.variables_by_path().items()}
    found = head_importance(model, tiny.rows(6), batch_size=4)
    assert [values.shape for values in found] == [(4,)] * 3
    np.testing.assert_allclose([np.linalg.norm(values) for values in found], 1, rtol=1e-5)
    other = head_importance(model, tiny.rows(6), batch_size=6)
    np.testing.assert_allclose(found, other, rtol=1e-3, atol=1e-5)  # a mean over texts, not over batches
    for path, value in before.items():
        np.testing.assert_array_equal(model.variables_by_path()[path], value)


@pytest.mark.long
def test_heads_are_ranked_globally_or_per_layer(make, tiny):
    model, data = make.classifier(), tiny.rows(8)
    silence(model, {0: [0, 1, 2, 3]})
    together = prune_heads(model, share=0.5, data=data)
    assert together.encoder.options == {"cut": {"heads": [1, 3]}}  # the last one stays
    alike = prune_heads(model, share=0.5, data=data, per_layer=True)
    assert alike.encoder.options == {"cut": {"heads": [2, 2]}}
    again = prune_heads(alike, share=0.5, data=data, per_layer=True)
    assert again.encoder.options == {"cut": {"heads": [1, 1]}}


@pytest.mark.long
def test_importance_of_shared_block_covers_all_calls(make, tiny):
    model = make.classifier("albert", num_hidden_layers=3)
    found = head_importance(model, tiny.rows(4))
    assert [values.shape for values in found] == [(4,)]
    smaller = prune_heads(model, share=0.5, data=tiny.rows(4))
    assert smaller.encoder.options == {"cut": {"heads": [2]}}


@pytest.mark.long
def test_other_tasks_have_importance(make, tiny):
    texts = tiny.rows(4)[0]
    data = {
        MaskedLM: texts,
        MultipleChoice: ([("the film", ["was good", "was bad"])] * 2, [0, 1]),
        QuestionAnswerer: (
            [{"question": "what was good", "context": "the film was good"}],
            [{"text": ["film"], "answer_start": [4]}],
        ),
        SentenceEncoder: ((texts, texts[::-1]), [0.1, 0.9, 0.9, 0.1]),
    }
    for task, examples in data.items():
        found = head_importance(make.classifier(task=task), examples)
        assert [values.shape for values in found] == [(4,), (4,)] and all((values > 0).any() for values in found)


@pytest.mark.long
def test_folder_with_invalid_pruned_sizes_is_refused(make, tmp_path):
    prune_heads(make.classifier(), heads={1: [0]}).save_pretrained(tmp_path / "m")
    path = tmp_path / "m" / "kerasbert.json"
    own = json.loads(path.read_text("utf-8"))
    for cut, message in [
        ({"heads": [4]}, "expected heads of the cut as 2 whole numbers from 1 to 4"),
        ({"heads": [4, 5]}, "expected heads of the cut as 2 whole numbers"),
        ({"heads": [4, True]}, "expected heads as a list of whole numbers of at least 1, received True as item 1"),
        ({"feet": [4, 5]}, "the cut of the encoder: expected the name of a setting, received 'feet'"),
        ({}, "expected heads or intermediate or head_size in the cut"),
        ([4, 3], "kerasbert.json, encoder: expected cut as an object, received"),
        ({"heads": [4, 2]}, "expected shape"),
    ]:
        path.write_text(json.dumps({**own, "encoder": {"cut": cut}}), "utf-8")
        with pytest.raises(KerasBertError, match=message):
            kb.load_task(tmp_path / "m")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 0}, "expected a share of heads above 0 and below 1, received 0"),
        ({"share": 1.0}, "expected a share of heads above 0 and below 1, received 1.0"),
        ({"share": 1.5}, "expected a share of heads"),
        ({"share": 0.1}, "expected a share that cuts a head, received 0.1 of 8 heads"),
        ({"share": 0.2, "per_layer": True}, "a head of every layer, received 0.2 of 4 heads"),
        ({"share": 0.5}, "expected labelled examples: .*`data=`"),
        ({"share": 0.5, "data": ["a film"]}, r"expected \(examples, labels\) or a table with labels as `data=`"),
        ({"share": 0.5, "data": (["a film"], None)}, "expected labels beside the examples"),
        ({"heads": {2: [0]}}, "expected layers from 0 to 1, received 2"),
        ({"heads": {0: [4]}}, "expected heads of layer 0 from 0 to 3, received 4"),
        ({"heads": {0: [0, 1, 2, 3]}}, "expected a head of layer 0 to stay, received all 4"),
        ({"heads": {0: []}}, "expected heads to cut, received none"),
        ({"heads": {}}, "expected heads as numbers by layer"),
        ({}, "expected one of share and heads, received none"),
    ],
)
@pytest.mark.long_cases
def test_invalid_arguments_are_refused(plain, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        prune_heads(plain, **arguments)


@pytest.mark.long
def test_task_without_loss_is_refused(make, tiny):
    with pytest.raises(KerasBertError, match="expected a task with a loss, received a Pretrainer"):
        prune_heads(make.classifier(task=Pretrainer), share=0.5, data=tiny.rows(4))


def test_quantized_task_is_refused(quantized, tiny):
    with pytest.raises(KerasBertError, match="cut first, quantize then"):
        prune_heads(quantized, share=0.5, data=tiny.rows(4))
