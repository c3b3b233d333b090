"""The loss on lines and planes between models."""

import json

import numpy as np
import pytest

import kerasbert as kb


@pytest.fixture(scope="module")
def start(tiny):
    return tiny.narrow()


@pytest.fixture(scope="module")
def tuned(tiny):
    return tiny.narrow(seed=1)


def loss_of(task, rows):
    """The loss of a task without dropout, computed from its probabilities."""
    probabilities = task.predict(rows[0])
    return float(
        -np.log(probabilities[np.arange(len(rows[1])), [task.labels.index(label) for label in rows[1]]]).mean()
    )


@pytest.mark.long
def test_losses_at_both_ends_are_those_of_the_models(start, tuned, tiny, told):
    rows = tiny.rows(40, seed=9)
    before = tuned.fingerprint()
    plot = kb.plots.landscape(start, tuned, rows, other=tuned, points=4, plane_points=5, progress=told)
    losses = plot.lines["fine-tuned from the checkpoint"]
    assert plot.steps.tolist() == [-1, 0, 1, 2] and tuned.fingerprint() == before
    assert losses[1] == pytest.approx(loss_of(start, rows), rel=1e-4)
    assert losses[2] == pytest.approx(loss_of(tuned, rows), rel=1e-4)
    # Both directions are the same one, so that the loss depends on the sum of the steps.
    np.testing.assert_allclose(plot.plane[:-1, 1:], plot.plane[1:, :-1], rtol=1e-5)
    assert plot.plane[1, 3] == pytest.approx(losses[2], rel=1e-5) and np.ptp(plot.plane[0]) > 1e-3
    assert told.steps[-1][1:3] == (25, 25)


@pytest.mark.long
def test_a_model_from_random_weights_has_a_line_and_spans_the_plane(start, tuned, tiny):
    rows = tiny.rows(8)
    plot = kb.plots.landscape(start, tuned, rows, random=(tuned, start), points=4, plane_points=3)
    one, other = plot.lines.values()
    np.testing.assert_allclose(other, one[::-1], rtol=1e-4)  # the same line in the other direction
    assert plot.points() == [("start", 0, 0), ("fine-tuned", 1, 0), ("trained from random", 0, 1)]
    assert "Over a plane" in plot.page() and plot._repr_png_().startswith(b"\x89PNG")
    assert json.loads(json.dumps(plot.to_dict()))["plane"]["steps"] == [-0.5, 0.5, 1.5]


@pytest.mark.long
def test_without_a_third_model_there_is_no_plane(start, tuned, tiny):
    plot = kb.plots.landscape(start, tuned, tiny.rows(8), points=2)
    assert plot.to_dict()["plane"] is None and "Over a plane" not in plot.page() and plot._repr_png_()


def test_points_without_a_finite_loss_are_left_out():
    losses, plane = np.array([np.nan, 2.0, 1.0, 3.0]), np.array([[1.0, np.nan], [2.0, 3.0]])
    plot = kb.plots.LandscapePlot(np.array([-1.0, 0, 1, 2]), {"line": losses}, np.array([0.0, 1.0]), plane)
    assert (
        ">nan<" not in plot.page()
        and '"nan"' not in plot.page()
        and "Loss from 1.000 to 3.000" in plot.page()
        and plot._repr_png_()
    )
    from kerasbert.cli.outputs.shown_plots import landscape_blocks

    assert landscape_blocks(plot)[0].rows == (("line", "2.0000", "1.0000", "2.0000", "1.0000 at 1.00"),)


def test_models_that_cannot_be_compared_are_refused(start, tuned, vectors, tiny):
    rows, quantized = tiny.rows(4), kb.compression.quantize(tuned, "dynamic_wi8_afp32")
    with pytest.raises(kb.KerasBertError, match="models in float, received a quantized one"):
        kb.plots.landscape(start, quantized, rows)
    with pytest.raises(kb.KerasBertError, match="models of the same sizes and labels, received encoder"):
        kb.plots.landscape(vectors, tuned, rows)
    with pytest.raises(
        kb.KerasBertError, match="a task that learns labels, such as kb.TextClassifier, received SentenceEncoder"
    ):
        kb.plots.landscape(vectors, vectors, rows)
    with pytest.raises(kb.KerasBertError, match="points of at least 2, received 1"):
        kb.plots.landscape(start, tuned, rows, points=1)
    with pytest.raises(kb.KerasBertError, match="expected a task"):
        kb.plots.landscape("small-en", tuned, rows)
