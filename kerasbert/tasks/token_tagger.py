"""A tag for every word of a sentence."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.dropout import Dropout
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import SOFTMAX_RANGE, activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.layers.quantization.tie_ranges import tie_sequence
from kerasbert.losses import CrossEntropy
from kerasbert.processors import IGNORED
from kerasbert.processors.token_classification.processor import Tagging
from kerasbert.tasks.base import Task
from kerasbert.tasks.text_classifier import hub_labels, labels_of, numbered


@keras.utils.register_keras_serializable("kerasbert")
class TokenTagger(Task):
    """A dense on every token (Devlin et al. 2018, section 5.3). Calling it gives logits (B, S, labels).

    `fit`, `predict` and `score` take sentences of words, or raw texts, with tags or entities: see
    `kerasbert.processors.token_classification.processor.Tagging`,
    also for the setting stride. Of packed inputs, y is int (rows, length), -100 at tokens without a class.

    labels: names of the tags in the order of the logits.
    """

    architecture = "ForTokenClassification"
    labelled = True
    heads = ("token_classifier",)
    output_name = "probabilities"
    per_token = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer=None,
        labels=(),
        sequence_length: int | None = None,
        stride: int | None = None,
        **kwargs,
    ):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.labels, self.stride = labels_of(labels), stride
        if len(self.labels) < 2 or len(set(self.labels)) < len(self.labels):
            raise KerasBertError(
                f"expected two or more different labels, received {', '.join(self.labels) or 'none'}: name the tags with labels="
            )
        _ = self.processor  # wrong settings are told now
        config, policy = encoder.config, encoder.policy
        self.dropout = Dropout(getattr(config, "classifier_dropout_prob", config.hidden_dropout_prob))
        self.token_classifier_input = activation_quantizer(policy, "classifier.input")
        tie_sequence(encoder, self.token_classifier_input)
        self.token_classifier = make_dense(
            len(self.labels), self.token_classifier_input, policy, "classifier", initializer=truncated_normal(config)
        )
        self.answer_quantizer = activation_quantizer(integer_part(encoder.policy), "answer", fixed_range=SOFTMAX_RANGE)
        self._create_variables()

    @classmethod
    def from_pretrained(
        cls, name_or_path, labels=None, sequence_length: int | None = None, stride: int | None = None, **sizes
    ) -> "TokenTagger":
        """From a checkpoint folder or hub name. A checkpoint without a head for tokens needs `labels`, and gets a new head.

        sizes: see `Task.from_pretrained`.

        Raises KerasBertError for damaged or mismatching files, when nothing names the labels, and when they and the checkpoint's head
        differ in number.
        """
        return super().from_pretrained(
            name_or_path, labels=labels, sequence_length=sequence_length, stride=stride, **sizes
        )

    @classmethod
    def settings_of(cls, config, folder):
        return hub_labels(cls, config)

    def hub_config(self):
        return numbered(self.labels)

    @property
    def processor(self) -> Tagging:
        return Tagging(self.labels, self.stride)

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS):
        x = self.dropout(self.encoder(inputs, training=training, layout=layout).sequence, training=training)
        logits = self.token_classifier(self.token_classifier_input(x, training=training), training=training)
        return tf.cast(logits, tf.float32)

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS):
        return {self.output_name: self.answer_quantizer(tf.nn.softmax(self(inputs, training=False, layout=layout)))}

    def default_loss(self):
        return CrossEntropy()

    def default_metrics(self):
        return [TaggedAccuracy("accuracy")]

    def get_config(self):
        return {**super().get_config(), "labels": list(self.labels), "stride": self.stride}


@keras.utils.register_keras_serializable("kerasbert")
class TaggedAccuracy(keras.metrics.SparseCategoricalAccuracy):
    """Share of places whose class is the likeliest, of those that are not -100."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        tagged, classes = _tagged(y_true)
        weights = tf.cast(tagged, tf.float32)
        if sample_weight is not None:
            weights *= _by_place(sample_weight)
        return super().update_state(classes, y_pred, weights)


def _tagged(y_true) -> tuple[tf.Tensor, tf.Tensor]:
    """Which places have a class, and classes, 0 where there is none; (B, S)."""
    y_true = tf.cast(y_true, tf.int32)
    tagged = tf.not_equal(y_true, IGNORED)
    return tagged, tf.where(tagged, y_true, 0)


def _by_place(sample_weight) -> tf.Tensor:
    weights = tf.cast(sample_weight, tf.float32)
    return weights[:, tf.newaxis] if weights.shape.rank == 1 else weights
