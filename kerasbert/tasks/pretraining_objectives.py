"""The objectives of pretraining by name: what each learns, its head, and the architectures that have it."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from kerasbert.encoders.base import Encoder, EncoderOutput
from kerasbert.errors import KerasBertError
from kerasbert.heads.head import Head
from kerasbert.layers.blocks.heads import ReplacedTokenHead
from kerasbert.layers.blocks.span_boundary import SpanBoundaryHead
from kerasbert.losses.tokens import TokenBinaryAccuracy, TokenBinaryCrossEntropy
from kerasbert.losses.vocabulary import VocabularyCrossEntropy
from kerasbert.processors.pretraining_rows import PAIRINGS
from kerasbert.tasks.pretraining_task import PretrainingObjective, masked_words

MASKED_LM, SPAN_BOUNDARY, REPLACED_TOKENS = "masked-lm", "span-boundary", "replaced-tokens"
DETECTOR_WEIGHT = (
    50.0  # Clark et al. 2020, section 3.1: the weight of replaced tokens beside that of the generator's words
)


def _span_logits(
    head: Any, encoder: Encoder, encoded: EncoderOutput, positions: tf.Tensor | None, training: bool | None
) -> tf.Tensor:
    return head(encoded.sequence, encoder.embeddings.word.served_table(), positions, training=training)


def pair_objective(output: str) -> PretrainingObjective:
    """Return the objective of two segments: whether the second one is changed (Devlin et al. 2018, section 3.1).

    Args:
        output: The name of the logits.
    """
    return PretrainingObjective(
        "next_sentence",
        output,
        lambda encoder: Head(
            encoder, 2, "pooled", "next_sentence", getattr(encoder.config, "classifier_dropout_prob", 0.0)
        ),
        lambda head, encoder, encoded, positions, training: head.logits(encoded, training=training),
    )


OBJECTIVES: Mapping[str, PretrainingObjective] = {
    MASKED_LM: masked_words("prediction_logits"),
    SPAN_BOUNDARY: PretrainingObjective(
        "span_boundary",
        "span_logits",
        lambda encoder: SpanBoundaryHead(encoder.config, encoder.policy, encoder.embeddings.word.table.shape[-1]),
        _span_logits,
        VocabularyCrossEntropy,
        at_masks=True,
    ),
    "next-sentence": pair_objective("seq_relationship_logits"),
    "sentence-order": pair_objective("sop_logits"),
    REPLACED_TOKENS: PretrainingObjective(
        "discriminator",
        "logits",
        lambda encoder: ReplacedTokenHead(encoder.config, encoder.policy),
        lambda head, encoder, encoded, positions, training: head(encoded.sequence, training=training),
        TokenBinaryCrossEntropy,
        lambda: TokenBinaryAccuracy("accuracy"),
        per_token=True,
    ),
}
# What the papers of the architectures train.
PUBLISHED = {
    "bert": (MASKED_LM, "next-sentence"),
    "mobilebert": (MASKED_LM, "next-sentence"),
    "albert": (MASKED_LM, "sentence-order"),
    "electra": (REPLACED_TOKENS,),
}


def objective_weights(given: Mapping[str, Any] | Sequence[str] | None, model_type: str) -> dict[str, float]:
    """Return the weight of each objective, those of the paper by default.

    Args:
        given: The objectives, with weights or without; None for those of the architecture's paper.
        model_type: The architecture.

    Raises:
        KerasBertError: When an objective is unknown, a weight is not a number above 0, or objectives exclude each other.
    """
    names = PUBLISHED.get(model_type, (MASKED_LM,)) if given is None else given
    if isinstance(names, str) or not isinstance(names, Mapping | Sequence) or not names:
        raise KerasBertError(
            f"expected objectives as a list of names, or a dict of weights by name, received {given!r}; the names are "
            f"{', '.join(OBJECTIVES)}"
        )
    weights: dict[str, float] = {}
    for name in names:
        if not isinstance(name, str) or name not in OBJECTIVES:
            raise KerasBertError(f"expected an objective of {', '.join(OBJECTIVES)}, received {name!r}; correct it")
        weight = names[name] if isinstance(names, Mapping) else None
        if weight is None:
            weight = DETECTOR_WEIGHT if name == REPLACED_TOKENS else 1.0
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise KerasBertError(f"expected a weight above 0 for {name}, received {weight!r}; correct it")
        weights[name] = float(weight)
    if all(name in weights for name in PAIRINGS):
        raise KerasBertError(f"expected one of {' and '.join(PAIRINGS)}, received both; leave one out")
    if REPLACED_TOKENS in weights:
        if SPAN_BOUNDARY in weights:
            raise KerasBertError(
                f"expected {SPAN_BOUNDARY} without {REPLACED_TOKENS}, whose model sees no masks, received both; leave one out"
            )
        weights = {MASKED_LM: weights.get(MASKED_LM, 1.0), **weights}  # of the generator
    return weights


def check_parts(weights: Mapping[str, float], encoder: Encoder) -> None:
    """Check that an encoder has the parts that objectives read.

    Args:
        weights: The weights by objective.
        encoder: The encoder.

    Raises:
        KerasBertError: When a part is missing; it names the objectives that the encoder can learn.
    """
    family = type(encoder).__name__
    for name in weights:
        if name in PAIRINGS and not encoder.pools:
            raise KerasBertError(
                f"expected an encoder with a pooled output for {name}, received {family} without; leave {name} out"
            )
        if name in PAIRINGS and not encoder.config.type_vocab_size:
            raise KerasBertError(
                f"expected an architecture with token types for {name}, received {family} without; leave {name} out"
            )
    if REPLACED_TOKENS in weights and encoder.config.model_type == "mobilebert":
        raise KerasBertError(
            f"expected embeddings that a generator can share for {REPLACED_TOKENS}, received {family}; take electra or bert"
        )
