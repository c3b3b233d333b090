"""Added tokens: tokens of a checkpoint's files that extend its vocabulary, or change how one of its tokens is found."""

from collections.abc import Mapping

from kerasbert.errors import KerasBertError
from kerasbert.text.vocabulary import Vocabulary

AddedTokens = Mapping[str, tuple[int | None, Mapping]]  # token -> its id, and its `AddedToken` fields

_FLAGS = ("lstrip", "normalized", "rstrip", "single_word")


def merge_added_tokens(kind: type[Vocabulary], settings: Mapping, added: AddedTokens) -> dict:
    """Add tokens to the settings of a tokenizer.

    Args:
        kind: The class of the tokenizer.
        settings: Arguments for `from_config`, `vocabulary` included.
        added: Token -> its id and its `AddedToken` fields (`lstrip`, `normalized`, `rstrip`, `single_word`). Without an id (None), the
            token has that of the vocabulary, or the next free one.

    Returns:
        The settings with a longer `vocabulary`, and `added_tokens` if any differ from plain special tokens.

    Raises:
        KerasBertError: When an id belongs to another token, or leaves a gap after the vocabulary.
    """
    vocabulary, added_tokens = list(settings["vocabulary"]), []
    special: dict[str, dict[str, bool]] = {settings.get(role) or name: {} for role, name in kind.special_names.items()}
    if kind.mask_takes_space:
        special[settings.get("mask_token") or kind.special_names["mask_token"]] = {"lstrip": True}
    ids = {token: number for number, token in enumerate(vocabulary)}
    numbered = [(ids.get(token) if number is None else number, token) for token, (number, _) in added.items()]
    for number, token in sorted(numbered, key=lambda item: (item[0] is None, item[0] or 0)):
        if number is None:
            number = len(vocabulary)
        if number == len(vocabulary):
            vocabulary.append(token)
        if not 0 <= number < len(vocabulary) or vocabulary[number] != token:
            raise KerasBertError(
                f"expected added tokens right behind a vocabulary of {len(settings['vocabulary'])}, or in it, "
                f"received {token!r} with id {number}"
            )
        flags = {name: True for name in _FLAGS if added[token][1].get(name)}
        if flags != special.get(token):
            added_tokens.append({"content": token, **flags})
    return {**settings, "vocabulary": vocabulary, **({"added_tokens": added_tokens} if added_tokens else {})}
