"""What a pretraining run reads: the texts, and the tokenizer of a new model. Needs no TensorFlow."""

import os
from pathlib import Path

import numpy as np

from kerasbert.checkpoints.hugging_face import resolve
from kerasbert.data.text_stream import TextStream
from kerasbert.errors import KerasBertError
from kerasbert.processors.word_pieces import word_pieces
from kerasbert.text import Tokenizer, learn_tokenizer, tokenizer_from_folder
from kerasbert.training.pretrain_config import PretrainConfig

_LEARNED = {"albert": "sentencepiece", "roberta": "bpe"}  # the tokenizer of an architecture; WordPiece for others
_UNKNOWN, _TOO_MANY_UNKNOWN = 0.05, 0.5  # fractions of unknown tokens that are noted, and refused
_SAMPLE = 2000  # texts whose tokens are looked at


def text_stream(paths: str, encoding: str | None = None) -> TextStream:
    """Return the texts of `--text` or `--dev`.

    Args:
        paths: Files, folders and patterns with commas between them.
        encoding: The encoding of the files.

    Raises:
        KerasBertError: When there is no such file.
    """
    parts: str | list[str] = (
        paths if os.path.exists(paths) else [part.strip() for part in paths.split(",") if part.strip()]
    )
    return TextStream(parts, encoding=encoding)


def make_tokenizer(config: PretrainConfig, model_type: str, texts: TextStream) -> Tokenizer:
    """Read the tokenizer of a new model, or learn it from the texts.

    Args:
        config: The settings.
        model_type: The architecture.
        texts: The texts.

    Raises:
        KerasBertError: When the folder has no tokenizer, or there is nothing to learn from.
    """
    if config.tokenizer is not None:
        return tokenizer_from_folder(resolve(config.tokenizer))
    kind = config.learn or _LEARNED.get(model_type, "wordpiece")
    lowercase = None if kind == "bpe" or kind.startswith("japanese") else not config.cased
    return learn_tokenizer(kind, texts.texts(), config.vocabulary_size, lowercase=lowercase)


def saved_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer that an interrupted run saved.

    Args:
        folder: The folder of its files.
    """
    return tokenizer_from_folder(folder)


def check_known_tokens(tokenizer: Tokenizer, texts: TextStream) -> str:
    """Compare the first texts with the vocabulary.

    Args:
        tokenizer: The tokenizer.
        texts: The texts.

    Returns:
        A note about unknown tokens; an empty text if there are few.

    Raises:
        KerasBertError: When most tokens are unknown: the vocabulary is that of another language.
    """
    first = [text for _, text in zip(range(_SAMPLE), texts.texts(), strict=False)]
    ids = np.concatenate(tokenizer.token_ids(first) or [np.zeros(0, np.int32)])
    if not len(ids):
        raise KerasBertError(f"expected text in {texts.files[0]}, received none; give files with texts")
    unknown = float(np.mean(ids == tokenizer.unk_id))
    where = f"of the first {len(first):,} texts"
    if unknown >= _TOO_MANY_UNKNOWN or not len(word_pieces(tokenizer).words):
        raise KerasBertError(
            f"expected texts in the language of the vocabulary, received {unknown:.0%} unknown tokens {where}; give another --tokenizer, "
            "or learn one from the texts"
        )
    return f"{unknown:.1%} of the tokens {where} are not in the vocabulary" if unknown >= _UNKNOWN else ""
