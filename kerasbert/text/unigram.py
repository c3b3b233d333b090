"""The base of tokenizers with a SentencePiece model of type unigram: the most likely segmentation of a text."""

import base64
import binascii
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

from kerasbert.errors import KerasBertError
from kerasbert.text.sentencepiece_model import read_model
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.vocabulary import VocabularySettings, check_not_a_path

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine
    from tokenizers.decoders import Decoder
    from tokenizers.normalizers import Normalizer


class UnigramTokenizer(Tokenizer):
    """The most likely segmentation of a unigram model (Kudo 2018, arXiv:1804.10959). A subclass has the normalization and the scores.

    Args:
        model: The content of a SentencePiece model of type unigram, its pieces in the order of their ids.
        remove_space: Split at all white space. False splits at runs of spaces only.
        **common: Special tokens, `added_tokens` and `model_max_length`; see `Tokenizer`.

    Raises:
        KerasBertError: When the model is damaged or not unigram, a piece is a duplicate, or a special token has no piece.
    """

    mask_takes_space = True

    def __init__(self, model: bytes, *, remove_space: bool = True, **common: Unpack[VocabularySettings]) -> None:
        if not isinstance(model, bytes | bytearray | memoryview):
            check_not_a_path(model, f"the content of a {self.files['model'].name} as bytes")
            raise KerasBertError(
                f"expected the content of a {self.files['model'].name} as bytes, received {type(model).__name__}"
            )
        self.model = bytes(model)
        self._pieces = read_model(self.model)
        self._check_pieces()
        known = set(self._pieces.pieces)
        added = [token["content"] for token in common.get("added_tokens", ())]
        super().__init__([*self._pieces.pieces, *(token for token in added if token not in known)], **common)
        self.remove_space = bool(remove_space)
        self.word_spaces = " \n" if self.remove_space else " "

    @classmethod
    def from_config(cls, config: Mapping) -> Self:
        """Build a tokenizer from the result of `get_config`. Its `model` is the file in base64.

        Args:
            config: The result of `get_config`.

        Returns:
            The tokenizer.

        Raises:
            KerasBertError: When the config is that of another kind, or its vocabulary differs from that of the model.
        """
        arguments = dict(config)
        vocabulary = arguments.pop("vocabulary", None)
        try:
            arguments["model"] = base64.b64decode(arguments.get("model", ""), validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise KerasBertError("expected the SentencePiece model as base64, received something else") from None
        tokenizer = super().from_config(arguments)
        if vocabulary is not None and tokenizer.vocabulary != tuple(vocabulary):
            raise KerasBertError(
                f"expected the vocabulary of the SentencePiece model, {tokenizer.vocabulary_size} pieces, "
                f"received another one of {len(vocabulary)}"
            )
        return tokenizer

    def _check_pieces(self) -> None:
        """Raise an error when the pieces are not those of this kind."""

    def _scores(self) -> list[tuple[str, float]]:
        """Return the pieces and their scores, as the engine takes them."""
        raise NotImplementedError

    def _normalizer(self) -> "Normalizer":
        raise NotImplementedError

    def _build_engine(self) -> "Engine":
        import tokenizers
        from tokenizers import Regex, models, normalizers, pre_tokenizers

        engine = tokenizers.Tokenizer(models.Unigram(self._scores(), self._pieces.unk_id, False))
        words = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        if self.remove_space:
            engine.normalizer = self._normalizer()
            engine.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
        else:
            one_space = normalizers.Replace(Regex(" {2,}"), " ")
            engine.normalizer = normalizers.Sequence([self._normalizer(), one_space])
            engine.pre_tokenizer = words
        return engine

    def _decoder(self) -> "Decoder":
        from tokenizers import decoders

        return decoders.Metaspace()

    def _settings(self) -> dict[str, Any]:
        return {"model": base64.b64encode(self.model).decode("ascii"), **super()._settings()}

    @classmethod
    def _read_files(cls, folder: TokenizerFolder) -> dict[str, Any]:
        content = super()._read_files(folder)["model"]
        try:
            pieces = read_model(content).pieces
        except KerasBertError as error:
            raise KerasBertError(f"{os.path.join(folder.path, cls.files['model'].name)}: {error}") from None
        return {"model": base64.b64encode(content).decode("ascii"), "vocabulary": list(pieces)}
