"""WordPiece, the tokenizer of BERT; its ids equal those of Hugging Face's `BertTokenizerFast`."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack

from kerasbert.text import tokenizer_files, tokenizer_keys
from kerasbert.text.corpus import Corpus
from kerasbert.text.letter_case import check_letter_case, choose_letter_case
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.vocabulary import VocabularySettings
from kerasbert.text.vocabulary_learning import SPECIAL_TOKENS, counted_words, learn_wordpiece

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine


class WordPieceSettings(VocabularySettings, total=False):
    """The keyword arguments of `WordPiece`."""

    lowercase: bool
    strip_accents: bool | None
    tokenize_chinese_chars: bool


class WordPiece(Tokenizer):
    """BERT's tokenizer (Devlin et al. 2019, arXiv:1810.04805): words, then greedy longest match in the vocabulary.

    Args:
        vocabulary: The tokens in the order of their ids. Continuations start with `##`. One token may be empty, as in
            bert-base-japanese-v3: it keeps its id, and no text contains it.
        lowercase: Lowercase the text; False for cased checkpoints.
        strip_accents: Remove accents. None follows `lowercase`.
        tokenize_chinese_chars: Make each CJK ideograph a word of its own.
        **common: Special tokens (default "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"), `added_tokens` and `model_max_length`; see
            `Tokenizer`.

    Raises:
        KerasBertError: When a token is a duplicate or contains a line break, the last one is empty, or a special token is missing.

    Example:
        ```python
        from kerasbert.text import WordPiece
        tokenizer = WordPiece.train(texts, vocabulary_size=200)
        tokenizer.encode(["the film was dull"], max_length=16).input_ids
        ```
    """

    kind = "wordpiece"
    special_names = tokenizer_files.BERT_SPECIAL_TOKENS
    config_keys = tokenizer_keys.WORDPIECE
    files, hub_class = tokenizer_files.WORDPIECE_FILES, "BertTokenizer"
    word_spaces, splits_punctuation = " \n", True
    flags = {
        "do_lower_case": "lowercase",
        "strip_accents": "strip_accents",
        "tokenize_chinese_chars": "tokenize_chinese_chars",
    }

    def __init__(
        self,
        vocabulary: Sequence[str],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        **common: Unpack[VocabularySettings],
    ) -> None:
        super().__init__(vocabulary, **common)
        self.lowercase = bool(lowercase)
        self.strip_accents = strip_accents if strip_accents is None else bool(strip_accents)
        self.tokenize_chinese_chars = self.splits_ideographs = bool(tokenize_chinese_chars)

    @classmethod
    def train(cls, texts: Iterable[str], vocabulary_size: int, lowercase: bool = True, min_frequency: int = 2) -> Self:
        """Learn a vocabulary from texts. Training is deterministic, and keeps the number of each word only.

        Chinese ideographs are words, so that the vocabulary has each of them alone. It has the most frequent 1,000 characters, or as many
        more as make up 99.95 % of the text, as of Chinese.

        Args:
            texts: The texts, of any iterable. It is read once.
            vocabulary_size: The maximum number of tokens, the five special ones included.
            lowercase: Lowercase the texts, in training and when encoding.
            min_frequency: The minimum number of occurrences of a token.

        Returns:
            A tokenizer with that vocabulary.

        Raises:
            KerasBertError: When there are no texts, an entry is not a text, or the texts have more characters than `vocabulary_size`.
        """
        untrained, corpus = cls(SPECIAL_TOKENS, lowercase=lowercase), Corpus(texts)
        words = counted_words(untrained._engine, corpus.pieces(untrained._word_ends))
        corpus.check_words(words)
        return cls(learn_wordpiece(words, vocabulary_size, min_frequency), lowercase=lowercase)

    def __repr__(self) -> str:
        return f"WordPiece({self.vocabulary_size} tokens, {'uncased' if self.lowercase else 'cased'})"

    def _build_engine(self) -> "Engine":
        import tokenizers
        from tokenizers import models, normalizers, pre_tokenizers

        model = models.WordPiece(self.model_ids(), unk_token=self.unk_token, max_input_chars_per_word=100)
        engine = tokenizers.Tokenizer(model)
        engine.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.tokenize_chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.lowercase,
        )
        engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return engine

    def effective_config(self) -> dict[str, Any]:
        strip_accents = self.lowercase if self.strip_accents is None else self.strip_accents
        return {**super().effective_config(), "strip_accents": strip_accents}

    @classmethod
    def _with_letter_case(cls, settings: dict[str, Any], folder: str | os.PathLike) -> dict[str, Any]:
        vocabulary = settings["vocabulary"]
        if "lowercase" in settings:
            lowercase = settings["lowercase"]
            check_letter_case(vocabulary, lowercase, settings.get("strip_accents", lowercase), folder)
            return settings
        lowercase, strip_accents = choose_letter_case(vocabulary, folder)
        return {
            "lowercase": lowercase,
            "strip_accents": None if lowercase == strip_accents else strip_accents,
            **settings,
        }
