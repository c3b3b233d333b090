"""A text with gaps to the words that fill them."""

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.heads import masked_lm_head
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.processors import IGNORED
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.tasks.base import Task


@keras.utils.register_keras_serializable("kerasbert")
class MaskedLM(Task):
    """Masked language modelling (Devlin et al. 2018, section 3.1). Calling it gives logits (B, S, V).

    share, whole_words, top: see `kerasbert.processors.masked_lm.MaskedWords`. `fit(texts)` takes words out anew in every epoch,
    `score(texts)` always the same ones, and `predict(texts)` fills the gaps of texts that have the tokenizer's mask token in them.

    Inputs may hold `places`, int (N, 2): (row, token) of the only logits that are wanted, which then are (N, V). Training and scoring ask
    for those of the masked tokens, so the largest product by far, that with the whole vocabulary, is made for 15 % of the tokens.
    """

    architecture = "ForMaskedLM"
    heads = ("masked_lm",)
    output_name = "logits"
    per_token = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer=None,
        sequence_length: int | None = None,
        share: float = 0.15,
        whole_words: bool = False,
        top: int = 5,
        **kwargs,
    ):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.share, self.whole_words, self.top = share, whole_words, top
        _ = self.processor  # wrong settings are told now
        self.masked_lm = masked_lm_head(encoder.config, encoder.policy)
        self._create_variables()

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        sequence = self.encoder(inputs, training=training, layout=layout).sequence
        if "positions" in inputs:
            sequence = tf.gather_nd(sequence, inputs["positions"])  # (N, H)
        return self.masked_lm(sequence, self.encoder.embeddings.word, training=training)

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        return {self.output_name: self(inputs, training=False, layout=layout)}

    def train_step(self, data):
        return super().train_step(masked_only(data))

    def test_step(self, data):
        return super().test_step(masked_only(data))

    def _raw_results_of(self, inputs, features, index):
        if not len(features.alignment):
            return super()._raw_results_of(inputs, features, index)
        if not hasattr(self, "_served_positions"):
            self._served_positions = tf.function(self.serve, reduce_retracing=True, autograph=False)
        tokens = [features.alignment[row].index for row in index]
        counts = [len(each) for each in tokens]
        positions = np.stack([np.repeat(np.arange(len(index)), counts), np.concatenate(tokens)], axis=1).astype(
            np.int32
        )
        logits = self._served_positions({**inputs, "positions": tf.constant(positions)})[self.output_name].numpy()
        parts = np.split(logits, np.cumsum(counts)[:-1])
        processor = self.processor
        return [processor.raw_result_at(part, features, int(row)) for part, row in zip(parts, index, strict=True)]

    def _examples(self, x, scoring=False):
        examples, features = super()._examples(x, scoring)
        if not scoring:
            self.processor.check_masks(examples, features)
        return examples, features

    @property
    def processor(self) -> MaskedWords:
        return MaskedWords(share=self.share, whole_words=self.whole_words, top=self.top)

    def default_loss(self):
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def default_metrics(self):
        return [keras.metrics.SparseCategoricalAccuracy("masked_accuracy")]

    def get_config(self):
        return {**super().get_config(), "share": self.share, "whole_words": self.whole_words, "top": self.top}


def masked_only(data):
    """A batch whose targets (B, S) are `IGNORED` but for few tokens, as those tokens' places, targets (N,) and weights (N,)."""
    inputs, targets, weights = keras.utils.unpack_x_y_sample_weight(data)
    if targets is None:
        return data
    alignment = tf.where(targets != IGNORED)
    weights = None if weights is None else tf.gather(weights, alignment[:, 0])
    return {**inputs, "positions": alignment}, tf.gather_nd(targets, alignment), weights
