"""Shorter sentence vectors: principal directions against NumPy's SVD, what is kept of cosines, and wrong arguments."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.compression.pruning.structured import drop_layers, prune_feed_forward, reduce_dimensions
from kerasbert.compression.pruning.structured.dimensions import principal_directions
from kerasbert.data import read_table
from kerasbert.errors import KerasBertError


@pytest.fixture(scope="module")
def encoder(tiny):
    return tiny.sentence_encoder()


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(80, seed=3)[0]


@pytest.fixture(scope="module")
def short(encoder, texts):
    return reduce_dimensions(encoder, 6, texts)


def test_directions_are_those_of_a_singular_value_decomposition():
    vectors = np.random.default_rng(0).normal(1.0, [3.0, 0.1, 2.0, 0.5, 1.0], (50, 5))
    found = principal_directions(vectors, 3)
    _, _, expected = np.linalg.svd(vectors)  # not centered
    np.testing.assert_allclose(np.abs((found * expected[:3].T).sum(0)), 1, atol=1e-5)
    np.testing.assert_allclose(found.T @ found, np.eye(3), atol=1e-6)
    assert (found[np.abs(found).argmax(0), np.arange(3)] > 0).all()  # the sign does not depend on the eigensolver


def test_vectors_are_projected_and_normalized(make, encoder, short, texts):
    whole, vectors = make.output(encoder, texts), make.output(short, texts)
    assert vectors.shape == (80, 6) and short.width == short.processor.width == short.dimensions == 6
    expected = whole @ principal_directions(whole, 6)
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5)
    assert encoder.dimensions is None and "projection.kernel" not in encoder.variables_by_path()


def test_principal_directions_keep_more_of_the_cosines_than_others(make, encoder, short, texts, tiny):
    others = tiny.rows(60, seed=4)[0]
    cosines = np.corrcoef(_cosines(encoder, others), _cosines(short, others))[0, 1]
    cut = make.output(encoder, others)[:, :6]
    cut /= np.linalg.norm(cut, axis=1, keepdims=True)
    assert cosines > 0.8 and cosines > np.corrcoef(_cosines(encoder, others), (cut @ cut.T).ravel())[0, 1] + 0.1


def _cosines(encoder, texts) -> np.ndarray:
    vectors = encoder.serve(encoder.pack(texts))["embedding"].numpy()
    return (vectors @ vectors.T).ravel()


def test_a_projection_of_a_projection_is_one(make, short, texts):
    twice = reduce_dimensions(short, 3, texts)
    assert twice.projection.kernel.shape == (32, 3)
    expected = make.output(short, texts) @ principal_directions(make.output(short, texts), 3)
    np.testing.assert_allclose(
        make.output(twice, texts), expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-5
    )


@pytest.mark.long
def test_a_bias_is_projected_and_an_activation_is_refused(make, tiny, texts):
    model = tiny.sentence_encoder(dimensions=8, projection_bias=True, normalize=False)
    model.projection.bias.assign(np.linspace(-1, 1, 8))
    whole = make.output(model, texts)
    expected = whole @ principal_directions(whole, 3)
    np.testing.assert_allclose(make.output(reduce_dimensions(model, 3, texts), texts), expected, atol=1e-5)
    model = tiny.sentence_encoder(dimensions=8, projection_activation="tanh")
    with pytest.raises(KerasBertError, match="a projection without activation, received tanh"):
        reduce_dimensions(model, 3, texts)


@pytest.mark.long
def test_vectors_of_any_length_keep_it(make, tiny, texts):
    plain = tiny.sentence_encoder(normalize=False)
    short = reduce_dimensions(plain, 6, texts)
    whole = make.output(plain, texts)
    np.testing.assert_allclose(make.output(short, texts), whole @ principal_directions(whole, 6), atol=1e-4)


def test_pairs_and_tables_are_texts(encoder, texts, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{one}\t{two}\n" for one, two in zip(texts[:40], texts[40:], strict=True)), "utf-8")
    table = read_table(path, text="0", pair="1")
    from_table = reduce_dimensions(encoder, 4, table)
    from_texts = reduce_dimensions(encoder, 4, texts)
    np.testing.assert_allclose(from_table.projection.kernel, from_texts.projection.kernel, atol=1e-4)


def test_a_projection_survives_further_pruning(make, short, texts):
    smaller = prune_feed_forward(
        drop_layers(short, layers=[1]), widths=8, data=(texts[:8], make.output(short, texts[:8]))
    )
    assert make.output(smaller, texts[:2]).shape == (2, 6)
    np.testing.assert_array_equal(smaller.projection.kernel, short.projection.kernel)


@pytest.mark.parametrize(
    ("dimensions", "message"),
    [
        (32, "expected from 1 to 31 dimensions, received 32; vectors of the model have 32"),
        (0, "from 1 to 31 dimensions, received 0"),
        (2.0, "from 1 to 31 dimensions, received 2.0"),
    ],
)
def test_wrong_numbers_are_refused(encoder, texts, dimensions, message):
    with pytest.raises(KerasBertError, match=message):
        reduce_dimensions(encoder, dimensions, texts)


def test_too_few_texts_are_refused(encoder, texts):
    with pytest.raises(KerasBertError, match="in at least 6 directions, one for each dimension, received 5; pass more"):
        reduce_dimensions(encoder, 6, texts[:5])
    with pytest.raises(KerasBertError, match="received 40 with 4 different directions"):
        reduce_dimensions(encoder, 6, texts[:4] * 10)
    with pytest.raises(KerasBertError, match="2 rows without one"):
        reduce_dimensions(encoder, 1, ["xyz", "zyx"])


def test_other_tasks_are_refused(plain, quantized, tiny, texts):
    with pytest.raises(KerasBertError, match="expected a SentenceEncoder, .* received a TextClassifier"):
        reduce_dimensions(plain, 4, texts)
    policy = kb.compression.POLICIES["dynamic_wi8_afp32"]
    with pytest.raises(KerasBertError, match="cut first, quantize then"):
        reduce_dimensions(tiny.sentence_encoder().with_policy(policy), 4, texts)
