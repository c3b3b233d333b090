"""WordPiece as MediaPipe Tasks and TFLite's Task Library tokenize, for training on the same tokens that these clients produce."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from kerasbert.errors import KerasBertError
from kerasbert.text.client_rules import CLIENTS, LONGEST_WORD, SPACE, ClientRules, client_text
from kerasbert.text.encoded import Segment
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.wordpiece import WordPiece, WordPieceSettings

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine
    from tokenizers.pre_tokenizers import PreTokenizer

SETTING = "tokenize_as"  # in tokenizer_config.json


class ClientWordPiece(WordPiece):
    """WordPiece with the rules of `kerasbert.text.client_rules`. Its ids equal those of the client for any text.

    Names of special tokens inside a text are not special: "[MASK]" becomes a bracket, a word and a bracket.

    Args:
        vocabulary: The tokens in the order of their ids.
        tokenize_as: The client, "mediapipe" or "task-library".
        **settings: Settings of `WordPiece`. They are saved, but have no effect on case, accents and CJK characters.

    Raises:
        KerasBertError: When `WordPiece` rejects the vocabulary, the client cannot read it, or the client is unknown.

    Example:
        ```python
        from kerasbert.text import ClientWordPiece
        tokenizer = ClientWordPiece.of(task.tokenizer, "mediapipe")
        tokenizer.encode(["wake me at six"], max_length=16).input_ids
        ```
    """

    kind = "client_wordpiece"
    settings = (*WordPiece.flags.values(), SETTING)

    def __init__(self, vocabulary: Sequence[str], *, tokenize_as: str, **settings: Unpack[WordPieceSettings]) -> None:
        super().__init__(vocabulary, **settings)
        self.splits_ideographs = True
        self.tokenize_as = check_client(tokenize_as)
        if reason := client_unsupported_reason(self.get_config(), self.vocabulary):
            raise KerasBertError(f"expected a vocabulary that {tokenize_as} reads, received {reason}")

    @classmethod
    def of(cls, tokenizer: Tokenizer, client: str) -> "ClientWordPiece":
        """Convert a tokenizer to the client's rules. Vocabulary and ids stay the same.

        Args:
            tokenizer: The tokenizer of a model.
            client: The client, "mediapipe" or "task-library".

        Returns:
            The tokenizer with the rules of the client.

        Raises:
            KerasBertError: When the tokenizer is not a WordPiece, or the constructor rejects its vocabulary.
        """
        check_client(client)
        if not isinstance(tokenizer, WordPiece):
            raise KerasBertError(
                f"expected a WordPiece vocabulary to tokenize as {client} does, received a {type(tokenizer).__name__}; "
                "the client knows no other, so take another checkpoint"
            )
        return cls.from_config({**tokenizer.get_config(), "kind": cls.kind, SETTING: client})

    def __repr__(self) -> str:
        return f"ClientWordPiece({self.vocabulary_size} tokens, as {self.tokenize_as})"

    def effective_config(self) -> dict[str, Any]:
        without_effect = {*WordPiece.flags.values(), "added_tokens"}
        return {name: value for name, value in super().effective_config().items() if name not in without_effect}

    @cached_property
    def _engine(self) -> "Engine":
        return self._build_engine()  # without special and added tokens inside a text

    def _build_engine(self) -> "Engine":
        import tokenizers
        from tokenizers import Regex, models, pre_tokenizers

        # Each byte is written as one character, so that the length of a word counts bytes. Tokens consist of whole characters, so the
        # same pieces match.
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        ids = {_spell_bytes(byte_level, token): number for token, number in self._ids.items()}
        engine = tokenizers.Tokenizer(
            models.WordPiece(ids, unk_token=self.unk_token, max_input_chars_per_word=LONGEST_WORD)
        )
        engine.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(f"[{SPACE}]"), "removed"),
                pre_tokenizers.Split(Regex(ClientRules.of(self.tokenize_as).pattern), "isolated"),
                byte_level,
            ]
        )
        return engine

    def _found_tokens(self) -> list[str]:
        return []

    def _token_ids(self, texts: list[str], limit: int) -> list[list[int]]:
        return super()._token_ids([client_text(text) for text in texts], limit)

    def _count(self, text: str) -> int:
        return super()._count(client_text(text))

    def _segments(self, texts: list[str], limit: int) -> Sequence[Segment]:
        return super()._segments([client_text(text) for text in texts], limit)

    def _file_settings(self) -> dict[str, Any]:
        return {**super()._file_settings(), SETTING: self.tokenize_as}

    @classmethod
    def _read_files(cls, folder: TokenizerFolder) -> dict[str, Any]:
        return {**super()._read_files(folder), SETTING: folder.config.get(SETTING)}


def check_client(client: object) -> str:
    """Return the client itself.

    Raises:
        KerasBertError: When it is not in `CLIENTS`.
    """
    if not isinstance(client, str) or client not in CLIENTS:
        raise KerasBertError(f"expected {' or '.join(CLIENTS)} as the client to tokenize as, received {client!r}")
    return client


def client_unsupported_reason(config: Mapping, vocabulary: Sequence[str] | None) -> str:
    """Return the reason why the clients cannot tokenize for a model, or "" if they can.

    Args:
        config: The `get_config()` of the model's tokenizer. Its "vocabulary" is ignored.
        vocabulary: The tokens.
    """
    kind = config.get("kind", WordPiece.kind)
    if not vocabulary:
        return "no vocabulary"
    if kind not in (WordPiece.kind, ClientWordPiece.kind):
        return f"a {_KINDS.get(kind, kind)} tokenizer, where the clients know WordPiece only"
    if kind == WordPiece.kind and not config.get("lowercase", True):
        return "a cased vocabulary, where the clients lower every text"
    for role in CLIENT_ROLES:
        known_token = WordPiece.special_names[role]
        token = config.get(role, known_token)
        if token != known_token:
            return f"{token!r} as {role}, where the clients know {known_token!r} only"
    if "" in vocabulary:
        return (
            f"an empty token with id {list(vocabulary).index('')}, which the clients leave out: all ids behind it shift"
        )
    return ""


CLIENT_ROLES = ("unk_token", "cls_token", "sep_token")  # of special tokens whose names the clients have built in
_KINDS = {
    "sentencepiece": "SentencePiece",
    "xlm_roberta": "SentencePiece (XLM-RoBERTa)",
    "byte_level_bpe": "byte-level BPE",
    "japanese": "Japanese",
}


def _spell_bytes(byte_level: "PreTokenizer", token: str) -> str:
    """Return a token with each of its bytes as one character."""
    return "".join(piece for piece, _ in byte_level.pre_tokenize_str(token))
