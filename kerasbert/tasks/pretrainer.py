"""Pretraining on running text with one objective or several."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.arguments import check_whole_number
from kerasbert.checkpoints.name_tables import ARCHITECTURES
from kerasbert.data.dataset import Dataset
from kerasbert.data.plain_text import OBJECTIVES as PAIR_LABELS, PlainText, pairs_from_text
from kerasbert.data.text_stream import TextStream
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.electra import ElectraEncoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.traversal import named_variables
from kerasbert.processors import IGNORED, Features
from kerasbert.processors.labelled_outputs import LabelledOutputs
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.processors.pretraining import MaskedTexts, PretrainingPairs
from kerasbert.processors.pretraining_batches import DRAWS, PretrainingBatches
from kerasbert.processors.pretraining_rows import PAIRINGS
from kerasbert.tasks.generator import Generator, sample
from kerasbert.tasks.inputs import is_packed, rows_in_batch
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.tasks.pretraining_objectives import (
    MASKED_LM,
    OBJECTIVES,
    REPLACED_TOKENS,
    check_parts,
    objective_weights,
)
from kerasbert.tasks.pretraining_task import PretrainingObjective, PretrainingTask
from kerasbert.tasks.stream_batches import DEV_ROWS, stream_dataset
from kerasbert.tasks.string_datasets import own_errors
from kerasbert.text import Tokenizer
from kerasbert.values import Rule

_CORRUPTED = "corrupted"  # the output with the ids that the model read in place of the masks


@keras.utils.register_keras_serializable("kerasbert")
class Pretrainer(PretrainingTask):
    """Pretraining on running text. Calling it returns a dict of logits by objective; a single one returns its logits.

    | objective | output | learns |
    |---|---|---|
    | `masked-lm` | `prediction_logits` `(batch, length, vocabulary)` | the masked tokens (Devlin et al. 2018, section 3.1) |
    | `span-boundary` | `span_logits`, as those | them, from the tokens beside their span (Joshi et al. 2020, section 3.2) |
    | `next-sentence` | `seq_relationship_logits` `(batch, 2)` | whether the second segment follows the first (Devlin et al. 2018) |
    | `sentence-order` | `sop_logits` `(batch, 2)` | whether the segments are swapped (Lan et al. 2019, section 3.1) |
    | `replaced-tokens` | `logits` `(batch, length)` | which tokens a generator replaced (Clark et al. 2020) |

    Class 0 of pairs is the original pair. `replaced-tokens` trains a small generator with `masked-lm` beside the encoder. It shares the
    encoder's embeddings, and the encoder reads its samples in place of the masks.

    `fit` takes a `kb.data.TextStream` with `steps_per_epoch`, and never holds the texts in memory. It also takes a list of texts in which
    empty ones separate documents, a list of documents (lists of texts), or the result of `kb.data.read_text`; for pairs, half of those of
    adjacent sentences are then changed, the same ones in every epoch. `predict` takes packed inputs only, and there is no file for
    applications: `kb.MaskedLM` and `kb.NextSentencePredictor` load the two heads from the folder.

    Inputs may have `positions`, as those of `MaskedLM`.

    Args:
        encoder: The encoder. Pairs need one with a pooler.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Longest input in tokens, special tokens included; see `Task`.
        share: Fraction of the tokens that are masked; see `MaskedLM`.
        whole_words: Whether all tokens of a word are masked together, as `masking="words"`.
        objectives: Names, or weights by name. By default those of the architecture's paper: masked words with next sentences (BERT,
            MobileBERT) or sentence order (ALBERT), replaced tokens (ELECTRA), masked words (others). The default weight is 1, and 50 for
            replaced tokens.
        masking: What is masked together: `tokens`, `words`, `n-grams`, `spans` or `entities`; see `MaskedWords`.
        masks: The number of different masks of a row of a stream (static masking, 10 for BERT). None masks other tokens in every pass.
        generator_size: The width of the generator as a fraction of the encoder's.
        accumulate: The number of parts of a batch that are computed one after another.
        words_by: What finds the words of a stream: None for the tokenizer, `jieba` for Chinese, `spaces` for texts with a space between
            words; see `Tokenizer.token_words`.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When the encoder lacks a part that an objective reads, or settings exclude each other; see `Task`.

    Example:
        ```python
        pretrainer = kb.Pretrainer.from_pretrained("small-en", sequence_length=32, objectives={"masked-lm": 1.0}, masking="words")
        pretrainer.compile(optimizer=kb.adamw(1e-4))
        pretrainer.fit(kb.data.TextStream("texts.txt"), steps_per_epoch=4, batch_size=8)
        ```
    """

    pools = None
    not_exported = "kb.MaskedLM (--task masked-lm) and kb.NextSentencePredictor (--task next-sentence) load its heads from the same folder"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        share: float = 0.15,
        whole_words: bool = False,
        objectives: Mapping[str, Any] | Sequence[str] | None = None,
        masking: str | None = None,
        masks: int | None = None,
        generator_size: float = 0.25,
        accumulate: int = 1,
        words_by: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self._autocast = False  # 16 bits are too few for the draws of the generator; layers cast what they read
        weights = objective_weights(objectives, encoder.config.model_type)
        check_parts(weights, encoder)
        self.share, self.whole_words, self.masking = share, whole_words, masking
        self.masks = None if masks is None else check_whole_number(masks, "masks")
        self.accumulate = check_whole_number(accumulate, "accumulate")
        self.generator_size: float = Rule(float, above=0).check(generator_size, "a generator_size")
        self.words_by = words_by
        self._weights = self._no_dependency(weights)
        self.pairing = next((name for name in PAIRINGS if name in weights), None)
        self._objectives = self._no_dependency(tuple(self._objective(name) for name in weights))
        self.architecture, self.heads = self._hub_names()  # pyright: ignore[reportAttributeAccessIssue] (of this task)
        self.make_heads()

    def _objective(self, name: str) -> PretrainingObjective:
        """Return an objective; that of masked words is the generator's where there is one."""
        objective = OBJECTIVES[name]
        if name == MASKED_LM and self.has_generator:
            return replace(
                objective,
                head="generator",
                make=lambda encoder: Generator(encoder, self.generator_size),
                logits=lambda *_: tf.zeros(()),  # `call` computes them first
            )
        return objective

    def _hub_names(self) -> tuple[str, tuple[str, ...]]:
        """Return the end of transformers' class, and the heads that it has. A folder has other heads under kerasbert's names."""
        known = ARCHITECTURES[self.config.model_type].heads
        words = MASKED_LM in self.objective_weights and not self.has_generator and "masked_lm" in known
        own_pairing = "sentence-order" if self.config.model_type == "albert" else "next-sentence"
        pairs = self.pairing == own_pairing and "next_sentence" in known
        if words and pairs:
            return "ForPreTraining", ("masked_lm", "next_sentence")
        if self.has_generator and "discriminator" in known:
            return "ForPreTraining", ("discriminator",)
        if words:
            return "ForMaskedLM", ("masked_lm",)
        return ("ForNextSentencePrediction", ("next_sentence",)) if pairs else ("Model", ())

    @property
    def has_generator(self) -> bool:
        """Whether a generator replaces tokens."""
        return REPLACED_TOKENS in self._weights

    @property
    def objective_weights(self) -> dict[str, float]:
        """The weight of each objective."""
        return dict(self._weights)

    @property
    def objectives(self) -> tuple[PretrainingObjective, ...]:  # type: ignore[override]
        return self._objectives

    @property
    def trainable_variables(self) -> list[tf.Variable]:
        """The variables that objectives read: without those of a pooler where no pairs are learned."""
        variables = super().trainable_variables
        if self.pairing is not None or self.encoder.pooler is None:
            return variables
        unread = {id(variable) for variable in self.encoder.pooler.trainable_variables}
        return [variable for variable in variables if id(variable) not in unread]

    @property
    def processor(self) -> MaskedWords:
        settings = {
            "share": self.share, "whole_words": self.whole_words, "masking": self.masking, "mask_all": self.has_generator,
        }  # fmt: skip
        if self.pairing is None:
            return MaskedTexts(**settings)
        labels, output = PAIR_LABELS[self.pairing.replace("-", "_")], OBJECTIVES[self.pairing].output
        return PretrainingPairs(labels, **settings, pair_output=output)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        if len(self._weights) > 1 and set(self._weights.values()) != {1.0}:
            kwargs.setdefault(
                "loss_weights", {OBJECTIVES[name].output: weight for name, weight in self._weights.items()}
            )
        super().compile(*args, **kwargs)

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> Any:
        if not self.has_generator:
            return super().call(inputs, training)
        ids, positions = inputs["input_ids"], inputs.get("positions")
        words = self._logits["prediction_logits"].args[0](inputs, positions, training=training)
        if positions is not None:
            draws = inputs.get(DRAWS)
            if draws is None:  # a function of the batch alone, so that a resumed run draws the same
                seed = tf.stack([tf.reduce_sum(ids), tf.size(ids)])
                draws = tf.random.stateless_uniform(tf.shape(ids), seed)
            sampled = tf.cast(sample(words, tf.gather_nd(draws, positions)), ids.dtype)
            ids = tf.tensor_scatter_nd_update(ids, positions, sampled)
        outputs = super().call({**inputs, "input_ids": ids}, training)
        return {**outputs, "prediction_logits": words, _CORRUPTED: ids}

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        return super().compute_loss(x, *self.targets(x, y, y_pred), sample_weight)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> Any:
        return super().compute_metrics(x, *self.targets(x, y, y_pred), sample_weight)

    def targets(self, x: Any, y: Any, y_pred: Any) -> tuple[Any, Any]:
        """Return labels and outputs, with the labels of replaced tokens: a sample that equals the original is not replaced.

        Args:
            x: Inputs, as `masked_only` returns them.
            y: Labels.
            y_pred: What the call returned.

        Returns:
            The labels and the outputs that losses compare, by output.
        """
        if not self.has_generator:
            return y, y_pred
        outputs, labels = dict(y_pred), dict(y)
        corrupted = outputs.pop(_CORRUPTED)
        words = tf.cast(labels["prediction_logits"], corrupted.dtype)
        originals = tf.tensor_scatter_nd_update(x["input_ids"], x["positions"], words)
        replaced = tf.cast(corrupted != originals, tf.int32)
        labels[OBJECTIVES[REPLACED_TOKENS].output] = tf.where(x["attention_mask"] > 0, replaced, IGNORED)
        return labels, outputs

    @classmethod
    def pools_with(cls, settings: Mapping[str, Any], model_type: str) -> bool | None:
        weights = objective_weights(settings.get("objectives"), model_type)
        return True if any(name in weights for name in PAIRINGS) else None

    # -- data --------------------------------------------------------------------------------------------------------------------------

    def batches(
        self, texts: TextStream, batch_size: int, seed: int = 0, steps: int | None = None
    ) -> PretrainingBatches:
        """Return the batches of a stream, for `fit`.

        Args:
            texts: The texts.
            batch_size: Rows in a batch.
            seed: The seed of the order of files and rows, and of the masks.
            steps: Batches of an epoch of `fit`.

        Raises:
            KerasBertError: When the masks need entities that the files do not have.
        """
        output = "" if self.pairing is None else OBJECTIVES[self.pairing].output
        return PretrainingBatches(
            texts, self.processor, self.tokenizer, self.sequence_length, batch_size, seed, steps=steps, pairing=self.pairing,
            pair_output=output, draws=self.has_generator, masks=self.masks, words_by=self.words_by,
        )  # fmt: skip

    def fit(self, x: Any = None, y: Any = None, batch_size: int | None = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(x, TextStream):
            if kwargs.get("steps_per_epoch") is None:
                raise KerasBertError(
                    "expected steps_per_epoch= for a text stream, received none; give the batches after which dev data are evaluated"
                )
            seed = kwargs.get("seed")
            steps = check_whole_number(kwargs["steps_per_epoch"], "steps_per_epoch")
            x = self.batches(x, rows_in_batch(batch_size), 0 if seed is None else seed, steps)
        if isinstance(x, PretrainingBatches):
            kwargs["steps_per_epoch"] = x.steps
            start = kwargs.get("start") or (kwargs.get("initial_epoch", 0), 0)
            first = start[0] * (x.steps or 0) + start[1]
            with own_errors():
                return super().fit(stream_dataset(x, first), y, batch_size, *args, **kwargs)
        return super().fit(*self._pairs(x, y), batch_size, *args, **kwargs)

    def labelled_outputs(self, x: Any, y: Any = None, *args: Any, **kwargs: Any) -> LabelledOutputs:
        if self.has_generator:
            raise KerasBertError(
                "expected objectives without a generator for score, received replaced-tokens; evaluate returns its losses and accuracies"
            )
        return super().labelled_outputs(*self._pairs(x, y), *args, **kwargs)

    def predictions(self, x: Any, *args: Any, **kwargs: Any) -> list:
        return self.processor.predictions(
            (), Features(None, np.zeros(0, np.int64)), ()
        )  # an error that says what predicts

    def _dataset(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> tf.data.Dataset:
        if isinstance(x, TextStream):
            x = self.batches(x, args[0])
        if isinstance(x, PretrainingBatches):
            return stream_dataset(x, rows=DEV_ROWS)
        return super()._dataset(*self._pairs(x, y), *args, **kwargs)

    def encode_targets(self, y: Any, examples: Any, features: Any) -> Any:
        if y is None and self.pairing is not None:
            names = " or ".join(map(repr, self.processor.labels or ()))
            raise KerasBertError(
                f"expected labels of the pairs, {names}, received none; give them as y, or give documents instead of pairs"
            )
        return super().encode_targets(y, examples, features)

    def _pairs(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Make pairs and their labels of running text where an objective needs them; other data are returned as they are."""
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
        if self.pairing is None:
            return (x if isinstance(x, PlainText) else [text for text in x if text.strip()]), None
        table = pairs_from_text(x, self.pairing.replace("-", "_"))
        return table.x, table.y

    def save_generator(self, folder: str | os.PathLike) -> None:
        """Save the generator as a masked language model, which transformers opens as `ElectraForMaskedLM`.

        Args:
            folder: The folder.

        Raises:
            KerasBertError: When the task has no generator, or the folder has other files.
        """
        if not self.has_generator:
            raise KerasBertError(
                "expected a task that learns replaced-tokens, received one without a generator; use save_pretrained"
            )
        generator = self._logits["prediction_logits"].args[0]
        encoder = ElectraEncoder(generator.encoder.config, pooler=False)
        model = MaskedLM(encoder, self._tokenizer, self.sequence_length)
        for layer, source in ((model.encoder, generator.encoder), (model.masked_lm, generator.masked_lm)):
            values = named_variables(source)
            for path, variable in named_variables(layer).items():
                variable.assign(tf.cast(values[path], variable.dtype))
        model.save_pretrained(folder)

    def get_config(self) -> dict[str, Any]:
        settings = {
            "share": self.share, "whole_words": self.whole_words, "objectives": self.objective_weights, "masking": self.masking,
            "masks": self.masks, "generator_size": self.generator_size, "accumulate": self.accumulate, "words_by": self.words_by,
        }  # fmt: skip
        return {**super().get_config(), **settings}


def _documents(x: Any) -> list[str] | None:
    """Return texts with empty ones between documents; None for pairs of texts."""
    rows = list(x) if isinstance(x, list) or hasattr(x, "__array__") else []
    if rows and all(isinstance(row, list) and all(isinstance(text, str) for text in row) for row in rows):
        return [text for row in rows for text in (*row, "")]
    return None if not rows or isinstance(rows[0], tuple | list) else rows
