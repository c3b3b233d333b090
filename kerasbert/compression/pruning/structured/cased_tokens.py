"""Cased tokens: an encoder of lower-case text that learns to tell capital letters.

A capital letter tells a name from a word, but an uncased tokenizer drops it. Here the vocabulary gets forms with capitals. The embedding of
a form is that of its token plus a vector that all forms of its kind share. So what training learns of capitals holds for words that the
training data lack. Clients need nothing new: the tokenizer is a cased WordPiece.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kerasbert.compression.pruning.structured.model_surgery import check_float, rebuild_task, weights_by_path
from kerasbert.compression.pruning.structured.vocabulary import WORD_AXES
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer
from kerasbert.text.cased_forms import cased_forms, cased_tokenizer, strings_of

_TABLE = "encoder.embeddings.word.table"
_SHARE = 0.5  # length of the vector of a kind, as a share of the median length of an embedding
_SEED = 1


def add_cased_tokens(task: Task, texts: Iterable[str] = ()) -> Task:
    """Return a copy of a task that tells capital letters, from one with an uncased WordPiece vocabulary.

    Each token that begins a word gets a form with a first capital. A form in capitals is added if the texts have it. Ids of the present
    tokens stay. Texts without capitals are tokenized as before, with the same outputs. Others are not, so train the copy.

    Args:
        task: The task, in float.
        texts: Texts with capitals, such as those of the training data; lists of words and pairs too.

    Returns:
        The copy. Its tokenizer is cased.

    Raises:
        KerasBertError: When the task is quantized, has no WordPiece tokenizer, or has one that keeps capitals already.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import add_cased_tokens
        cased = add_cased_tokens(task, ["Maria flew to LONDON"])
        cased.tokenizer.lowercase  # False
        ```
    """
    return with_cased_tokenizer(task, cased_tokenizer(task.tokenizer, strings_of(texts)))


def with_cased_tokenizer(task: Task, tokenizer: Tokenizer) -> Task:
    """Return a copy of a task with a tokenizer of `cased_tokenizer`, and embeddings of its forms.

    Args:
        task: The task, in float.
        tokenizer: The cased tokenizer, made from the task's.

    Raises:
        KerasBertError: When the task is quantized.
    """
    check_float(task)
    known, forms = task.tokenizer.vocabulary_size, cased_forms(task.tokenizer, tokenizer)
    ids = np.array([*range(known), *(form.source for form in forms)])
    weights = weights_by_path(task)
    for path in WORD_AXES.keys() & weights.keys():
        weights[path] = np.take(weights[path], ids, WORD_AXES[path])
    weights[_TABLE][known:] += _kind_vectors(weights[_TABLE][:known])[[int(form.capitals) for form in forms]]
    config, cut = PrunedSizes.of(replace(task.config, vocab_size=len(ids)), sizes_of(task.encoder))
    return rebuild_task(task, weights, config, cut, tokenizer)


def _kind_vectors(table: np.ndarray) -> np.ndarray:
    """A vector for each kind of form, `(2, width)`, in random directions."""
    vectors = np.random.default_rng(_SEED).normal(size=(2, table.shape[1]))
    length = _SHARE * np.median(np.linalg.norm(table, axis=1))
    return (vectors * length / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(table.dtype)
