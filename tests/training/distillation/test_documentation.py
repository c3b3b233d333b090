"""The page on distillation, run as it is written."""

import re
from pathlib import Path

import pytest
import tensorflow as tf

import kerasbert as kb

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "distill.md"


@pytest.fixture
def eager():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


@pytest.mark.filterwarnings("ignore:Even though the `tf.config.experimental_run_functions_eagerly`:UserWarning")
@pytest.mark.long
def test_documented_training_and_progressive_stages_run(tiny, monkeypatch, tmp_path, eager):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    training = next(block for block in blocks if "Distiller(" in block)
    stages = next(block for block in blocks if "progressive_stages(" in block)
    sizes = {"hidden_size": 8, "num_hidden_layers": 5, "num_attention_heads": 2, "intermediate_size": 8}
    teacher = tiny.classifier(0, sizes=sizes)
    monkeypatch.setattr(kb, "load_task", lambda folder: teacher)
    monkeypatch.chdir(tmp_path)
    texts, labels = tiny.rows(4, seed=3)
    names = {"texts": texts, "labels": labels, "dev_texts": texts, "dev_labels": labels}
    exec(training, names)
    student, distiller = names["student"], names["distiller"]
    assert (tmp_path / "runs" / "small" / "config.json").is_file()
    kernels = [block.feed_forward.output_dense.kernel for block in student.encoder.layers]
    head, moved = student.classifier.kernel.numpy(), []

    def watched(x, **options):
        before = [kernel.numpy() for kernel in kernels]
        history = type(distiller).fit(distiller, x, **options).history
        assert history["label_loss"] == history["soft_labels"] == [0.0] and history["hidden"][0] > 0
        moved.append([bool(abs(kernel.numpy() - old).max() > 0) for kernel, old in zip(kernels, before, strict=True)])

    monkeypatch.setattr(distiller, "fit", watched)
    exec(stages, names)
    layers = range(len(kernels))
    assert moved == [[layer <= stage for layer in layers] for stage in layers]
    assert (student.classifier.kernel.numpy() == head).all()
    assert distiller.learns_labels and not any(objective.paused for objective in distiller.objectives)
