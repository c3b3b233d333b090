"""A class for every token."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.dense import Dense
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.points import ActivationPoint
from kerasbert.tasks.base import Task
from kerasbert.tasks.text_classifier import hub_labels, labels_of, numbered


@keras.utils.register_keras_serializable("kerasbert")
class TokenTagger(Task):
    """A dense on every token (Devlin et al. 2018, section 5.3). Calling it gives logits (B, S, labels)."""

    architecture = "ForTokenClassification"
    labelled = True
    heads = ("token_classifier",)
    output_name = "probabilities"
    problem = "tagging"
    per_token = True

    def __init__(self, encoder: Encoder, tokenizer=None, labels=(), sequence_length: int | None = None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.labels = labels_of(labels)
        config, policy = encoder.config, encoder.policy
        self.dropout = keras.layers.Dropout(getattr(config, "classifier_dropout_prob", config.hidden_dropout_prob))
        self.token_classifier_input = ActivationPoint(policy, "classifier.input")
        self.token_classifier = Dense(
            len(self.labels), self.token_classifier_input, policy, "classifier", initializer=normal(config)
        )
        self._create_variables()

    @classmethod
    def settings_of(cls, config, folder):
        return hub_labels(cls, config)

    def hub_config(self):
        return numbered(self.labels)

    def call(self, inputs, training=None, layout: GraphLayout = TRAINING_LAYOUT):
        x = self.dropout(self.encoder(inputs, training=training, layout=layout).sequence, training=training)
        logits = self.token_classifier(self.token_classifier_input(x, training=training), training=training)
        return tf.cast(logits, tf.float32)

    def serve(self, inputs, layout: GraphLayout = TRAINING_LAYOUT):
        return {self.output_name: tf.nn.softmax(self(inputs, training=False, layout=layout))}

    def get_config(self):
        return {**super().get_config(), "labels": list(self.labels)}
