"""WordPiece as MediaPipe Tasks and TFLite's Task Library tokenize, for models that are to be trained on what these clients feed them."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files
from kerasbert.text.client_rules import CLIENTS, LONGEST_WORD, SPACE, ClientRules, client_text
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.wordpiece import WordPiece

SETTING = "tokenize_as"  # in tokenizer_config.json


class ClientWordPiece(WordPiece):
    """A WordPiece vocabulary under the rules of `kerasbert.text.client_rules`: the ids are the client's, for any text.

    Special tokens inside a text are no tokens here: "[MASK]" is a bracket, a word and a bracket.

    Args:
      vocabulary: the tokens; a token's place is its id.
      tokenize_as: the client, "mediapipe" or "task-library".
      **settings: of `WordPiece`. They are kept, but neither case nor accents nor CJK characters are handled by them.

    Raises:
      KerasBertError: a vocabulary that `WordPiece` refuses or the client cannot read, or another client.
    """

    kind = "client_wordpiece"

    def __init__(self, vocabulary: Sequence[str], *, tokenize_as: str, **settings):
        super().__init__(vocabulary, **settings)
        self.tokenize_as = checked_client(tokenize_as)
        if reason := client_refusal(self.get_config(), self.vocabulary):
            raise KerasBertError(f"expected a vocabulary that {tokenize_as} reads, received {reason}")

    @classmethod
    def of(cls, tokenizer: Tokenizer, client: str) -> "ClientWordPiece":
        """The tokenizer with the client's rules, and the same vocabulary and ids.

        Raises:
          KerasBertError: a tokenizer of another kind than WordPiece, or what the constructor refuses.
        """
        checked_client(client)
        if not isinstance(tokenizer, WordPiece):
            raise KerasBertError(
                f"expected a WordPiece vocabulary to tokenize as {client} does, received a {type(tokenizer).__name__}; "
                "the client knows no other, so take another checkpoint"
            )
        return cls.from_config({**tokenizer.get_config(), "kind": cls.kind, SETTING: client})

    def __repr__(self) -> str:
        return f"ClientWordPiece({self.vocabulary_size} tokens, as {self.tokenize_as})"

    @cached_property
    def _engine(self):
        return self._build_engine()  # which knows no special or added tokens in a text

    def _build_engine(self):
        from tokenizers import Regex, models, pre_tokenizers
        from tokenizers import Tokenizer as Engine

        # Pieces are found in bytes, each written as a character: a word's length counts bytes then. Tokens are whole characters, so it is
        # the same pieces that fit.
        spelled = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        ids = {_in_bytes(spelled, token): number for token, number in self._ids.items()}
        engine = Engine(models.WordPiece(ids, unk_token=self.unk_token, max_input_chars_per_word=LONGEST_WORD))
        engine.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(f"[{SPACE}]"), "removed"),
                pre_tokenizers.Split(Regex(ClientRules.of(self.tokenize_as).pattern), "isolated"),
                spelled,
            ]
        )
        return engine

    def _token_ids(self, texts: list[str]) -> list[list[int]]:
        return super()._token_ids([client_text(text) for text in texts])

    def _segments(self, texts: list[str]) -> list:
        return super()._segments([client_text(text) for text in texts])

    def _settings(self) -> dict:
        return {**super()._settings(), SETTING: self.tokenize_as}

    def _file_settings(self) -> dict:
        return {**super()._file_settings(), SETTING: self.tokenize_as}

    @classmethod
    def _read_files(cls, folder: Path) -> dict:
        client = tokenizer_files.read_tokenizer_config(folder).get(SETTING)
        return {**super()._read_files(folder), SETTING: client}


def checked_client(client: object) -> str:
    """Raises KerasBertError for what is not among `CLIENTS`."""
    if client not in CLIENTS:
        raise KerasBertError(f"expected {' or '.join(CLIENTS)} as the client to tokenize as, received {client!r}")
    return client


def client_refusal(config: Mapping, vocabulary: Sequence[str] | None) -> str:
    """Why the clients cannot tokenize for a model with this tokenizer; empty where they can.

    Args:
      config: the tokenizer's `get_config()`; a "vocabulary" in it does not matter.
      vocabulary: the tokens.
    """
    kind = config.get("kind", WordPiece.kind)
    if not vocabulary:
        return "no vocabulary"
    if kind not in (WordPiece.kind, ClientWordPiece.kind):
        return f"a {_KINDS.get(kind, kind)} tokenizer, where the clients know WordPiece only"
    if kind == WordPiece.kind and not config.get("lowercase", True):
        return "a cased vocabulary, where the clients lower every text"
    for role in ("unk_token", "cls_token", "sep_token"):
        token, known = config.get(role, WordPiece.special_names[role]), WordPiece.special_names[role]
        if token != known:
            return f"{token!r} as {role}, where the clients know {known!r} only"
    if "" in vocabulary:
        return (
            f"an empty token with id {list(vocabulary).index('')}, which the clients leave out: all ids behind it shift"
        )
    return ""


_KINDS = {"sentencepiece": "SentencePiece", "byte_level_bpe": "byte-level BPE", "japanese": "Japanese"}


def _in_bytes(spelled, token: str) -> str:
    return "".join(piece for piece, _ in spelled.pre_tokenize_str(token))
