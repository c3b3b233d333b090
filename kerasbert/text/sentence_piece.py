"""SentencePiece, the tokenizer of ALBERT."""

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self, Unpack

from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.corpus import SAMPLED, Corpus, sample
from kerasbert.text.letter_case import check_letter_case, choose_letter_case
from kerasbert.text.unigram import UnigramTokenizer
from kerasbert.text.vocabulary import VocabularySettings
from kerasbert.text.vocabulary_learning import learn_sentencepiece

if TYPE_CHECKING:
    from tokenizers.normalizers import Normalizer

_SPACES = re.compile(r"(?= )")  # places at which a long text may be cut


class SentencePiece(UnigramTokenizer):
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

    def __init__(
        self,
        model: bytes,
        *,
        lowercase: bool = True,
        keep_accents: bool = False,
        remove_space: bool = True,
        **common: Unpack[VocabularySettings],
    ) -> None:
        super().__init__(model, remove_space=remove_space, **common)
        self.lowercase = bool(lowercase)
        self.keep_accents = bool(keep_accents)

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

    def _scores(self) -> list[tuple[str, float]]:
        return self._pieces.albert_scores()

    def _normalizer(self) -> "Normalizer":
        return _build_normalizer(self.lowercase, self.keep_accents, self._pieces.charsmap)

    @classmethod
    def _with_letter_case(cls, settings: dict[str, Any], folder: str | os.PathLike) -> dict[str, Any]:
        vocabulary = settings["vocabulary"]
        if "lowercase" in settings:
            check_letter_case(vocabulary, settings["lowercase"], not settings.get("keep_accents", False), folder)
            return settings
        lowercase, strip_accents = choose_letter_case(vocabulary, folder)
        return {"lowercase": lowercase, "keep_accents": not strip_accents, **settings}


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
