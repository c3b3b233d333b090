"""Words that a corpus never uses, dropped from the word table, the tokenizer and what decodes words."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kerasbert.compression.pruning.structured.model_surgery import check_float, heads, rebuilt, values_of, widths
from kerasbert.compression.pruning.structured.tokenizers import check_trimmable, with_tokens, with_what_they_need
from kerasbert.compression.quantization.known_tokens import words_of
from kerasbert.data.table import is_table
from kerasbert.encoders.pruned_sizes import Cut
from kerasbert.errors import KerasBertError
from kerasbert.processors.features import WHOLE

# Variable -> the axis that counts words.
WORD_AXES = {
    "encoder.embeddings.word.table": 0,
    "masked_lm.bias": 0,
    "masked_lm.decoder": 0,
    "masked_lm.further_decoder": 1,
}
_CHUNK = 8192  # texts tokenized at once


def trim_vocabulary(task, texts, keep: Iterable[str] = (), characters: bool = True):
    """The same class of task with the words of these texts alone, in the order they had: ids change, answers to the texts do not.

    texts: strings, all of which count; or examples of the task, of which counts what it reads. keep: further tokens, as the vocabulary
    spells them. characters: whether all tokens of a single character stay, so that words which the corpus does not have can still be
    spelled. Special and added tokens always stay, and the bytes of a byte-level vocabulary.

    Other texts may be split into smaller or unknown pieces.

    Raises KerasBertError for a quantized task, one without a tokenizer or with one of another kind, no texts, and tokens in `keep` that the
    vocabulary does not have.
    """
    check_float(task)
    tokenizer, config = task.tokenizer, task.config
    check_trimmable(tokenizer)
    wanted = _ids_of(tokenizer, keep)
    # Positions may be counted from the padding word's id on: it stays what it is.
    fixed = {config.pad_token_id, *range(config.position_offset)}
    known = {number for number in (*_used(task, texts), *wanted, *fixed) if number < tokenizer.vocabulary_size}
    ids = np.array(sorted(with_what_they_need(tokenizer, known, characters) | fixed))
    place = int(np.searchsorted(ids, config.pad_token_id))
    values = values_of(task)
    for path in WORD_AXES.keys() & values.keys():
        values[path] = np.take(values[path], ids, WORD_AXES[path])
    sizes = Cut.of(replace(config, vocab_size=len(ids), pad_token_id=place), heads(task), widths(task))
    kept = ids[ids < tokenizer.vocabulary_size].tolist()
    return rebuilt(task, values, *sizes, with_tokens(tokenizer, kept))


def _ids_of(tokenizer, tokens: Iterable[str]) -> set[int]:
    if isinstance(tokens, str):
        raise KerasBertError(f"expected tokens to keep as a list, received {tokens!r}; put it in a list")
    numbers, tokens = {token: number for number, token in enumerate(tokenizer.vocabulary)}, list(tokens)
    missing = [token for token in tokens if token not in numbers]
    if missing:
        raise KerasBertError(
            f"expected tokens of the vocabulary to keep, received {missing[0]!r}, which is none of its {len(numbers)}"
        )
    return {numbers[token] for token in tokens}


def _used(task, texts) -> set[int]:
    """The ids of all tokens of the texts."""
    texts = texts.x if is_table(texts) else texts
    if isinstance(texts, list | tuple | np.ndarray) and len(texts) and all(isinstance(t, str) for t in texts):
        found: set[int] = set()
        for start in range(0, len(texts), _CHUNK):
            found.update(*task.tokenizer.encode(list(texts[start : start + _CHUNK]), max_length=WHOLE).input_ids)
    else:
        found = {int(number) for row in task.features(texts)[1].tokens.input_ids for number in row}
    if not words_of(task.tokenizer, found):
        raise KerasBertError("expected texts whose words stay, received none with a word that the vocabulary has")
    return found
