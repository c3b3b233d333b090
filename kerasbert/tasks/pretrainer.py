"""The pretraining tasks of BERT, ALBERT, MobileBERT and ELECTRA."""

from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.data.dataset import Dataset
from kerasbert.data.plain_text import OBJECTIVES, PlainText, pairs_from_text
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.heads.head import Head
from kerasbert.layers.blocks.heads import ReplacedTokenHead
from kerasbert.losses.tokens import TokenBinaryAccuracy, TokenBinaryCrossEntropy
from kerasbert.processors import Features
from kerasbert.processors.labelled_outputs import LabelledOutputs
from kerasbert.processors.pretraining import PretrainingPairs, ReplacedTokens
from kerasbert.tasks.inputs import is_packed
from kerasbert.tasks.pretraining_task import PretrainingObjective, PretrainingTask, masked_words
from kerasbert.text import Tokenizer

_WORDS = masked_words("prediction_logits")
_REPLACED = PretrainingObjective(
    "discriminator",
    "logits",
    lambda encoder: ReplacedTokenHead(encoder.config, encoder.policy),
    lambda head, encoder, encoded, positions, training: head(encoded.sequence, training=training),
    TokenBinaryCrossEntropy,
    lambda: TokenBinaryAccuracy("accuracy"),
)


def _pair_objective(output: str) -> PretrainingObjective:
    return PretrainingObjective(
        "next_sentence",
        output,
        lambda encoder: Head(
            encoder, 2, "pooled", "next_sentence", getattr(encoder.config, "classifier_dropout_prob", 0.0)
        ),
        lambda head, encoder, encoded, positions, training: head.logits(encoded, training=training),
    )


_PAIRS = {"next_sentence": _pair_objective("seq_relationship_logits"), "sentence_order": _pair_objective("sop_logits")}


@keras.utils.register_keras_serializable("kerasbert")
class Pretrainer(PretrainingTask):
    """Masked language modelling with next-sentence prediction (BERT, MobileBERT) or sentence order (ALBERT).

    See Devlin et al. 2018, section 3.1, and Lan et al. 2019, section 3.1. Calling it returns `prediction_logits`
    `(batch, length, vocabulary)`, and `seq_relationship_logits` (ALBERT: `sop_logits`) `(batch, 2)`; class 0 is the original pair.

    `fit`, `evaluate` and `score` take running text: a list of texts in which empty ones separate documents, a list of documents (lists of
    texts), or the result of `kb.data.read_text`. Half of the pairs of adjacent sentences are changed, the same ones in every epoch; see
    `kb.data.pairs_from_text`. They also take pairs of texts with labels. Other words are masked in every epoch. `predict` takes packed
    inputs only, and there is no file for applications: `kb.MaskedLM` and `kb.NextSentencePredictor` load the two heads from the folder.

    Inputs may have `positions`, as those of `MaskedLM`.

    Args:
        encoder: An encoder with a pooler.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        share: Fraction of the tokens that are masked; see `MaskedLM`.
        whole_words: Whether all tokens of a word are masked together.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the encoder has no pooler; see `Task`.

    Example:
        ```python
        pretrainer = kb.Pretrainer.from_pretrained("small-en", sequence_length=32)
        pretrainer.compile(optimizer=kb.adamw(1e-4))
        pretrainer.fit(["The hotel was fine. We stayed two nights.", "", "The soup was cold. I complained."])
        packed = pretrainer.pack(["The hotel was fine."], ["We stayed two nights."])
        pretrainer(packed)["seq_relationship_logits"]  # (1, 2)
        ```
    """

    pools = True
    not_exported = "kb.MaskedLM (--task masked-lm) and kb.NextSentencePredictor (--task next-sentence) load its heads from the same folder"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        share: float = 0.15,
        whole_words: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.objective = "sentence_order" if encoder.config.model_type == "albert" else "next_sentence"
        self.share, self.whole_words = share, whole_words
        self.make_heads()

    @property
    def objectives(self) -> tuple[PretrainingObjective, ...]:
        return _WORDS, _PAIRS[self.objective]

    @property
    def processor(self) -> PretrainingPairs:
        labels = OBJECTIVES[self.objective]
        return PretrainingPairs(labels, self.share, self.whole_words, pair_output=_PAIRS[self.objective].output)

    def fit(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        return super().fit(*self._pairs(x, y), *args, **kwargs)

    def labelled_outputs(self, x: Any, y: Any = None, *args: Any, **kwargs: Any) -> LabelledOutputs:
        return super().labelled_outputs(*self._pairs(x, y), *args, **kwargs)

    def predictions(self, x: Any, *args: Any, **kwargs: Any) -> list:
        return self.processor.predictions(
            (), Features(None, np.zeros(0, np.int64)), ()
        )  # an error that says what predicts

    def _dataset(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> tf.data.Dataset:
        return super()._dataset(*self._pairs(x, y), *args, **kwargs)

    def encode_targets(self, y: Any, examples: Any, features: Any) -> Any:
        if y is None:
            names = " or ".join(map(repr, OBJECTIVES[self.objective]))
            raise KerasBertError(
                f"expected labels of the pairs, {names}, received none; give them as y, or give documents instead of pairs"
            )
        return super().encode_targets(y, examples, features)

    def _pairs(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Make pairs and their labels of running text; other data are returned as they are."""
        if isinstance(x, tf.data.Dataset):
            if not isinstance(x.element_spec, tuple) or not isinstance(x.element_spec[0], dict):
                raise KerasBertError(
                    "expected texts as a list or of kb.data.read_text, received a tf.data.Dataset, whose documents are not known; give "
                    "lists, or packed inputs with labels"
                )
            return x, y
        if is_packed(x) or isinstance(x, Dataset) and not isinstance(x, PlainText):
            return x, y
        if not isinstance(x, PlainText):
            documents = _documents(x)
            if documents is None:
                return x, y
            x = documents
        if y is not None:
            raise KerasBertError(
                "expected documents alone, received labels with them; leave the labels out, or give pairs"
            )
        table = pairs_from_text(x, self.objective)
        return table.x, table.y

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "share": self.share, "whole_words": self.whole_words}


def _documents(x: Any) -> list[str] | None:
    """Return texts with empty ones between documents; None for pairs of texts."""
    rows = list(x) if isinstance(x, list) or hasattr(x, "__array__") else []
    if rows and all(isinstance(row, list) and all(isinstance(text, str) for text in row) for row in rows):
        return [text for row in rows for text in (*row, "")]
    return None if not rows or isinstance(rows[0], tuple | list) else rows


@keras.utils.register_keras_serializable("kerasbert")
class ReplacedTokenDetector(PretrainingTask):
    """Replaced token detection (ELECTRA, Clark et al. 2020, section 2). Calling it returns logits `(batch, length)`, positive for replaced
    tokens.

    `fit(texts)` replaces other tokens in every epoch, and `score(texts)` always the same ones, by tokens of the same batch. The paper takes
    the replacements from a small generator, which makes the task harder: for that, give packed inputs with the generator's tokens, and
    labels `(rows, length)`, 1 for replaced tokens, 0 for others and -100 where there is none. `predict(texts)` returns the tokens of each
    text with the probability that each was replaced. There is no file for applications.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        share: Fraction of the tokens that are replaced, special tokens not counted.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the sequence length or the vocabulary does not fit the encoder; see `Task`.

    Example:
        ```python
        detector = kb.ReplacedTokenDetector(encoder, task.tokenizer, sequence_length=32)
        detector.compile(optimizer=kb.adamw(1e-4))
        detector.fit(["the film was a joy", "a dull book"])
        detector.predict(["the film was a joy"])[0]["tokens"][0]
        ```
    """

    objectives = (_REPLACED,)
    not_exported = "convert a task that was trained from it, such as kb.TextClassifier.from_pretrained(folder)"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        share: float = 0.15,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.share = share
        self.make_heads()

    @property
    def processor(self) -> ReplacedTokens:
        return ReplacedTokens(share=self.share)

    @property
    def soft_loss(self) -> str:
        return "sigmoid"

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "share": self.share}
