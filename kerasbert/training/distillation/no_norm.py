"""Students without layer norms, for integer processors: MobileBERT's NoNorm and ReLU in a teacher's layers."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from kerasbert.capture import captured
from kerasbert.encoders import MobileBertConfig, MobileBertEncoder
from kerasbert.errors import KerasBertError
from kerasbert.training.distillation.students import student_from

_BATCH = 32


def no_norm_student(teacher, layers: int | Sequence[int], texts, strategy: str = "alternate", **changes):
    """A task of the teacher's kind and width, made of some of its layers, with NoNorm in place of LayerNorm (Sun et al. 2020, section 4.3)
    and ReLU in place of GELU: a MobileBERT without bottlenecks and trigrams, whose encoder is a `MobileBertEncoder`.

    texts: examples over which each NoNorm's scale and shift are found, by least squares for each channel from what the layer norm in its
    place reads and writes; a few hundred will do. The rest is copied. layers, strategy, changes: see `student_from`. Without distillation
    afterwards it is worth little.

    Raises KerasBertError for a teacher that is no BERT, or one with adapters or a mix of layers, and what `student_from` refuses.
    """
    if teacher.config.model_type != "bert":
        raise KerasBertError(f"expected a BERT as teacher, received a {teacher.config.model_type}")
    if unfit := teacher.encoder.options.keys() - {"cut"}:
        raise KerasBertError(
            f"expected a teacher without adapters and a mix of layers, received one with {', '.join(sorted(unfit))}"
        )
    small = student_from(teacher, layers, strategy, **{"hidden_act": "relu", **changes})
    config = small.config
    encoder = MobileBertEncoder(
        MobileBertConfig(
            vocab_size=config.vocab_size, hidden_size=config.hidden_size, num_hidden_layers=config.num_hidden_layers,
            num_attention_heads=config.num_attention_heads, intermediate_size=config.intermediate_size, hidden_act=config.hidden_act,
            hidden_dropout_prob=config.hidden_dropout_prob, attention_probs_dropout_prob=config.attention_probs_dropout_prob,
            max_position_embeddings=config.max_position_embeddings, type_vocab_size=config.type_vocab_size,
            initializer_range=config.initializer_range, layer_norm_eps=config.layer_norm_eps, pad_token_id=config.pad_token_id,
            embedding_size=config.hidden_size, trigram_input=False, use_bottleneck=False, num_feedforward_networks=1,
            normalization_type="no_norm", classifier_activation=True,
        ),
        pooler=small.encoder.pools, **small.encoder.options,
    )  # fmt: skip
    tokenizer = small.tokenizer if small.has_tokenizer else None
    student = type(small)(encoder, tokenizer, **small.head_config())
    ours = student.variables_by_path()
    for path, variable in small.variables_by_path().items():
        ours[_path(path)].assign(variable)
    for name, (scale, shift) in _fitted(small, texts).items():
        prefix = _path(f"encoder.{name}.")
        ours[f"{prefix}gamma"].assign(scale)
        ours[f"{prefix}beta"].assign(shift)
    return student


def _path(path: str) -> str:
    """A MobileBERT's path of what a BERT has at `path`."""
    return path.replace(".feed_forward_norm.", ".feed_forwards.0.norm.").replace(
        ".feed_forward.", ".feed_forwards.0.feed_forward."
    )


def _fitted(task, texts) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of each layer norm, by path: scale and shift (H,) that bring what it reads nearest to what it writes, channel by channel."""
    sums: dict[str, np.ndarray] = {}
    for inputs in task.dataset(texts, batch_size=_BATCH):
        attended = tf.cast(inputs["attention_mask"], tf.bool)
        with captured() as found:
            task.encoder(inputs, training=False)
        for path, x, y in found["norm"]:
            x, y = (tf.boolean_mask(values, attended).numpy().astype(np.float64) for values in (x, y))
            terms = np.stack([np.ones_like(x).sum(0), x.sum(0), y.sum(0), (x * x).sum(0), (x * y).sum(0)])
            sums[path] = sums.get(path, 0) + terms
    fitted = {}
    for path, (count, x, y, xx, xy) in sums.items():
        scale = (xy - x * y / count) / np.maximum(xx - x * x / count, 1e-9)
        fitted[path] = scale, (y - scale * x) / count
    return fitted
