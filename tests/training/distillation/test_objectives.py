"""Each objective against its formula in NumPy, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

from kerasbert.errors import KerasBertError
from kerasbert.training.distillation import (
    OBJECTIVES,
    AttentionRelations,
    Attentions,
    CosineHidden,
    FeatureMaps,
    HiddenStates,
    PatientStates,
    SoftLabels,
    parse_objectives,
)
from kerasbert.training.distillation.forward_features import ForwardFeatures, forward_features


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def kl(p, q):
    return (p * (np.log(p) - np.log(q))).sum(-1)


def seen(seed: int, layers: int = 2, width: int = 16, heads: int = 2, size: int = 8, mask=((1, 1, 1, 0), (1, 1, 1, 1))):
    """Random tensors of a model: batch 2, length 4, one padding token."""
    draw = np.random.default_rng(seed)
    mask = np.array(mask, np.float32)
    scores = draw.normal(size=(layers, 2, heads, 4, 4)) - 1e9 * (1 - mask[:, None, None, :])

    def tensors(values):
        return tuple(tf.constant(value, tf.float32) for value in values)

    return ForwardFeatures(
        tf.constant(draw.normal(size=(2, 3)), tf.float32),
        tensors(draw.normal(size=(layers + 1, 2, 4, width))),
        tensors(softmax(scores)),
        tuple(tensors(draw.normal(size=(3, 2, heads, 4, size))) for _ in range(layers)),
        tf.constant(mask),
    )


def value(objective, student, teacher) -> float:
    return float(
        objective.loss(student, {name: part.values for name, part in objective.teacher_targets(teacher).items()})
    )


@pytest.fixture
def bound(models):
    """Binds an objective to a student of 1 layer and a teacher of 2, both of width 16 with 4 heads."""
    return lambda objective, **sizes: objective.bind_copy(models.student(**sizes), models.teacher)


def real_mean(values, mask):
    return (values * mask).sum() / mask.sum()


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_soft_labels_match_the_formula(bound, temperature):
    one, other = seen(1), seen(2)
    p, q = (softmax(model.outputs.numpy() / temperature) for model in (other, one))
    expected = temperature**2 * kl(p, q).mean()
    np.testing.assert_allclose(value(bound(SoftLabels(temperature)), one, other), expected, rtol=1e-4)


def test_soft_labels_of_other_tasks(bound):
    one, other = seen(1), seen(2)
    x, y = one.outputs.numpy(), other.outputs.numpy()
    logits = bound(SoftLabels(None))
    np.testing.assert_allclose(value(logits, one, other), ((x - y) ** 2).mean(), rtol=1e-4)
    scores = bound(SoftLabels(2.0))
    scores.soft_loss = "squared_error"
    np.testing.assert_allclose(value(scores, one, other), ((x - y) ** 2).mean(), rtol=1e-4)
    labels = bound(SoftLabels(2.0))
    labels.soft_loss = "sigmoid"
    p, q = (1 / (1 + np.exp(-values / 2)) for values in (y, x))
    expected = 4 * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).mean()
    np.testing.assert_allclose(value(labels, one, other), expected, rtol=1e-4)


def test_soft_labels_of_tokens_exclude_padding(bound):
    one, other = seen(1), seen(2)
    tags = bound(SoftLabels(1.0))
    tags.per_token = True
    x, y = one.hidden_states[0], other.hidden_states[0]  # (B, S, C)
    found = value(tags, replace(one, outputs=x), replace(other, outputs=y))
    np.testing.assert_allclose(
        found, real_mean(kl(softmax(y.numpy()), softmax(x.numpy())), one.mask.numpy()), rtol=1e-4
    )
    answers = bound(SoftLabels(1.0))
    answers.soft_loss, answers.per_token = "token_softmax", True
    outputs = [
        {"start_logits": model.hidden_states[0][..., 0], "end_logits": model.hidden_states[0][..., 1]}
        for model in (one, other)
    ]
    found = value(answers, replace(one, outputs=outputs[0]), replace(other, outputs=outputs[1]))
    lengths, expected = (3, 4), []
    for name in outputs[0]:
        p, q = (model[name].numpy() for model in (outputs[1], outputs[0]))
        expected += [kl(softmax(p[row, :n]), softmax(q[row, :n])) for row, n in enumerate(lengths)]
    np.testing.assert_allclose(found, np.mean(expected), rtol=1e-4)


def test_cosine_hidden_matches_the_formula(bound):
    one, other = seen(1, layers=1), seen(2)
    x, y = one.hidden_states[1].numpy(), other.hidden_states[2].numpy()
    cosine = (x * y).sum(-1) / np.linalg.norm(x, axis=-1) / np.linalg.norm(y, axis=-1)
    np.testing.assert_allclose(
        value(bound(CosineHidden()), one, other), real_mean(1 - cosine, one.mask.numpy()), rtol=1e-4
    )


def test_hidden_states_and_feature_maps_match_the_formula(bound):
    one, other = seen(1, layers=1), seen(2)
    mask = one.mask.numpy()
    first, last = (
        real_mean(((one.hidden_states[mine] - other.hidden_states[theirs]).numpy() ** 2).mean(-1), mask)
        for mine, theirs in ((0, 0), (1, 2))
    )
    np.testing.assert_allclose(value(bound(HiddenStates()), one, other), first + last, rtol=1e-4)
    np.testing.assert_allclose(value(bound(HiddenStates(embeddings=False)), one, other), last, rtol=1e-4)
    np.testing.assert_allclose(value(bound(FeatureMaps()), one, other), last, rtol=1e-4)


def test_learned_projection_allows_other_widths(bound):
    hidden = bound(HiddenStates({0: 0}), hidden_size=8)
    assert [projection.kernel.shape for projection in hidden.projections] == [(8, 16), (8, 16)]
    one, other = seen(1, layers=1, width=8), seen(2)
    mask = one.mask.numpy()
    expected = sum(
        real_mean(((state.numpy() @ projection.kernel.numpy() - theirs.numpy()) ** 2).mean(-1), mask)
        for state, theirs, projection in zip(
            one.hidden_states[::-1], other.hidden_states[1::-1], hidden.projections, strict=True
        )
    )
    np.testing.assert_allclose(value(hidden, one, other), expected, rtol=1e-4)


def test_patient_states_match_the_formula(bound):
    one, other = seen(1), seen(2, layers=3)
    patient = bound(PatientStates({0: 1}))
    x, y = (states.numpy()[:, 0] for states in (one.hidden_states[1], other.hidden_states[2]))
    x, y = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True) for vectors in (x, y))
    np.testing.assert_allclose(value(patient, one, other), ((x - y) ** 2).sum(-1).mean(), rtol=1e-4)
    assert bound(PatientStates(), num_hidden_layers=2).pairs == {0: 0}  # by a rule without the last one


def test_attentions_match_the_formula(bound):
    one, other = seen(1, layers=1), seen(2)
    x, y, mask = one.attentions[0].numpy(), other.attentions[1].numpy(), one.mask.numpy()
    squares = (((x - y) ** 2).sum(-1) / mask.sum(-1)[:, None, None]).mean(1)
    np.testing.assert_allclose(value(bound(Attentions()), one, other), real_mean(squares, mask), rtol=1e-4)
    with np.errstate(all="ignore"):
        divergence = np.nan_to_num(y * (np.log(y) - np.log(x))).sum(-1).mean(1)
    found = value(bound(Attentions(measure="kl")), one, other)
    np.testing.assert_allclose(found, real_mean(divergence, mask), rtol=1e-3)


def test_attention_relations_match_the_formula(bound):
    relations = bound(AttentionRelations(teacher_layer=0, relation_heads=4, relations="query"))
    one, other = seen(1, layers=2), seen(2, heads=4, size=4)
    mask = one.mask.numpy()

    def related(model, layer):
        vectors = model.qkv[layer][0].numpy().astype(np.float64)
        vectors = (vectors * vectors.shape[-1] ** 0.5).transpose(0, 2, 1, 3).reshape(2, 4, 16)
        heads = vectors.reshape(2, 4, 4, 4).transpose(0, 2, 1, 3)
        return softmax(heads @ heads.transpose(0, 1, 3, 2) / 2 - 1e9 * (1 - mask[:, None, None, :]))

    p, q = (np.maximum(related(model, layer), 1e-300) for model, layer in ((other, 0), (one, 1)))
    divergence = kl(p, q).mean(1)
    np.testing.assert_allclose(value(relations, one, other), real_mean(divergence, mask), rtol=1e-3)


@pytest.mark.parametrize(("heads", "size", "expected"), [(4, 4, 4), (3, 8, 4), (5, 4, 4), (3, 6, 2)])
def test_default_relation_heads_divide_both_widths(bound, heads, size, expected):
    sizes = {"hidden_size": heads * size, "num_attention_heads": heads}
    assert bound(AttentionRelations(), **sizes)._heads == expected


@pytest.mark.long_cases("Hidden", "Relations")
@pytest.mark.parametrize("kind", [kind for kind in OBJECTIVES.values() if kind is not PatientStates])
def test_padding_does_not_change_losses(models, kind):
    teacher = models.teacher
    objective = kind().bind_copy(teacher, teacher)
    short, long = (
        forward_features(teacher, teacher.pack(models.texts[:3], length=length), training=False) for length in (14, 16)
    )
    other = forward_features(
        models.student(num_hidden_layers=2), teacher.pack(models.texts[:3], length=14), training=False
    )
    longer = forward_features(
        models.student(num_hidden_layers=2), teacher.pack(models.texts[:3], length=16), training=False
    )
    assert abs(value(objective, short, short)) < 1e-5
    assert value(objective, other, short) > 1e-5
    np.testing.assert_allclose(value(objective, other, short), value(objective, longer, long), rtol=1e-3)


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda: SoftLabels(0), "a temperature above 0"),
        (lambda: SoftLabels(weight=-1), "a weight of SoftLabels of at least 0"),
        (lambda: Attentions(measure="cosine"), "a measure of mse, kl"),
        (lambda: AttentionRelations(relations=("head",)), "relations of query, key, value"),
        (lambda: parse_objectives("soft-labels=1,magic=2"), "objectives of soft-labels, .* received 'magic'"),
        (lambda: parse_objectives("hidden=much"), "NAME=WEIGHT"),
        (lambda: parse_objectives("hidden=1,hidden=2"), "each objective once"),
    ],
)
def test_invalid_settings_are_refused(make, expected):
    with pytest.raises(KerasBertError, match=expected):
        make()


@pytest.mark.parametrize(
    "objective, sizes, expected",
    [
        (CosineHidden(), {"hidden_size": 8}, "hidden states of one width for CosineHidden, received 8 .* 16"),
        (FeatureMaps(), {"hidden_size": 8}, "HiddenStates projects"),
        (PatientStates(), {}, "2 or more layers"),
        (Attentions(), {"num_attention_heads": 2}, "as many heads in both models .* 2 in layer 0 .* 4 in layer 1"),
        (Attentions("last"), {"num_hidden_layers": 3}, "at least the student's 3 layers"),
        (AttentionRelations(2), {}, "a teacher_layer from 0 to 1"),
        (AttentionRelations(relation_heads=3), {}, "divide the width of attention .16 in the student."),
    ],
)
def test_incompatible_models_are_refused(bound, objective, sizes, expected):
    with pytest.raises(KerasBertError, match=expected):
        bound(objective, **sizes)


def test_objectives_are_parsed_from_text():
    found = parse_objectives("soft-labels=0.5, hidden", temperature=3.0, layers="last")
    assert [(type(item), item.weight) for item in found] == [(SoftLabels, 0.5), (HiddenStates, 1.0)]
    assert found[0].temperature == 3.0 and found[1].layers == "last"
