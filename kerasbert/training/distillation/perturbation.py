"""Variants of texts for a teacher to label: masked words, and runs of words (Tang et al. 2019, section 3.3)."""

from collections.abc import Sequence

import numpy as np

from kerasbert.arguments import check_whole_number
from kerasbert.errors import KerasBertError
from kerasbert.processors.texts import text_examples
from kerasbert.processors.word_pieces import word_numbers, word_pieces
from kerasbert.text import Tokenizer
from kerasbert.values import Rule

LONGEST_RUN = 5  # words
_LONGEST_TEXT = 512  # tokens; what follows is kept as it is


def perturb(
    texts: Sequence,
    tokenizer: Tokenizer,
    copies: int = 20,
    mask: float = 0.1,
    run: float = 0.25,
    seed: int = 0,
) -> list:
    """Return variants of texts, for a teacher to label (Tang et al. 2019, section 3.3). No language model is needed.

    Each word becomes the mask token with the probability `mask`. Then, with the probability `run`, the whole text becomes a run of 1 to 5
    of its words. The paper also replaces words by others of the same part of speech, which needs a tagger and is left out. Of a pair the
    copies vary the first text, the second and both in turn.

    Args:
        texts: Texts, or pairs of texts.
        tokenizer: The tokenizer, which finds the words.
        copies: Number of variants of each text.
        mask: Probability that a word is masked.
        run: Probability that a text becomes a run of words.
        seed: Random seed.

    Returns:
        `copies` variants of the first text, then those of the next. The original texts are not included.

    Raises:
        KerasBertError: When a number is out of range, or the tokenizer has no mask token.

    Example:
        ```python
        from kerasbert.training.distillation import perturb
        variants = perturb(texts[:2], task.tokenizer, copies=3)  # 3 variants of each text
        ```
    """
    copies = check_whole_number(copies, "copies", least=1)
    for name, value in (("mask", mask), ("run", run)):
        Rule(float, at_least=0, at_most=1).check(value, f"a probability {name}")
    mask_token = tokenizer.vocabulary[tokenizer.mask_id] if tokenizer.mask_id is not None else None
    if mask_token is None:
        raise KerasBertError("expected a tokenizer with a mask token, received one without")
    variants = []
    for number, example in enumerate(text_examples(texts)):
        parts = example if isinstance(example, tuple) else (example,)
        spans = [_words(part, tokenizer) for part in parts]
        random = np.random.default_rng((seed, number))
        for copy in range(copies):
            new = tuple(
                _vary(part, words, random, mask, run, mask_token) if _varies(copy, place, len(parts)) else part
                for place, (part, words) in enumerate(zip(parts, spans, strict=True))
            )
            variants.append(new if isinstance(example, tuple) else new[0])
    return variants


def _varies(copy: int, place: int, parts: int) -> bool:
    """Whether a copy varies a part: of pairs the first, the second and both in turn."""
    return parts == 1 or copy % 3 in (place, 2)


def _words(text: str, tokenizer: Tokenizer) -> list[tuple[int, int]]:
    """The first and the last character of each word, special tokens left out."""
    encoded = tokenizer.encode([text], max_length=_LONGEST_TEXT)
    ids = np.array(encoded.input_ids[0], np.int32)
    found = word_numbers(encoded, tokenizer)
    numbers = word_pieces(tokenizer).word_numbers(ids) if found is None else found[0]
    special = np.isin(ids, (tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id))
    spans: dict[int, tuple[int, int]] = {}
    for number, (start, end), skipped in zip(numbers, encoded.offsets[0], special, strict=True):
        if not skipped and end > start:
            start = end - len(text[start:end].lstrip())
            spans[int(number)] = (spans.get(int(number), (start, end))[0], end)
    return list(spans.values())


def _vary(
    text: str, words: Sequence[tuple[int, int]], random: np.random.Generator, mask: float, run: float, mask_token: str
) -> str:
    """One variant of a text."""
    masked = random.random(len(words)) < mask
    first, last = 0, len(words) - 1
    if words and random.random() < run:
        length = int(random.integers(1, min(LONGEST_RUN, len(words)) + 1))
        first = int(random.integers(len(words) - length + 1))
        last = first + length - 1
    if not words:
        return text
    whole = (first, last) == (0, len(words) - 1)
    position, parts = 0 if whole else words[first][0], []
    for number in range(first, last + 1):
        start, end = words[number]
        parts += [text[position:start], mask_token if masked[number] else text[start:end]]
        position = end
    return "".join([*parts, text[position:] if whole else ""])
