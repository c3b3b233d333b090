"""Tokenizers of folders that keras-nlp (keras-hub) wrote with `save_to_preset`."""

from collections.abc import Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.text import tokenizer_files
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece

_ASSETS = Path("assets") / "tokenizer"
_WORDPIECE, _SENTENCEPIECE, _BPE = "vocabulary.txt", "vocabulary.spm", "vocabulary.json"


def is_of_keras_nlp(config: Mapping) -> bool:
    """Whether a JSON object describes an object of keras-nlp's or keras-hub's."""
    return str(config.get("module")).startswith(("keras_hub.", "keras_nlp.")) and "class_name" in config


def is_preset_tokenizer(folder: Path) -> bool:
    """Whether the folder holds a tokenizer as keras-nlp saves it."""
    path = folder / tokenizer_files.TOKENIZER_JSON
    if not path.is_file() or not (folder / _ASSETS).is_dir():
        return False
    try:
        return is_of_keras_nlp(read_json_object(path))
    except KerasBertError:
        return False


def tokenizer_from_preset(folder: Path) -> Tokenizer:
    """The tokenizer, of the kind that its vocabulary file tells. Raises KerasBertError for another kind, and damaged files."""
    assets, found = folder / _ASSETS, read_json_object(folder / tokenizer_files.TOKENIZER_JSON)
    config = found.get("config") if isinstance(found.get("config"), dict) else {}
    if (assets / _WORDPIECE).is_file():
        flags = {name: bool(config.get(name, False)) for name in ("lowercase", "strip_accents")}
        return WordPiece(tokenizer_files.read_vocabulary(assets / _WORDPIECE), **flags)
    if (assets / _SENTENCEPIECE).is_file():
        model = tokenizer_files.read_bytes(assets / _SENTENCEPIECE)
        return SentencePiece(model, lowercase=False, keep_accents=True, remove_space=False)
    if (assets / _BPE).is_file():
        vocabulary = tokenizer_files.read_bpe_vocabulary(assets / _BPE)
        merges = tokenizer_files.read_merges(assets / tokenizer_files.MERGES)
        return ByteLevelBPE(vocabulary, merges, add_prefix_space=bool(config.get("add_prefix_space", False)))
    raise KerasBertError(
        f"{assets}: expected {_WORDPIECE}, {_SENTENCEPIECE} or {_BPE} of a keras-nlp tokenizer, received none of them"
    )
