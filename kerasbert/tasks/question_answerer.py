"""A question and a text to the part of the text that answers it."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.layers.dense import Dense
from kerasbert.layers.graph import TRAINING_LAYOUT, GraphLayout
from kerasbert.layers.initializers import normal
from kerasbert.layers.points import ActivationPoint
from kerasbert.tasks.base import Task


@keras.utils.register_keras_serializable("kerasbert")
class QuestionAnswerer(Task):
    """Where an answer starts and ends (Devlin et al. 2018, section 4.2). Calling it gives `start_logits` and `end_logits`, (B, S) each."""

    architecture = "ForQuestionAnswering"
    heads = ("qa_outputs",)
    output_name = "start_logits"
    problem = "question_answering"
    per_token = True

    def __init__(self, encoder: Encoder, tokenizer=None, sequence_length: int | None = None, **kwargs):
        super().__init__(encoder, tokenizer, sequence_length, **kwargs)
        self.qa_outputs_input = ActivationPoint(encoder.policy, "classifier.input")
        self.qa_outputs = Dense(
            2, self.qa_outputs_input, encoder.policy, "classifier", initializer=normal(encoder.config)
        )
        self._create_variables()

    def call(self, inputs, training=None, layout: GraphLayout = TRAINING_LAYOUT) -> dict[str, tf.Tensor]:
        x = self.encoder(inputs, training=training, layout=layout).sequence
        logits = tf.cast(self.qa_outputs(self.qa_outputs_input(x, training=training), training=training), tf.float32)
        return {"start_logits": logits[..., 0], "end_logits": logits[..., 1]}

    def serve(self, inputs, layout: GraphLayout = TRAINING_LAYOUT):
        return self(inputs, training=False, layout=layout)
