"""Whether data say anything to a model: what matters, and what is lost, cannot be found on rows without a word."""

from collections.abc import Iterable

from kerasbert.errors import KerasBertError
from kerasbert.processors import Features


def words_of(tokenizer, ids: Iterable[int]) -> set[int]:
    """Those of some ids that stand for a piece of a word that the tokenizer knows."""
    return set(ids) - {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id, tokenizer.unk_id}


def check_words(task, rows: Features, purpose: str) -> None:
    """Raises KerasBertError where no row has a word that the task's tokenizer knows. purpose: what the rows are for, in an infinitive."""
    if task.has_tokenizer and not any(words_of(task.tokenizer, ids) for ids in rows.tokens.input_ids):
        received = f"{len(rows.tokens.input_ids):,} rows without one"
        raise KerasBertError(
            f"expected texts in words that the model's tokenizer knows to {purpose}, received {received}"
        )
