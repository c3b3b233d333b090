"""The same task as an ALBERT, whose config describes layers that share their weights."""

from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.model_surgery import weights_by_path
from kerasbert.encoders.albert import AlbertConfig, AlbertEncoder
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task

_KEPT = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act", "hidden_dropout_prob",
    "attention_probs_dropout_prob", "initializer_range", "layer_norm_eps", "pad_token_id", "tie_word_embeddings",
)  # fmt: skip
_CONVERTIBLE = ("albert", "bert", "distilbert", "electra", "roberta")
_GELU_HEADS = ("electra", "roberta")  # whose masked-LM head has this activation whatever the config says
_EMBEDDINGS = "encoder.embeddings."

Weights = dict[str, np.ndarray]


def check_albert_form(task: Task) -> None:
    """Check that an ALBERT can compute what a task computes.

    Raises:
        KerasBertError: When its blocks, its pooler or its masked-LM head has another form.
    """
    config = task.config
    if config.model_type not in _CONVERTIBLE:
        raise KerasBertError(
            f"expected layers that an ALBERT can have, to share them, received those of a {config.model_type}; share those of a BERT"
        )
    if task.encoder.ranks:
        raise KerasBertError(
            "expected whole matrices to share layers, received low-rank factors; share layers first, factorize then"
        )
    if _reads_pooled(task) and task.encoder.pooler is not None and not _has_tanh(task.encoder):
        raise KerasBertError(
            f"expected a pooler with tanh, which an ALBERT has, received the one of a {config.model_type}'s {type(task).__name__}; share "
            "the layers of a BERT, or of another task"
        )
    if (
        config.model_type in _GELU_HEADS
        and config.hidden_act != "gelu"
        and "masked_lm.bias" in task.variables_by_path()
    ):
        raise KerasBertError(
            "expected a masked language model with one activation, which an ALBERT has, received gelu in the head and "
            f"{config.hidden_act}; share the layers of a BERT"
        )


def albert_form(task: Task, groups: int) -> tuple[AlbertConfig, Weights, bool]:
    """Return a task's config as an ALBERT, its weights by the paths that they have there, and whether there is a pooler.

    The blocks are still those of the task. A projection of embeddings that ALBERT needs is the identity.

    Args:
        task: The task, in a form that `check_albert_form` accepts.
        groups: Groups of layers in the config.
    """
    config, encoder, weights = task.config, task.encoder, weights_by_path(task)
    pools = encoder.pools and _has_tanh(encoder)
    if isinstance(config, AlbertConfig):
        return AlbertConfig.from_dict({**config.to_dict(), "num_hidden_groups": groups}), weights, pools
    sizes: dict[str, Any] = {name: getattr(config, name) for name in _KEPT}
    sizes |= {"classifier_dropout_prob": config.hidden_dropout_prob, "num_hidden_groups": groups}
    position = weights[f"{_EMBEDDINGS}position.table"][config.position_offset :]
    weights[f"{_EMBEDDINGS}position.table"] = position
    width = position.shape[1]
    if config.type_vocab_size == 0:
        weights[f"{_EMBEDDINGS}token_type.table"] = np.zeros((2, width), np.float32)
    if f"{_EMBEDDINGS}projection.kernel" not in weights:
        weights[f"{_EMBEDDINGS}projection.kernel"] = np.eye(width, dtype=np.float32)
        weights[f"{_EMBEDDINGS}projection.bias"] = np.zeros(width, np.float32)
    types = len(weights[f"{_EMBEDDINGS}token_type.table"])
    albert = AlbertConfig(embedding_size=width, max_position_embeddings=len(position), type_vocab_size=types, **sizes)
    return albert, weights, pools


def _reads_pooled(task: Task) -> bool:
    """Whether a task's head reads the pooled vector."""
    return bool(task.pools) if task.head is None else "pooled" in task.head.findings.reads


def _has_tanh(encoder: Encoder) -> bool:
    """Whether the pooler has ALBERT's activation."""
    return encoder.pooler_activation is AlbertEncoder.pooler_activation
