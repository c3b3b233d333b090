"""Loading a tokenizer of any kind from a folder or a config."""

import os
from collections.abc import Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.added_tokens import read_added_tokens
from kerasbert.text.byte_bpe import ByteLevelBPE
from kerasbert.text.client_wordpiece import SETTING, ClientWordPiece
from kerasbert.text.japanese import WORD_TOKENIZER, JapaneseTokenizer
from kerasbert.text.japanese_folder import has_japanese_words, japanese_from_folder
from kerasbert.text.preset_tokenizer import is_preset_tokenizer, tokenizer_from_preset
from kerasbert.text.sentence_piece import SentencePiece
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.tokenizer_json import read_tokenizer_json
from kerasbert.text.tokenizer_keys import check_settings_files
from kerasbert.text.wordpiece import WordPiece
from kerasbert.text.xlm_roberta import XlmRobertaTokenizer

KINDS: dict[str, type[Tokenizer]] = {
    kind.kind: kind
    for kind in (WordPiece, ClientWordPiece, JapaneseTokenizer, SentencePiece, XlmRobertaTokenizer, ByteLevelBPE)
}
# Each has other vocabulary files.
_BY_FILES: tuple[type[Tokenizer], ...] = (WordPiece, SentencePiece, XlmRobertaTokenizer, ByteLevelBPE)
# `tokenizer_class` of tokenizer_config.json without "Tokenizer" and "Fast"; it decides if there is no tokenizer.json.
_CLASSES: dict[str, type[Tokenizer]] = {
    **dict.fromkeys(("Bert", "DistilBert", "Electra", "MobileBert"), WordPiece),
    "Albert": SentencePiece,
    "Roberta": ByteLevelBPE,
    "XLMRoberta": XlmRobertaTokenizer,
}
_GENERIC = ("PreTrained", "TokenizersBackend", "")
_JAPANESE = "BertJapanese"
_FIXED_ROLES = (
    "cls_token",
    "sep_token",
    "unk_token",
)  # of tokenizer.json's template and model; transformers 4 and 5 differ in others


def has_tokenizer(folder: str | os.PathLike) -> bool:
    """Return True if the folder holds tokenizer files that `tokenizer_from_folder` reads.

    Args:
        folder: The folder.

    Returns:
        True if there is a tokenizer.

    Example:
        ```python
        kb.text.has_tokenizer("my-bert")  # True
        ```
    """
    return (
        Path(folder, tokenizer_files.TOKENIZER_JSON).is_file() or _kind_of_files(TokenizerFolder.of(folder)) is not None
    )


def tokenizer_from_folder(folder: str | os.PathLike) -> Tokenizer:
    """Load the tokenizer of a Hugging Face folder, or of one that keras-nlp wrote with `save_to_preset`.

    As in Hugging Face, `tokenizer.json` takes precedence over the older files (`vocab.txt`; `spiece.model`; `sentencepiece.bpe.model`;
    `vocab.json` with `merges.txt`). Settings of `tokenizer_config.json` and `special_tokens_map.json` take precedence over those of
    `tokenizer.json`, except ALBERT's `remove_space`. Without `tokenizer.json`, the kind follows from the `tokenizer_class` of
    `tokenizer_config.json` or `config.json`, or else from the files. Where no file sets `do_lower_case`, the vocabulary decides: texts are
    not lowercased if its tokens have capitals. A note says so. Where no file names a class or the kind of words, and `vocab.txt` has
    Japanese words, they are MeCab's. A note says so too.

    Args:
        folder: The folder.

    Returns:
        The tokenizer.

    Raises:
        KerasBertError: When there are no tokenizer files, the kind is not supported, a file is damaged, or `vocab.txt` and
            `tokenizer.json` have different sizes.

    Example:
        ```python
        tokenizer = kb.text.tokenizer_from_folder("my-bert")
        tokenizer.encode(["wake me at six"], max_length=16).input_ids
        ```
    """
    folder = Path(folder)
    if is_preset_tokenizer(folder):
        return tokenizer_from_preset(folder)
    opened = TokenizerFolder(folder)
    if opened.config.get(SETTING) is not None:
        return ClientWordPiece._from_folder(opened, {})
    name = _class_name(opened)
    if name == _JAPANESE:
        return japanese_from_folder(opened)
    if (folder / tokenizer_files.TOKENIZER_JSON).is_file():
        return _from_tokenizer_json(opened)
    if name not in (*_CLASSES, *_GENERIC):
        raise KerasBertError(
            f"expected in {folder} a {tokenizer_files.TOKENIZER_JSON}, or the tokenizer of one of "
            f"{', '.join((*_CLASSES, _JAPANESE))}, received {name}Tokenizer"
        )
    if not name and has_japanese_words(opened):
        return japanese_from_folder(opened)
    kind = _CLASSES.get(name) or _kind_of_files(opened)
    if kind is None or not opened.has(kind.files):
        expected = [kind] if kind else _BY_FILES
        names = ", or ".join(" with ".join(file.name for file in each.files.values()) for each in expected)
        raise KerasBertError(
            f"expected a tokenizer in {folder}: {tokenizer_files.TOKENIZER_JSON}, or {names}, received no such file; "
            "copy the tokenizer files of the checkpoint there"
        )
    return kind._from_folder(opened, {})


def tokenizer_from_config(config: Mapping) -> Tokenizer:
    """Build a tokenizer of any kind from the result of `get_config`.

    Args:
        config: The config. Its default "kind" is that of `WordPiece`.

    Returns:
        The tokenizer.

    Raises:
        KerasBertError: When the kind is unknown, or the tokenizer rejects the config.

    Example:
        ```python
        config = task.tokenizer.get_config()
        tokenizer = kb.text.tokenizer_from_config(config)
        ```
    """
    kind = config.get("kind", WordPiece.kind)
    if not isinstance(kind, str) or kind not in KINDS:
        raise KerasBertError(f"expected a tokenizer of kind {', '.join(KINDS)}, received {kind!r}")
    return KINDS[kind].from_config(config)


def _class_name(folder: TokenizerFolder) -> str:
    """Return the name of the tokenizer's class in `transformers`, without "Tokenizer" and "Fast", or "".

    Japanese checkpoints as published name their class in config.json only. Copies of them may have lost it, but not the kind of words.
    """
    name = folder.config.get("tokenizer_class") or folder.model_config.get("tokenizer_class")
    if not name and folder.config.get(WORD_TOKENIZER) is not None:
        return _JAPANESE
    return str(name or "").removesuffix("Fast").removesuffix("Tokenizer")


def _from_tokenizer_json(folder: TokenizerFolder) -> Tokenizer:
    path = folder.path / tokenizer_files.TOKENIZER_JSON
    settings, added = read_tokenizer_json(path, folder.config)
    added = {**read_added_tokens(folder), **added}
    kind = KINDS[settings["kind"]]
    check_settings_files(folder, kind.config_keys, kind.template.second_type)
    _check_sizes(folder.path, len(settings["vocabulary"]), len({*settings["vocabulary"], *added}))
    # Hugging Face's fast tokenizer of ALBERT has no remove_space; the pre-tokenizer of tokenizer.json decides instead.
    flags = {key: name for key, name in kind.flags.items() if name != "remove_space"}
    further = tokenizer_files.read_settings(folder, flags)
    for role in _FIXED_ROLES:
        if further.get(role, settings.get(role)) != settings.get(role, further.get(role)):
            raise KerasBertError(
                f"expected the {role} of {path}, {settings[role]!r}, in {tokenizer_files.TOKENIZER_CONFIG} too, "
                f"received {further[role]!r}; correct the one that the model was not trained with"
            )
    return kind._from_settings({**settings, **further}, added, path)


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


def _kind_of_files(folder: TokenizerFolder) -> type[Tokenizer] | None:
    return next((kind for kind in _BY_FILES if folder.has(kind.files)), None)
