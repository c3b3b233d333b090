"""Text to the inputs of an encoder: tokenizers, and packing of one or two texts a row."""

import os

from kerasbert.errors import KerasBertError
from kerasbert.text.encoded import Encoded
from kerasbert.text.packing import pack
from kerasbert.text.tokenizer_files import read_tokenizer_config
from kerasbert.text.wordpiece import WordPiece

__all__ = ["Encoded", "WordPiece", "pack", "tokenizer_from_folder"]

# Architectures whose Hugging Face tokenizer is BERT's under another name.
_WORDPIECE_CLASSES = ("Bert", "DistilBert", "Electra", "MobileBert", "PreTrained")


def tokenizer_from_folder(path: str | os.PathLike) -> WordPiece:
    """The tokenizer of a Hugging Face folder, by the `tokenizer_class` its `tokenizer_config.json` names.

    Raises:
      KerasBertError: a kind of tokenizer that is not supported, or missing or damaged files.
    """
    name = read_tokenizer_config(path).get("tokenizer_class") or "BertTokenizer"
    if name.removesuffix("Fast").removesuffix("Tokenizer") not in _WORDPIECE_CLASSES:
        raise KerasBertError(f"Expected a WordPiece tokenizer such as BertTokenizer in {path}. Received: {name}.")
    return WordPiece.from_folder(path)
