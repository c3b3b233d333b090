"""Vocabulary trimming: removes tokens that a corpus never uses from the tokenizer, the token embeddings and the language model head."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kerasbert.compression.pruning.structured.model_surgery import check_float, rebuild_task, weights_by_path
from kerasbert.compression.pruning.structured.tokenizers import add_required_ids, check_trimmable, trim_tokenizer
from kerasbert.compression.quantization.known_tokens import known_token_ids
from kerasbert.data.dataset import examples_of
from kerasbert.encoders.pruned_sizes import PrunedSizes, sizes_of
from kerasbert.errors import KerasBertError
from kerasbert.processors.features import WHOLE
from kerasbert.tasks.base import Task
from kerasbert.text import Tokenizer

# Path of a variable -> its vocabulary axis.
WORD_AXES = {
    "encoder.embeddings.word.table": 0,
    "masked_lm.bias": 0,
    "masked_lm.decoder": 0,
    "masked_lm.further_decoder": 1,
}
_CHUNK = 8192  # texts tokenized at once


def trim_vocabulary(
    task: Task, texts: Any, keep: Iterable[str] = (), characters: bool = True, size: int | None = None
) -> Task:
    """Return a copy of a task with the tokens of some texts only, in their order.

    Token ids change; predictions for these texts do not. Other texts may get smaller or unknown tokens. Special and added tokens always
    stay, and so do the bytes of a byte-level vocabulary.

    Args:
        task: The task, in float.
        texts: Strings, of which every token counts; or examples of the task, of which the tokens within its sequence length count.
        keep: Further tokens to keep, as the vocabulary spells them.
        characters: Whether all tokens of a single character stay, so that unseen words can be spelled.
        size: Number of tokens to keep, the most frequent ones of the texts; None keeps every token of the texts. Texts with a token that
            does not stay are tokenized into smaller ones.

    Returns:
        The copy.

    Raises:
        KerasBertError: When the task is quantized; when it has no tokenizer, or one that cannot be trimmed; when the texts have no known
            token; when a token in `keep` is not in the vocabulary; and when more tokens than `size` must stay.

    Example:
        ```python
        from kerasbert.compression.pruning.structured import trim_vocabulary
        smaller = trim_vocabulary(task, texts)
        smaller.tokenizer.vocabulary_size
        ```
    """
    check_float(task)
    tokenizer, config = task.tokenizer, task.config
    check_trimmable(tokenizer)
    requested = _ids_of(tokenizer, keep)
    # RoBERTa counts positions from the padding id on, so that id must not change.
    fixed = {config.pad_token_id, *range(config.position_offset)}
    counts = _count_ids(task, texts)
    prompted = {number for ids in _ids(task.tokenizer, task.processor.prompt_texts) for number in ids}
    required = {number for number in (*requested, *fixed, *prompted) if number < tokenizer.vocabulary_size}
    kept = _most_frequent(counts, required, tokenizer, characters, size)
    ids = np.array(sorted(kept | fixed))
    pad_token_id = int(np.searchsorted(ids, config.pad_token_id))
    weights = weights_by_path(task)
    for path in WORD_AXES.keys() & weights.keys():
        weights[path] = np.take(weights[path], ids, WORD_AXES[path])
    trimmed_config = replace(config, vocab_size=len(ids), pad_token_id=pad_token_id)
    trimmed_config, cut = PrunedSizes.of(trimmed_config, sizes_of(task.encoder))
    kept_ids = ids[ids < tokenizer.vocabulary_size].tolist()
    return rebuild_task(task, weights, trimmed_config, cut, trim_tokenizer(tokenizer, kept_ids))


def _ids_of(tokenizer: Tokenizer, tokens: Iterable[str]) -> set[int]:
    if isinstance(tokens, str):
        raise KerasBertError(f"expected tokens to keep as a list, received {tokens!r}; put it in a list")
    id_of, tokens = {token: number for number, token in enumerate(tokenizer.vocabulary)}, list(tokens)
    missing = [token for token in tokens if token not in id_of]
    if missing:
        raise KerasBertError(
            f"expected tokens of the vocabulary to keep, received {missing[0]!r}, which is none of its {len(id_of)}"
        )
    return {id_of[token] for token in tokens}


def _count_ids(task: Task, texts: Any) -> Counter[int]:
    """The number of occurrences of each token of the texts."""
    texts = examples_of(texts)
    counts: Counter[int] = Counter()
    if isinstance(texts, list | tuple | np.ndarray) and len(texts) and all(isinstance(t, str) for t in texts):
        for start in range(0, len(texts), _CHUNK):
            chunk = task.prompted(list(texts[start : start + _CHUNK]))
            counts.update(number for ids in _ids(task.tokenizer, chunk) for number in ids)
    else:
        counts.update(int(number) for ids in task.features(texts)[1].token_lists.input_ids for number in ids)
    if not known_token_ids(task.tokenizer, set(counts)):
        raise KerasBertError(
            "expected texts whose words stay, received none with a word that the vocabulary has; pass texts of the task"
        )
    return Counter({number: count for number, count in counts.items() if number < task.tokenizer.vocabulary_size})


def _ids(tokenizer: Tokenizer, texts: Sequence[str]) -> Sequence[Sequence[int]]:
    return tokenizer.encode(list(texts), max_length=WHOLE).input_ids if texts else ()


def _most_frequent(
    counts: Counter[int], required: set[int], tokenizer: Tokenizer, characters: bool, size: int | None
) -> set[int]:
    """The ids to keep: the required ones, those that tokenization needs, and the most frequent of the others."""
    if size is None:
        return add_required_ids(tokenizer, counts.keys() | required, characters)
    kept = add_required_ids(tokenizer, required, characters)
    if len(kept) > size:
        raise KerasBertError(
            f"expected a vocabulary of at least the {len(kept)} special, single-character and requested tokens, received a size of {size}"
        )
    ranked = sorted(counts, key=lambda number: (-counts[number], number))
    # A merge of byte-level BPE brings the tokens that it is made of: the largest number of ranked tokens that fits is searched.
    fitting, too_many = 0, len(ranked) + 1
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        candidate = add_required_ids(tokenizer, {*ranked[:middle], *required}, characters)
        if len(candidate) <= size:
            fitting, kept = middle, candidate
        else:
            too_many = middle
    return kept
