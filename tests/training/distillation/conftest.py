"""A teacher of 2 layers and students of 1, all of random weights: what is taught need not be true."""

from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def models(tiny):
    """teacher; tests must not change it. student: makes a classifier of one layer, always the same, without dropout. texts, labels."""
    teacher = tiny.classifier(0, sizes={"hidden_size": 16})
    texts, labels = tiny.rows(24, seed=4)
    still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}

    def student(seed: int = 1, **sizes):
        return tiny.classifier(seed, sizes={**still, "num_hidden_layers": 1, "hidden_size": 16, **sizes})

    return SimpleNamespace(teacher=teacher, student=student, texts=texts, labels=labels)


@pytest.fixture(scope="session")
def fit():
    """Compiles a distiller with a high rate and trains it without tracing; the figures of the epochs."""
    from kerasbert.training import adamw

    def run(distiller, x, y=None, epochs: int = 1, rate: float = 3e-3, **options):
        distiller.compile(adamw(rate), run_eagerly=True)
        return distiller.fit(x, y, epochs=epochs, seed=0, verbose=0, **options).history

    return run
