"""Keys of tokenizer files: used, known to be harmless, supported with one value, or refused.

The lists hold what the tokenizers of BERT, ALBERT, RoBERTa and Japanese BERT in transformers 4.57 and 5.24 write, slow and fast ones, and
their predecessors. Where slow and fast tokenizers differ, the fast ones count.
"""

from collections.abc import Mapping

from kerasbert.console.strictness import unknown
from kerasbert.files.known_keys import KnownKeys
from kerasbert.text import tokenizer_files
from kerasbert.text.added_tokens import LISTS, SPECIAL_ROLES
from kerasbert.text.tokenizer_files import TokenizerFolder

ADVICE = "if the model was trained without it, correct the file"
_USED = frozenset(
    {
        *SPECIAL_ROLES,
        *LISTS,
        "added_tokens_decoder",
        "model_max_length",
        "max_len",
        "tokenizer_class",
        "model_input_names",
    }
)
_HARMLESS = frozenset({
    # Decoding, chats, and where the files came from.
    "backend", "cache_dir", "chat_template", "clean_up_tokenization_spaces", "device", "device_map", "dtype", "errors", "force_download",
    "from_slow", "full_tokenizer_file", "is_local", "legacy", "local_files_only", "merges_file", "name_or_path", "processor_class",
    "proxies", "response_schema", "resume_download", "revision", "spaces_between_special_tokens", "special_tokens_map_file", "subfolder",
    "token", "tokenizer_file", "torch_dtype", "transformers_version", "trust_remote_code", "use_auth_token", "use_fast", "verbose",
    "vocab_file", "_commit_hash", "_from_auto", "_spm_precompiled_charsmap", "fix_mistral_regex",
    # Arguments of one call. A task has its own length, and truncates at the end.
    "max_length", "pad_to_multiple_of", "padding", "return_tensors", "stride", "truncation", "truncation_strategy",
})  # fmt: skip
_ONLY = {
    "auto_map": (None,),  # code of the checkpoint's own
    "init_inputs": (None, []),
    "pad_token_type_id": (None, 0),
    "padding_side": (None, "right"),
    "split_special_tokens": (None, False),
    "truncation_side": (None, "right"),
}
_WORDS_ONLY = {
    "clean_text": (None, True),
    "do_basic_tokenize": (None, True),
    "never_split": (None, []),
    "word_tokenizer_type": (None, "basic"),
    "subword_tokenizer_type": (None, "wordpiece"),
    "wordpieces_prefix": (None, "##"),
}
_OF_WORDS = frozenset({"do_lower_case", "strip_accents", "tokenize_chinese_chars"})
_OF_BYTES = frozenset({"add_prefix_space", "trim_offsets"})
_OF_JAPANESE = frozenset(
    {"do_subword_tokenize", "do_word_tokenize", "subword_tokenizer_type", "word_tokenizer_type", "mecab_kwargs"}
)

WORDPIECE = KnownKeys(_USED | _OF_WORDS | {"tokenize_as"}, _HARMLESS | _OF_BYTES, {**_ONLY, **_WORDS_ONLY})
JAPANESE = KnownKeys(
    _USED | _OF_JAPANESE | {"do_lower_case"},
    # Arguments of other word tokenizers, and settings that BertJapaneseTokenizer does not have.
    _HARMLESS
    | _OF_BYTES
    | {"jumanpp_kwargs", "strip_accents", "sudachi_kwargs", "tokenize_chinese_chars", "do_basic_tokenize"},
    {**_ONLY, "never_split": (None, []), "spm_file": (None,)},
)
SENTENCEPIECE = KnownKeys(
    _USED | {"do_lower_case", "keep_accents", "remove_space"},
    _HARMLESS | {"trim_offsets", "unk_id"},
    {**_ONLY, "add_prefix_space": (None, True), "sp_model_kwargs": (None, {})},
)
XLM_ROBERTA = KnownKeys(
    _USED | {"remove_space"},
    _HARMLESS | {"trim_offsets", "unk_id"},
    {**_ONLY, "add_prefix_space": (None, True), "sp_model_kwargs": (None, {}), "do_lower_case": (None, False)},
)
BYTE_LEVEL_BPE = KnownKeys(_USED | _OF_BYTES, _HARMLESS | _OF_WORDS, _ONLY)
MECAB = KnownKeys(used=frozenset({"mecab_dic", "mecab_option", "normalize_text"}))
SPECIAL_MAP = KnownKeys(used=frozenset({*SPECIAL_ROLES, *LISTS}))


def check_settings_files(folder: TokenizerFolder, keys: KnownKeys, second_type: int) -> None:
    """Check the keys of `tokenizer_config.json` and `special_tokens_map.json`.

    Args:
        folder: A Hugging Face folder.
        keys: The keys of `tokenizer_config.json` for the kind of tokenizer.
        second_type: The token type of a pair's second text.

    Raises:
        KerasBertError: When a setting is not supported. Unknown keys under `strict` too.
    """
    path, config = folder.path / tokenizer_files.TOKENIZER_CONFIG, folder.config
    named = config.get("extra_special_tokens")
    names = set(named) if isinstance(named, Mapping) else set()  # each is also written as a key of its own
    keys.check(_without(config, names), path, ADVICE)
    SPECIAL_MAP.check(_without(folder.special_map, names), folder.path / tokenizer_files.SPECIAL_TOKENS_MAP, ADVICE)
    inputs = config.get("model_input_names")
    if (
        second_type
        and isinstance(inputs, list)
        and "token_type_ids" not in inputs
        and _has_token_types(folder.model_config)
    ):
        unknown(
            path,
            "token_type_ids among model_input_names, as kerasbert numbers the texts of a pair 0 and 1",
            "model_input_names without token_type_ids, with which transformers numbers both texts of a pair 0",
        )


def _without(config: Mapping, names: set) -> dict:
    return {key: value for key, value in config.items() if key not in names}


def _has_token_types(config: Mapping) -> bool:
    types = config.get("type_vocab_size")
    return isinstance(types, int) and types > 1
