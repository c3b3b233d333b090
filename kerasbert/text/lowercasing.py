"""A tokenizer that lowercases texts, made from a cased one."""

from kerasbert.errors import KerasBertError
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece


def lowercased(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that lowercases texts first, and treats accents as the given one does.

    Args:
        tokenizer: A tokenizer. One that lowercases is returned as it is.

    Raises:
        KerasBertError: When the kind of tokenizer has no such setting.
    """
    if getattr(tokenizer, "lowercase", False):
        return tokenizer
    if not isinstance(tokenizer, WordPiece | SentencePiece):
        raise KerasBertError(
            f"expected a WordPiece or SentencePiece tokenizer for do_lower_case, received {type(tokenizer).__name__}; "
            "load another model"
        )
    config = {**tokenizer.get_config(), "lowercase": True}
    if isinstance(tokenizer, WordPiece):
        config["strip_accents"] = bool(tokenizer.strip_accents)  # None would follow `lowercase`
    return type(tokenizer).from_config(config)
