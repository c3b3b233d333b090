"""Which texts a client tokenizes otherwise than a model's tokenizer, and where."""

from collections.abc import Sequence

from kerasbert.text.tokenizer import Tokenizer

_EXCERPT = 32  # characters, escaped


def differences(
    tokenizer: Tokenizer, texts: Sequence[str], client_ids: Sequence[Sequence[int]], max_length: int
) -> dict[int, str]:
    """The texts with other ids, by their number: an escaped excerpt from where they differ.

    Args:
      tokenizer: the model's.
      texts: one or more.
      client_ids: the client's ids of each text, of at most `max_length` tokens; zeros behind them are padding.
      max_length: tokens a text, special ones included.

    Raises:
      KerasBertError: what `Tokenizer.encode` refuses.
    """
    encoded, found = tokenizer.encode(texts, max_length=max_length), {}
    for number, (ids, theirs) in enumerate(zip(encoded.input_ids, client_ids, strict=True)):
        theirs = list(theirs)
        if ids == theirs[: len(ids)] and not any(theirs[len(ids) :]):
            continue
        first = next((at for at, pair in enumerate(zip(ids, theirs, strict=False)) if pair[0] != pair[1]), len(theirs))
        offsets = encoded.offsets[number]
        place = (
            offsets[first][0] if first < len(ids) - 1 else offsets[-2][1]
        )  # what the model leaves out stands behind its last token
        found[number] = _excerpt(texts[number], place)
    return found


def _excerpt(text: str, place: int) -> str:
    """The word at a place, or the end of the text, and what of its neighbours there is room for."""
    begin = max(text.rfind(" ", 0, place) + 1, place - _EXCERPT // 4)
    end = begin + 1
    while end < len(text) and len(ascii(text[begin : end + 1])) <= _EXCERPT:
        end += 1
    return ascii(text[begin:end]) + ("..." if end < len(text) else "")
