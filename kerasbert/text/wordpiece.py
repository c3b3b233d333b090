"""WordPiece: text to the token ids of a BERT checkpoint, as Hugging Face's `BertTokenizerFast` makes them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from kerasbert.text import tokenizer_files
from kerasbert.text.strings import as_strings
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.vocabulary_learning import SPECIAL_TOKENS, learn_vocabulary


class WordPiece(Tokenizer):
    """BERT's tokenizer (Devlin et al. 2019, arXiv:1810.04805): words, then greedy longest match in a vocabulary.

    Args:
      vocabulary: the tokens; a token's place is its id. Continuations start with `##`. One may be empty, as in
        bert-base-japanese-v3: it keeps its id and no text has it.
      lowercase: lower the text; False for cased checkpoints.
      strip_accents: remove accents; None does so exactly when `lowercase` is on.
      tokenize_chinese_chars: make every CJK ideograph a word of its own.
      **common: special tokens ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]" unless named), `added_tokens` and
        `model_max_length`, see `Tokenizer`.

    Raises:
      KerasBertError: a vocabulary with a duplicate, a line break or an empty last token, or without a special token.
    """

    kind = "wordpiece"
    special_names = tokenizer_files.BERT_SPECIAL_TOKENS
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
        **common,
    ):
        super().__init__(vocabulary, **common)
        self.lowercase = bool(lowercase)
        self.strip_accents = strip_accents if strip_accents is None else bool(strip_accents)
        self.tokenize_chinese_chars = bool(tokenize_chinese_chars)

    @classmethod
    def train(
        cls, texts: Iterable[str], vocabulary_size: int, lowercase: bool = True, min_frequency: int = 2
    ) -> "WordPiece":
        """Learns a vocabulary from texts.

        Args:
          texts: the texts, one string each.
          vocabulary_size: the most tokens to end with, the five special ones included; fewer if the texts hold fewer.
          lowercase: lower the texts, now and when encoding.
          min_frequency: a word piece must occur so often to become a token.

        Raises:
          KerasBertError: no texts, a row that is not a text, or fewer tokens asked for than the texts have characters.
        """
        rows = as_strings(texts)
        engine = cls(SPECIAL_TOKENS, lowercase=lowercase)._engine
        return cls(learn_vocabulary(engine, rows, vocabulary_size, min_frequency), lowercase=lowercase)

    def __repr__(self) -> str:
        return f"WordPiece({self.vocabulary_size} tokens, {'uncased' if self.lowercase else 'cased'})"

    def _build_engine(self):
        from tokenizers import Tokenizer as Engine
        from tokenizers import models, normalizers, pre_tokenizers

        model = models.WordPiece(self._model_ids(), unk_token=self.unk_token, max_input_chars_per_word=100)
        engine = Engine(model)
        engine.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=self.tokenize_chinese_chars,
            strip_accents=self.strip_accents,
            lowercase=self.lowercase,
        )
        engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        return engine

    def _settings(self) -> dict:
        return {name: getattr(self, name) for name in self.flags.values()}

    def _file_settings(self) -> dict:
        return {"tokenizer_class": "BertTokenizer"}

    def _write_files(self, folder: Path) -> None:
        tokenizer_files.write_vocabulary(folder / tokenizer_files.VOCABULARY, self._vocabulary)

    @classmethod
    def _read_files(cls, folder: Path) -> dict:
        return {"vocabulary": tokenizer_files.read_vocabulary(folder / tokenizer_files.VOCABULARY)}
