"""Comparison of a client's token ids with those of a model's tokenizer."""

import unicodedata
from collections.abc import Sequence

from kerasbert.text.tokenizer import Tokenizer

_EXCERPT = 32  # characters, escaped


def differences(
    tokenizer: Tokenizer, texts: Sequence[str], client_ids: Sequence[Sequence[int]], max_length: int
) -> dict[int, str]:
    """Find the texts with different ids.

    Args:
        tokenizer: The tokenizer of the model.
        texts: The texts.
        client_ids: The client's ids of each text, at most `max_length` each. Trailing zeros are padding.
        max_length: The maximum length of a sequence, special tokens included.

    Returns:
        Index of a text -> escaped excerpt at the first difference.

    Raises:
        KerasBertError: When `Tokenizer.encode` rejects the texts.
    """
    encoded, excerpts = tokenizer.encode(texts, max_length=max_length), {}
    for number, (ids, padded_ids) in enumerate(zip(encoded.input_ids, client_ids, strict=True)):
        other_ids = list(padded_ids)
        if ids == other_ids[: len(ids)] and not any(other_ids[len(ids) :]):
            continue
        unequal = (place for place, (a, b) in enumerate(zip(ids, other_ids, strict=False)) if a != b)
        first = next(unequal, len(other_ids))
        offsets = encoded.offsets[number]
        # If only the client has further tokens, their text follows the model's last token.
        character = offsets[first][0] if first < len(ids) - 1 else offsets[-2][1]
        excerpts[number] = _excerpt(texts[number], character)
    return excerpts


def _excerpt(text: str, place: int) -> str:
    """Return the word at a character, or the end of the text, with as many neighbours as fit."""
    begin = max(text.rfind(" ", 0, place) + 1, place - _EXCERPT // 4)
    end = begin + 1
    while end < len(text) and len(_readable(text[begin : end + 1])) <= _EXCERPT:
        end += 1
    return _readable(text[begin:end]) + ("..." if end < len(text) else "")


def _readable(text: str) -> str:
    """Return the text in quotes; what cannot be seen, and accents that are characters of their own, are escaped."""
    return "".join(
        ascii(character)[1:-1] if unicodedata.combining(character) else character for character in repr(text)
    )
