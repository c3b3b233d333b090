"""Students without layer norms, for integer processors: MobileBERT's NoNorm and ReLU in a teacher's layers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.capture import captured
from kerasbert.encoders import MobileBertConfig, MobileBertEncoder
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task
from kerasbert.training.distillation.students import student_from

_BATCH = 32


def no_norm_student(
    teacher: Task, layers: int | Sequence[int], texts: Any, strategy: str = "alternate", **changes: Any
) -> Task:
    """Return a student with NoNorm in place of LayerNorm and ReLU in place of GELU (Sun et al. 2020, "MobileBERT", section 4.3).

    Its encoder is a `MobileBertEncoder` of the teacher's width, without bottlenecks and trigram input. Each NoNorm gets the scale and shift
    that map the inputs of the layer norm to its outputs, by least squares for each channel. All other weights are copied. The student needs
    distillation to be accurate.

    Args:
        teacher: A BERT task.
        layers: Number or indices of the teacher's layers, see `student_from`.
        texts: Examples for the least squares fit; a few hundred are enough.
        strategy: Choice of a number of layers, see `student_from`.
        changes: Other values of the encoder's config, see `student_from`.

    Returns:
        The student, in float.

    Raises:
        KerasBertError: When the teacher is not a BERT, or has adapters or a layer mix; and when `student_from` raises it.

    Example:
        ```python
        from kerasbert.training.distillation import no_norm_student
        student = no_norm_student(task, layers=2, texts=texts)
        type(student.encoder).__name__  # "MobileBertEncoder"
        ```
    """
    if teacher.config.model_type != "bert":
        raise KerasBertError(f"expected a BERT as teacher, received a {teacher.config.model_type}")
    if unsupported := teacher.encoder.options.keys() - {"cut"}:
        raise KerasBertError(
            f"expected a teacher without adapters and a mix of layers, received one with {', '.join(sorted(unsupported))}"
        )
    bert = student_from(teacher, layers, strategy, **{"hidden_act": "relu", **changes})
    options: dict[str, Any] = bert.encoder.options
    encoder = MobileBertEncoder(_no_norm_config(bert), pooler=bert.encoder.pools, **options)
    tokenizer = bert.tokenizer if bert.has_tokenizer else None
    student = type(bert)(encoder, tokenizer, **bert.head_config())
    student.inherit_training(bert)
    variables = student.variables_by_path()
    for path, variable in bert.variables_by_path().items():
        variables[_mobilebert_path(path)].assign(variable)
    for name, (scale, shift) in _fit_norms(bert, texts).items():
        prefix = _mobilebert_path(f"encoder.{name}.")
        variables[f"{prefix}gamma"].assign(scale)
        variables[f"{prefix}beta"].assign(shift)
    return student


def _no_norm_config(bert: Task) -> MobileBertConfig:
    """A MobileBERT's config with a BERT's sizes."""
    config = bert.config
    return MobileBertConfig(
        vocab_size=config.vocab_size, hidden_size=config.hidden_size, num_hidden_layers=config.num_hidden_layers,
        num_attention_heads=config.num_attention_heads, intermediate_size=config.intermediate_size, hidden_act=config.hidden_act,
        hidden_dropout_prob=config.hidden_dropout_prob, attention_probs_dropout_prob=config.attention_probs_dropout_prob,
        max_position_embeddings=config.max_position_embeddings, type_vocab_size=config.type_vocab_size,
        initializer_range=config.initializer_range, layer_norm_eps=config.layer_norm_eps, pad_token_id=config.pad_token_id,
        embedding_size=config.hidden_size, trigram_input=False, use_bottleneck=False, num_feedforward_networks=1,
        normalization_type="no_norm", classifier_activation=True,
    )  # fmt: skip


def _mobilebert_path(path: str) -> str:
    """The path in a MobileBERT of a BERT's variable."""
    return path.replace(".feed_forward_norm.", ".feed_forwards.0.norm.").replace(
        ".feed_forward.", ".feed_forwards.0.feed_forward."
    )


def _fit_norms(task: Task, texts: Any) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The scale and shift (H,) of each layer norm, by path: the least squares fit of its outputs to its inputs in each channel."""
    sums: dict[str, np.ndarray] = {}
    for inputs in task.dataset(texts, batch_size=_BATCH):
        attended = tf.cast(inputs["attention_mask"], tf.bool)
        with captured() as tensors:
            task.encoder(inputs, training=False)
        for path, x, y in tensors["norm"]:
            x, y = (tf.boolean_mask(values, attended).numpy().astype(np.float64) for values in (x, y))
            terms = np.stack([np.ones_like(x).sum(0), x.sum(0), y.sum(0), (x * x).sum(0), (x * y).sum(0)])
            sums[path] = sums.get(path, 0) + terms
    fits = {}
    for path, (count, x, y, xx, xy) in sums.items():
        scale = (xy - x * y / count) / np.maximum(xx - x * x / count, 1e-9)
        fits[path] = scale, (y - scale * x) / count
    return fits
