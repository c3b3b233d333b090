"""SentencePiece, the tokenizer of ALBERT."""

import base64
import binascii
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self, Unpack

from kerasbert.errors import KerasBertError
from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.corpus import SAMPLED, Corpus, sample
from kerasbert.text.letter_case import check_letter_case, choose_letter_case
from kerasbert.text.sentencepiece_model import read_model
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.tokenizer_files import TokenizerFolder
from kerasbert.text.vocabulary import VocabularySettings, check_not_a_path
from kerasbert.text.vocabulary_learning import learn_sentencepiece

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine
    from tokenizers.decoders import Decoder
    from tokenizers.normalizers import Normalizer

_SPACES = re.compile(r"(?= )")  # places at which a long text may be cut


class SentencePiece(Tokenizer):
    """ALBERT's tokenizer (Lan et al. 2019, arXiv:1909.11942): the most likely segmentation of a unigram model (Kudo 2018).

    The ids equal those of the `tokenizer.json` that is published with the ALBERT checkpoints. Hugging Face's former `AlbertTokenizer` used
    SentencePiece's own library. The ids differ from that library as follows:

    - A special token's name inside a text is that token. `[MASK]` includes the space before it.
    - Pieces such as "9," are made unlikely (-100). The library splits them afterwards.
    - Ties between equally likely segmentations may be broken differently.
    - A word that consists of accents and marks is dropped.

    In transformers 4, an `AlbertTokenizerFast` from a `spiece.model` also has a token for a space at the end of a text.

    Args:
        model: The content of a `spiece.model` of type unigram.
        lowercase: Lowercase the text.
        keep_accents: Keep accents.
        remove_space: Split at all white space. False splits at runs of spaces only.
        **common: Special tokens (default "<unk>", "[CLS]", "[SEP]", "<pad>", "[MASK]"), `added_tokens` and `model_max_length`; see
            `Tokenizer`.

    Raises:
        KerasBertError: When the model is damaged or not unigram, a piece is a duplicate, or a special token has no piece.

    Example:
        ```python
        from kerasbert.text import SentencePiece
        tokenizer = SentencePiece.train(texts, vocabulary_size=100)
        tokenizer.encode(["the film was dull"], max_length=32).input_ids
        ```
    """

    kind = "sentencepiece"
    special_names = {**tokenizer_files.BERT_SPECIAL_TOKENS, "unk_token": "<unk>", "pad_token": "<pad>"}
    config_keys = tokenizer_keys.SENTENCEPIECE
    flags = {"do_lower_case": "lowercase", "keep_accents": "keep_accents", "remove_space": "remove_space"}
    files, hub_class = tokenizer_files.SENTENCEPIECE_FILES, "AlbertTokenizer"
    mask_takes_space = True

    def __init__(
        self,
        model: bytes,
        *,
        lowercase: bool = True,
        keep_accents: bool = False,
        remove_space: bool = True,
        **common: Unpack[VocabularySettings],
    ) -> None:
        if not isinstance(model, bytes | bytearray | memoryview):
            check_not_a_path(model, "the content of a spiece.model as bytes")
            raise KerasBertError(f"expected the content of a spiece.model as bytes, received {type(model).__name__}")
        self.model = bytes(model)
        self._pieces = read_model(self.model)
        known = set(self._pieces.pieces)
        added = [token["content"] for token in common.get("added_tokens", ())]
        super().__init__([*self._pieces.pieces, *(token for token in added if token not in known)], **common)
        self.lowercase = bool(lowercase)
        self.keep_accents = bool(keep_accents)
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

    @classmethod
    def train(
        cls, texts: Iterable[str], vocabulary_size: int, lowercase: bool = True, keep_accents: bool = False
    ) -> Self:
        """Learn a unigram model from texts. Training is deterministic.

        SentencePiece holds its texts in memory. Of more than 50 million characters, texts of that many are drawn, each with the same
        chance, and the others are not kept.

        Args:
            texts: The texts, of any iterable. It is read once.
            vocabulary_size: The maximum number of pieces, the five special ones included.
            lowercase: Lowercase the texts, in training and when encoding.
            keep_accents: Keep accents, in training and when encoding.

        Returns:
            A tokenizer with that model.

        Raises:
            KerasBertError: When the texts contain no word, an entry is not a text, or the texts have more characters than
                `vocabulary_size`.
        """
        normalizer, corpus = _build_normalizer(lowercase, keep_accents, b""), Corpus(texts)
        drawn = sample(map(normalizer.normalize_str, corpus.pieces(_SPACES)), SAMPLED)
        corpus.check_words(any(map(str.strip, drawn)))  # a normalizer may remove all characters
        return cls(learn_sentencepiece(drawn, vocabulary_size), lowercase=lowercase, keep_accents=keep_accents)

    def _build_engine(self) -> "Engine":
        import tokenizers
        from tokenizers import Regex, models, normalizers, pre_tokenizers

        engine = tokenizers.Tokenizer(models.Unigram(self._pieces.albert_scores(), self._pieces.unk_id, False))
        normalizer = _build_normalizer(self.lowercase, self.keep_accents, self._pieces.charsmap)
        words = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        if self.remove_space:
            engine.normalizer = normalizer
            engine.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
        else:
            engine.normalizer = normalizers.Sequence([normalizer, normalizers.Replace(Regex(" {2,}"), " ")])
            engine.pre_tokenizer = words
        return engine

    def _decoder(self) -> "Decoder":
        from tokenizers import decoders

        return decoders.Metaspace()

    def _settings(self) -> dict[str, Any]:
        return {"model": base64.b64encode(self.model).decode("ascii"), **super()._settings()}

    @classmethod
    def _with_letter_case(cls, settings: dict[str, Any], folder: str | os.PathLike) -> dict[str, Any]:
        vocabulary = settings["vocabulary"]
        if "lowercase" in settings:
            check_letter_case(vocabulary, settings["lowercase"], not settings.get("keep_accents", False), folder)
            return settings
        lowercase, strip_accents = choose_letter_case(vocabulary, folder)
        return {"lowercase": lowercase, "keep_accents": not strip_accents, **settings}

    @classmethod
    def _read_files(cls, folder: TokenizerFolder) -> dict[str, Any]:
        content = super()._read_files(folder)["model"]
        try:
            pieces = read_model(content).pieces
        except KerasBertError as error:
            raise KerasBertError(f"{folder.path / tokenizer_files.SENTENCEPIECE}: {error}") from None
        return {"model": base64.b64encode(content).decode("ascii"), "vocabulary": list(pieces)}


def _build_normalizer(lowercase: bool, keep_accents: bool, charsmap: bytes) -> "Normalizer":
    from tokenizers import normalizers

    steps: list[Normalizer] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not keep_accents:
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if lowercase:
        steps.append(normalizers.Lowercase())
    if charsmap:
        steps.append(normalizers.Precompiled(charsmap))
    return normalizers.Sequence(steps)
