"""The vocabulary of another model: its tokens in its order, so that both models read a text as the same ids.

Distillation of a tagger or of hidden states compares token by token, which needs one vocabulary of student and teacher.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kerasbert.compression.pruning.structured.model_surgery import check_float, rebuild_task, weights_by_path
from kerasbert.compression.pruning.structured.vocabulary import WORD_AXES
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer
from kerasbert.text.cased_forms import CasedForm, match_tokens
from kerasbert.text.wordpiece import WordPiece

_TABLE = "encoder.embeddings.word.table"
_SHARE = 0.5  # length of the vector of a kind, as a share of the median length of an embedding
_SEED = 1
_SHOWN = 3  # tokens that an error names


def match_vocabulary(task: Task, tokenizer: Tokenizer) -> Task:
    """Return a copy of a task with the vocabulary of another model, such as the student of a distillation.

    Each of its tokens takes the embedding of the same token. A form with capitals that the task lacks takes that of its lower-case token
    plus a vector that all forms of its kind share, as in `add_cased_tokens`. Predictions for texts that need only common tokens stay. Other
    texts get smaller tokens, and capitals count from now on, so train the copy.

    Args:
        task: The task, in float, with a WordPiece tokenizer.
        tokenizer: The other model's WordPiece tokenizer.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized; when one of the tokenizers is no WordPiece; when the vocabulary of the task lacks a
            token; and when the padding id changes in a model that counts positions from it.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import match_vocabulary, trim_vocabulary
        student = trim_vocabulary(task, texts)
        teacher = match_vocabulary(task, student.tokenizer)
        teacher.tokenizer.vocabulary == student.tokenizer.vocabulary  # True
        ```
    """
    check_float(task)
    for each, whose in ((task.tokenizer, "of the task"), (tokenizer, "to match")):
        if type(each) is not WordPiece:
            raise KerasBertError(
                f"expected a WordPiece tokenizer {whose}, received {'none' if each is None else f'a {type(each).__name__}'}; "
                "another kind of vocabulary cannot be matched"
            )
    matches = match_tokens(task.tokenizer, tokenizer)
    _check_found(tokenizer, matches)
    pad = task.config.pad_token_id
    new_pad = matches.index(pad) if pad in matches else tokenizer.pad_id
    if task.config.position_offset and new_pad != pad:
        raise KerasBertError(
            f"expected {pad} as the id of padding, from which this model counts positions, received {new_pad}; choose a model with the "
            "same special tokens"
        )
    sources = np.array([each.source if isinstance(each, CasedForm) else each for each in matches])
    forms = [number for number, each in enumerate(matches) if isinstance(each, CasedForm)]
    weights = weights_by_path(task)
    for path in WORD_AXES.keys() & weights.keys():
        weights[path] = np.take(weights[path], sources, WORD_AXES[path])
    if forms:
        kinds = [int(each.capitals) for each in matches if isinstance(each, CasedForm)]
        plain = np.delete(weights[_TABLE], forms, axis=0)
        weights[_TABLE][forms] += _kind_vectors(plain)[kinds]
    config = replace(task.config, vocab_size=len(sources), pad_token_id=new_pad)
    config, cut = PrunedSizes.of(config, sizes_of(task.encoder))
    return rebuild_task(task, weights, config, cut, tokenizer)


def _check_found(tokenizer: Tokenizer, matches: Iterable[int | CasedForm | None]) -> None:
    missing = [token for token, match in zip(tokenizer.vocabulary, matches, strict=True) if match is None]
    if missing:
        shown = ", ".join(map(repr, missing[:_SHOWN])) + (", ..." if len(missing) > _SHOWN else "")
        raise KerasBertError(
            f"expected a vocabulary whose {tokenizer.vocabulary_size:,} tokens the model has, received {len(missing):,} that it lacks "
            f"({shown}); match a model with a part of its tokens, such as one of `kerasbert prune --vocabulary`"
        )


def _kind_vectors(table: np.ndarray) -> np.ndarray:
    """A vector for each kind of form, `(2, width)`, in random directions."""
    vectors = np.random.default_rng(_SEED).normal(size=(2, table.shape[1]))
    length = _SHARE * np.median(np.linalg.norm(table, axis=1))
    return (vectors * length / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(table.dtype)
