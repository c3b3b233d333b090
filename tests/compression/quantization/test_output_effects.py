"""What one tensor in 8 bits costs the task."""

import numpy as np
import pytest

from kerasbert.compression import diagnose, measure_effects, quantize
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.processors.decisions import decides, same_decisions


@pytest.mark.long
def test_one_tensor_costs_less_than_all_and_a_broken_one_most(trained, tiny):
    texts, labels = tiny.rows(48, seed=3)
    model = quantize(trained, calibration=texts)
    paths = ["embeddings.word.table", "layers.0.attention.query.kernel", "layers.1.attention.context", "pooler.input"]
    keys, runs = [(path, 0) for path in paths], []
    whole = measure_effects(model, texts, keys, labels, rows=32, report=lambda *done: runs.append(done))
    assert runs[-1] == (6, 6) and (whole.rows, whole.examples, whole.metric) == (32, 32, "accuracy")
    assert whole.in_float == trained.score(texts[:32], labels[:32])["accuracy"]
    assert list(whole.alone) == keys and 0 < min(effect.error for effect in whole.alone.values())
    assert max(effect.error for effect in whole.alone.values()) < 2 * whole.together.error < 0.5
    point = next(point for point in activation_quantizers(model) if point.path == "layers.1.attention.context")
    point.minimum.assign(0.0), point.maximum.assign(1e-6)
    broken = measure_effects(model, texts, keys, labels, rows=32)
    worst = max(keys, key=lambda key: broken.alone[key].error)
    assert worst == keys[2] and broken.alone[worst].error > 5 * whole.alone[worst].error
    assert broken.alone[keys[0]] == whole.alone[keys[0]] and broken.together.error > whole.together.error
    assert not any(point.observer for point in activation_quantizers(model))


@pytest.mark.long
def test_effect_of_all_quantizers_matches_the_model(static_model, trained, tiny):
    texts, labels = tiny.rows(40, seed=4)
    found = measure_effects(static_model, texts, [], labels)
    assert found.together.metric == pytest.approx(static_model.score(texts, labels)["accuracy"])
    mine, theirs = (model.predict(texts) for model in (static_model, static_model.with_policy(None)))
    assert found.together.agreement == np.mean(mine.argmax(1) == theirs.argmax(1))


@pytest.mark.long
def test_embeddings_have_error_without_agreement(static_vectors, vectors, tiny):
    texts = tiny.rows(8, seed=5)[0]
    mine, theirs = static_vectors.predict(texts), vectors.predict(texts)
    error = measure_effects(static_vectors, texts, []).together.error
    assert error == pytest.approx(np.linalg.norm(mine - theirs) / np.linalg.norm(theirs), rel=0.05)
    alone = [loss.key for loss in diagnose(static_vectors, texts)[:2]]
    found = measure_effects(static_vectors, (texts[:4], texts[4:]), alone, np.linspace(0, 1, 4))
    assert found.together.agreement is None and found.metric == "Spearman" and found.examples == 4
    assert 0 < found.together.error < 0.5
    assert measure_effects(static_vectors, texts, alone).metric is None


def test_packed_inputs_have_no_metric(static_model, tiny):
    packed = static_model.pack(tiny.rows(6)[0])
    found = measure_effects(static_model, packed, [], [0] * 6, rows=4)
    assert (found.rows, found.metric) == (4, None) and found.together.agreement is not None


def test_invalid_arguments_are_refused(static_model, trained, tiny):
    texts, labels = tiny.rows(4)
    with pytest.raises(KerasBertError, match="quantized task"):
        measure_effects(trained, texts, [])
    with pytest.raises(KerasBertError, match="at least one row"):
        measure_effects(static_model, texts, [], rows=0)
    with pytest.raises(KerasBertError, match="other"):
        measure_effects(static_model, texts, [], ["other"] * 4)


def test_decisions_are_compared_by_processor_kind():
    one, other = np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([[0.6, 0.4], [0.7, 0.3]])
    assert same_decisions(one, other, "single_label").tolist() == [True, False]
    assert same_decisions(one, other, "multi_label").tolist() == [[True, True], [False, False]]
    assert decides("single_label", 2) and decides("multi_label", 1)
    assert not decides("regression", 1) and not decides("single_label", 1) and not decides("embedding", 32)
