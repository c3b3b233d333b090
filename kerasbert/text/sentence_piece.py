"""SentencePiece: text to the token ids of an ALBERT checkpoint."""

import base64
import binascii
from collections.abc import Iterable, Mapping
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.files.atomic import atomic_file
from kerasbert.text import tokenizer_files
from kerasbert.text.sentencepiece_model import read_model
from kerasbert.text.strings import as_strings
from kerasbert.text.tokenizer import Tokenizer
from kerasbert.text.vocabulary_learning import learn_sentencepiece


class SentencePiece(Tokenizer):
    """ALBERT's tokenizer (Lan et al. 2019, arXiv:1909.11942): the likeliest pieces of a unigram model (Kudo 2018).

    The ids are those of the `tokenizer.json` published with the ALBERT checkpoints. From SentencePiece's own library
    (behind Hugging Face's former `AlbertTokenizer`) they differ in these points: a special token's name inside a text
    is that token, `[MASK]` with the space before it; a number and a comma are kept apart by making pieces such as
    "9," unlikely (-100), not by splitting the piece afterwards; of two equally likely ways another may be taken; a
    word of nothing but accents and marks vanishes. Where transformers 4 read a `spiece.model` into its
    `AlbertTokenizerFast`, a space at the end of a text is a token there and none here.

    Args:
      model: the content of a `spiece.model` of type unigram.
      lowercase: lower the text.
      keep_accents: leave accents on.
      remove_space: split at every kind of white space; False splits at spaces only, several count as one.
      **common: special tokens ("<unk>", "[CLS]", "[SEP]", "<pad>", "[MASK]" unless named), `added_tokens` and
        `model_max_length`, see `Tokenizer`.

    Raises:
      KerasBertError: a model that is damaged or not unigram, a duplicate piece, or no piece for a special token.
    """

    kind = "sentencepiece"
    special_names = {**tokenizer_files.BERT_SPECIAL_TOKENS, "unk_token": "<unk>", "pad_token": "<pad>"}
    flags = {"do_lower_case": "lowercase", "keep_accents": "keep_accents", "remove_space": "remove_space"}
    mask_takes_space = True

    def __init__(
        self,
        model: bytes,
        *,
        lowercase: bool = True,
        keep_accents: bool = False,
        remove_space: bool = True,
        **common,
    ):
        self.model = bytes(model)
        self._pieces = read_model(self.model)
        further = [token["content"] for token in common.get("added_tokens", ())]
        further = [token for token in further if token not in set(self._pieces.pieces)]
        super().__init__([*self._pieces.pieces, *further], **common)
        self.lowercase = bool(lowercase)
        self.keep_accents = bool(keep_accents)
        self.remove_space = bool(remove_space)

    @classmethod
    def from_config(cls, config: Mapping) -> "SentencePiece":
        """The tokenizer that `get_config` described; its `model` is the file in base64.

        Raises:
          KerasBertError: a config of another kind, or a vocabulary that is not that of the model.
        """
        config = dict(config)
        vocabulary = config.pop("vocabulary", None)
        try:
            config["model"] = base64.b64decode(config.get("model", ""), validate=True)
        except (binascii.Error, TypeError, ValueError):
            raise KerasBertError("expected the SentencePiece model as base64, received something else") from None
        tokenizer = super().from_config(config)
        if vocabulary is not None and tokenizer.vocabulary != tuple(vocabulary):
            raise KerasBertError(
                f"expected the vocabulary of the SentencePiece model, {tokenizer.vocabulary_size} pieces, "
                f"received another one of {len(vocabulary)}"
            )
        return tokenizer

    @classmethod
    def train(
        cls, texts: Iterable[str], vocabulary_size: int, lowercase: bool = True, keep_accents: bool = False
    ) -> "SentencePiece":
        """Learns a unigram model from texts, the same one for the same texts on every run.

        Args:
          texts: the texts, one string each.
          vocabulary_size: the most pieces to end with, the five special ones included; fewer if the texts hold fewer.
          lowercase: lower the texts, now and when encoding.
          keep_accents: leave accents on, now and when encoding.

        Raises:
          KerasBertError: texts without a word, a row that is not a text, or fewer pieces asked for than characters.
        """
        rows = [_normalizer(lowercase, keep_accents, b"").normalize_str(text) for text in as_strings(texts)]
        return cls(learn_sentencepiece(rows, vocabulary_size), lowercase=lowercase, keep_accents=keep_accents)

    def _build_engine(self):
        from tokenizers import Regex, models, normalizers, pre_tokenizers
        from tokenizers import Tokenizer as Engine

        engine = Engine(models.Unigram(self._pieces.albert_scores(), self._pieces.unk_id, False))
        normalizer = _normalizer(self.lowercase, self.keep_accents, self._pieces.charsmap)
        words = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
        if self.remove_space:
            engine.normalizer = normalizer
            engine.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
        else:
            engine.normalizer = normalizers.Sequence([normalizer, normalizers.Replace(Regex(" {2,}"), " ")])
            engine.pre_tokenizer = words
        return engine

    def _settings(self) -> dict:
        settings = {name: getattr(self, name) for name in self.flags.values()}
        return {"model": base64.b64encode(self.model).decode("ascii"), **settings}

    def _file_settings(self) -> dict:
        return {"tokenizer_class": "AlbertTokenizer"}

    def _write_files(self, folder: Path) -> None:
        with atomic_file(folder / tokenizer_files.SENTENCEPIECE) as partial:
            partial.write_bytes(self.model)

    @classmethod
    def _read_files(cls, folder: Path) -> dict:
        path = folder / tokenizer_files.SENTENCEPIECE
        content = tokenizer_files.read_bytes(path)
        try:
            pieces = read_model(content).pieces
        except KerasBertError as error:
            raise KerasBertError(f"{path}: {error}") from None
        return {"model": base64.b64encode(content).decode("ascii"), "vocabulary": list(pieces)}


def _normalizer(lowercase: bool, keep_accents: bool, charsmap: bytes):
    from tokenizers import normalizers

    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not keep_accents:
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if lowercase:
        steps.append(normalizers.Lowercase())
    if charsmap:
        steps.append(normalizers.Precompiled(charsmap))
    return normalizers.Sequence(steps)
