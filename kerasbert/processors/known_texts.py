"""Texts that a tokenizer knows no token of: counted, and refused where there are no others."""

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.processors.features import Features
from kerasbert.text import Tokenizer


def check_known_tokens(features: Features, tokenizer: Tokenizer, where: str) -> None:
    """Print a note about texts without known tokens.

    Args:
        features: The rows of the texts.
        tokenizer: Their tokenizer.
        where: The file, or what else the texts are, for the message.

    Raises:
        KerasBertError: When no text has a known token.
    """
    special = {tokenizer.cls_id, tokenizer.sep_id, tokenizer.pad_id}
    tokens = [set(ids) - special for ids in features.token_lists.input_ids]
    empty, unknown = tokens.count(set()), tokens.count({tokenizer.unk_id})
    counts = [f"{empty:,} empty"] * bool(empty) + [f"{unknown:,} with unknown characters only"] * bool(unknown)
    if empty + unknown == len(tokens):
        raise KerasBertError(
            f"{where}: expected texts with words that the model's tokenizer knows, received {' and '.join(counts)}; "
            "choose a model for this language"
        )
    if counts:
        note(f"texts without known tokens: {' and '.join(counts)}, of {len(tokens):,}")
