"""Loading tokenizers that keras-nlp (keras-hub) wrote with `save_to_preset`."""

from collections.abc import Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.files.known_keys import KnownKeys
from kerasbert.text import tokenizer_files
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_keys import ADVICE
from kerasbert.text.wordpiece import WordPiece

_ASSETS = Path("assets") / "tokenizer"
# Keys of the tokenizers of keras-hub 0.17, and of keras-nlp before it.
_HARMLESS = frozenset({
    "build_config", "config_file", "dtype", "name", "proto", "sequence_length", "special_tokens", "special_tokens_in_strings",
    "trainable", "unsplittable_tokens", "vocabulary", "vocabulary_size", "merges",
})  # fmt: skip
_WORDPIECE_KEYS = KnownKeys(
    used=frozenset({"lowercase", "strip_accents"}),
    harmless=_HARMLESS,
    only={"split": (True,), "split_on_cjk": (True,), "suffix_indicator": ("##",), "oov_token": ("[UNK]",)},
)
_SENTENCEPIECE_KEYS = KnownKeys(harmless=_HARMLESS, only={"add_bos": (False,), "add_eos": (False,)})
_BPE_KEYS = KnownKeys(used=frozenset({"add_prefix_space"}), harmless=_HARMLESS)
_WORDPIECE, _SENTENCEPIECE, _BPE = "vocabulary.txt", "vocabulary.spm", "vocabulary.json"


def is_keras_nlp_config(config: Mapping) -> bool:
    """Return True if the JSON object is the config of an object of keras-nlp or keras-hub."""
    return str(config.get("module")).startswith(("keras_hub.", "keras_nlp.")) and "class_name" in config


def is_preset_tokenizer(folder: Path) -> bool:
    """Return True if the folder holds a tokenizer that keras-nlp saved."""
    path = folder / tokenizer_files.TOKENIZER_JSON
    if not path.is_file() or not (folder / _ASSETS).is_dir():
        return False
    try:
        return is_keras_nlp_config(read_json_object(path))
    except KerasBertError:
        return False


def tokenizer_from_preset(folder: Path) -> Tokenizer:
    """Load the tokenizer of a folder. Its kind follows from its vocabulary file.

    Raises:
        KerasBertError: When the kind is not supported, or a file is damaged.
    """
    assets, content = folder / _ASSETS, read_json_object(folder / tokenizer_files.TOKENIZER_JSON)
    config = content.get("config")
    if not isinstance(config, dict):
        config = {}
    path = folder / tokenizer_files.TOKENIZER_JSON
    if (assets / _WORDPIECE).is_file():
        _WORDPIECE_KEYS.check(config, path, ADVICE)
        return WordPiece(
            tokenizer_files.read_vocabulary(assets / _WORDPIECE),
            lowercase=bool(config.get("lowercase", False)),
            strip_accents=bool(config.get("strip_accents", False)),
        )
    if (assets / _SENTENCEPIECE).is_file():
        _SENTENCEPIECE_KEYS.check(config, path, ADVICE)
        model = tokenizer_files.read_bytes(assets / _SENTENCEPIECE)
        return SentencePiece(model, lowercase=False, keep_accents=True, remove_space=False)
    if (assets / _BPE).is_file():
        _BPE_KEYS.check(config, path, ADVICE)
        vocabulary = tokenizer_files.read_bpe_vocabulary(assets / _BPE)
        merges = tokenizer_files.read_merges(assets / tokenizer_files.MERGES)
        return ByteLevelBPE(vocabulary, merges, add_prefix_space=bool(config.get("add_prefix_space", False)))
    raise KerasBertError(
        f"{assets}: expected {_WORDPIECE}, {_SENTENCEPIECE} or {_BPE} of a keras-nlp tokenizer, received none of them"
    )
