"""Checks for known tokens: without them neither importance nor quantization loss can be measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kerasbert.errors import KerasBertError
from kerasbert.processors import Features
from kerasbert.text import Tokenizer

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task


def known_token_ids(tokenizer: Tokenizer, ids: Iterable[int]) -> set[int]:
    """Return the distinct ids without those of [CLS], [SEP], padding and unknown tokens."""
    return set(ids) - {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id, tokenizer.unk_id}


def check_known_tokens(task: Task, features: Features, purpose: str) -> None:
    """Check that at least one row has a token that the task's tokenizer knows.

    A task without a tokenizer passes.

    Args:
        task: The task that reads the features.
        features: The rows to check.
        purpose: Purpose of the rows as an infinitive, for the error message.

    Raises:
        KerasBertError: When no row has a known token.
    """
    input_ids = features.token_lists.input_ids
    if task.has_tokenizer and not any(known_token_ids(task.tokenizer, ids) for ids in input_ids):
        raise KerasBertError(
            f"expected texts in words that the model's tokenizer knows to {purpose}, received {len(input_ids):,} rows without one; "
            "pass texts in the model's language"
        )
