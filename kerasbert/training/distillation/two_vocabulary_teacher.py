"""A copy of a language model that reads and predicts the tokens of two vocabularies."""

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.training.distillation.mixed_words import TwoVocabularies

_WORDS = "encoder.embeddings.word.table"
_LOW = -1e9  # a logit of tokens that are not predicted


def two_vocabulary_teacher(teacher: MaskedLM, vocabularies: TwoVocabularies) -> MaskedLM:
    """Return a copy of the teacher with embeddings of the student's tokens behind its own.

    A token that the teacher's tokenizer has too begins with the teacher's vector, any other with the mean of the vectors of its pieces.

    Args:
        teacher: The teacher.
        vocabularies: Both tokenizers.
    """
    config = dataclasses.replace(teacher.config, vocab_size=vocabularies.size)
    encoder = type(teacher.encoder)(config, None, pooler=teacher.encoder.pools, **teacher.encoder.options)
    copy = MaskedLM(encoder, None, **teacher.head_config())
    sources, tokens = teacher.variables_by_path(), vocabularies.teacher.vocabulary_size
    for path, variable in copy.variables_by_path().items():
        value = sources[path].numpy()
        if value.shape != tuple(variable.shape):
            axis = next(a for a, (old, new) in enumerate(zip(value.shape, variable.shape, strict=True)) if old != new)
            value = _extended(value, variable.numpy(), axis, tokens)
        variable.assign(value)
    table: Any = copy.variables_by_path()[_WORDS]
    values = table.numpy()
    values[tokens:] = _first_vectors(values, vocabularies)
    table.assign(values)
    return copy


def vocabulary_logits(logits: tf.Tensor, targets: tf.Tensor, first_tokens: int) -> tf.Tensor:
    """Leave only the logits of the vocabulary that each target is in: (N, V of both) -> (N, V of both).

    Args:
        logits: The logits.
        targets: The right tokens `(N,)`.
        first_tokens: The number of tokens of the first vocabulary.
    """
    in_second = tf.range(logits.shape[-1]) >= first_tokens  # (V,)
    wanted = tf.cast(targets, tf.int32)[:, None] >= first_tokens  # (N, 1)
    return tf.where(tf.equal(in_second[None], wanted), logits, tf.constant(_LOW, logits.dtype))


def _extended(value: np.ndarray, new: np.ndarray, axis: int, tokens: int) -> np.ndarray:
    """Put the values of the first tokens into the axis of a larger array. Rows of a table that have no token are left out."""
    place = [slice(None)] * new.ndim
    place[axis] = slice(tokens)
    new[tuple(place)] = value[tuple(place)]
    return new


def _first_vectors(table: np.ndarray, vocabularies: TwoVocabularies) -> np.ndarray:
    """Return the first vectors of the student's tokens, by those of the teacher's: (student's tokens, width)."""
    teacher, mean = vocabularies.teacher, table[: vocabularies.teacher.vocabulary_size].mean(axis=0)
    ids = {token: number for number, token in enumerate(teacher.vocabulary)}
    vectors = np.tile(mean, (vocabularies.student.vocabulary_size, 1))
    for number, token in enumerate(vocabularies.student.vocabulary):
        known = [ids[token]] if token in ids else _pieces(token, ids)
        if known:
            vectors[number] = table[known].mean(axis=0)
    return vectors


def _pieces(token: str, ids: dict[str, int]) -> list[int]:
    """Return the longest pieces of a token that a vocabulary has, from the left; none if it lacks a character."""
    begins, rest, found = not token.startswith("##"), token.removeprefix("##"), []
    while rest:
        prefix = "" if begins and not found else "##"
        length = next((n for n in range(len(rest), 0, -1) if prefix + rest[:n] in ids), 0)
        if not length:
            return []
        found.append(ids[prefix + rest[:length]])
        rest = rest[length:]
    return found
