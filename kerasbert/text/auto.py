"""Which tokenizer a Hugging Face folder holds, and reading it."""

import os
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.client_wordpiece import SETTING, ClientWordPiece
from kerasbert.text.japanese import JapaneseTokenizer, japanese_from_folder
from kerasbert.text.preset_tokenizer import is_preset_tokenizer, tokenizer_from_preset
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_json import read_tokenizer_json
from kerasbert.text.wordpiece import WordPiece

KINDS: dict[str, type[Tokenizer]] = {
    kind.kind: kind for kind in (WordPiece, ClientWordPiece, JapaneseTokenizer, SentencePiece, ByteLevelBPE)
}
_FILES = {
    WordPiece: (tokenizer_files.VOCABULARY,),
    SentencePiece: (tokenizer_files.SENTENCEPIECE,),
    ByteLevelBPE: (tokenizer_files.BPE_VOCABULARY, tokenizer_files.MERGES),
}
# `tokenizer_class` of tokenizer_config.json, without "Tokenizer" and "Fast", where the files do not tell the kind.
_CLASSES = {
    **dict.fromkeys(("Bert", "DistilBert", "Electra", "MobileBert"), WordPiece),
    "Albert": SentencePiece,
    "Roberta": ByteLevelBPE,
}
_ANY = ("PreTrained", "TokenizersBackend", "")
_JAPANESE = "BertJapanese"


def has_tokenizer(folder: str | os.PathLike) -> bool:
    """Whether a folder holds the files of a tokenizer that `tokenizer_from_folder` looks for."""
    folder = Path(folder)
    return (folder / tokenizer_files.TOKENIZER_JSON).is_file() or _kind_of_files(folder) is not None


def tokenizer_from_folder(folder: str | os.PathLike) -> Tokenizer:
    """The tokenizer of a Hugging Face folder, or of one that keras-nlp wrote with `save_to_preset`.

    `tokenizer.json` goes before the older files (`vocab.txt`; `spiece.model`; `vocab.json` with `merges.txt`), as in
    Hugging Face. What `tokenizer_config.json` and `special_tokens_map.json` say goes before what `tokenizer.json`
    says (but for ALBERT's `remove_space`). Without `tokenizer.json` the kind is that of the `tokenizer_class`, or else
    that of the files there are.

    Raises:
      KerasBertError: no tokenizer files (it lists what was looked for), a kind that is not supported, damaged files,
        or a `vocab.txt` and a `tokenizer.json` of different sizes.
    """
    folder = Path(folder)
    if is_preset_tokenizer(folder):
        return tokenizer_from_preset(folder)
    config = tokenizer_files.read_tokenizer_config(folder)
    if config.get(SETTING) is not None:
        return ClientWordPiece.from_folder(folder)
    name = str(config.get("tokenizer_class") or "")
    name = name.removesuffix("Fast").removesuffix("Tokenizer")
    if name == _JAPANESE:
        return japanese_from_folder(folder)
    if (folder / tokenizer_files.TOKENIZER_JSON).is_file():
        return _from_tokenizer_json(folder)
    if name not in (*_CLASSES, *_ANY):
        raise KerasBertError(
            f"expected in {folder} a {tokenizer_files.TOKENIZER_JSON}, or the tokenizer of one of "
            f"{', '.join((*_CLASSES, _JAPANESE))}, received {name}Tokenizer"
        )
    kind = _CLASSES.get(name) or _kind_of_files(folder)
    if kind is None or not _has(folder, kind):
        wanted = [_FILES[kind]] if kind else _FILES.values()
        names = ", or ".join(" with ".join(files) for files in wanted)
        raise KerasBertError(
            f"expected a tokenizer in {folder}: {tokenizer_files.TOKENIZER_JSON}, or {names}, received no such file; "
            "copy the tokenizer files of the checkpoint there"
        )
    return kind.from_folder(folder)


def tokenizer_from_config(config: dict) -> Tokenizer:
    """The tokenizer, of whatever kind, that `get_config` described; without a "kind" it is a WordPiece.

    Raises:
      KerasBertError: a kind that is not known, or a config that the tokenizer refuses.
    """
    kind = config.get("kind", WordPiece.kind)
    if not isinstance(kind, str) or kind not in KINDS:
        raise KerasBertError(f"expected a tokenizer of kind {', '.join(KINDS)}, received {kind!r}")
    return KINDS[kind].from_config(config)


def _from_tokenizer_json(folder: Path) -> Tokenizer:
    path = folder / tokenizer_files.TOKENIZER_JSON
    settings, added = read_tokenizer_json(path)
    kind = KINDS[settings["kind"]]
    _check_sizes(folder, len(settings["vocabulary"]), len({*settings["vocabulary"], *added}))
    # Hugging Face's fast tokenizer of ALBERT has no remove_space: there the pre-tokenizer of tokenizer.json decides.
    flags = {key: name for key, name in kind.flags.items() if name != "remove_space"}
    settings |= tokenizer_files.read_settings(folder, flags)
    try:
        return kind.from_config(kind.with_added_tokens(settings, added))
    except KerasBertError as error:
        raise KerasBertError(f"{path}: {error}") from None


def _check_sizes(folder: Path, model_size: int, size: int) -> None:
    path = folder / tokenizer_files.VOCABULARY
    if not path.is_file():
        return
    lines = len(tokenizer_files.read_vocabulary(path))
    if lines not in (model_size, size):
        raise KerasBertError(
            f"expected {tokenizer_files.VOCABULARY} and {tokenizer_files.TOKENIZER_JSON} of one tokenizer in {folder}, "
            f"received {lines} and {size} tokens; remove the file that does not belong to this checkpoint"
        )


def _kind_of_files(folder: Path) -> type[Tokenizer] | None:
    return next((kind for kind in _FILES if _has(folder, kind)), None)


def _has(folder: Path, kind: type[Tokenizer]) -> bool:
    return all((folder / name).is_file() for name in _FILES[kind])
