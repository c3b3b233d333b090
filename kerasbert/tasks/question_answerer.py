"""A question and a text to the part of the text that answers it."""

import tensorflow as tf
import tf_keras as keras

from kerasbert.data.table import is_table
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.layers.dense import truncated_normal
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizer
from kerasbert.layers.quantization.dense import make_dense
from kerasbert.layers.quantization.tie_ranges import tie_sequence
from kerasbert.processors.question_answering.gold_answers import right_answers
from kerasbert.processors.question_answering.processor import QuestionAnswering
from kerasbert.tasks.base import Task


@keras.utils.register_keras_serializable("kerasbert")
class QuestionAnswerer(Task):
    """Where an answer starts and ends (Devlin et al. 2018, section 4.2). Calling it gives `start_logits` and `end_logits`, (B, S) each.

    `fit`, `predict` and `score` take questions with contexts, see
    `kerasbert.processors.question_answering.processor.QuestionAnswering`, also for the settings
    stride, longest_answer, n_best, no_answer, no_answer_threshold and unit.

    sequence_length: by default 384, or what the encoder has positions for. no_answer: None is decided by the first `fit` on texts: True
    where some of its questions have no answer.
    """

    architecture = "ForQuestionAnswering"
    heads = ("qa_outputs",)
    output_name = "start_logits"
    per_token = True
    soft_loss = "token_softmax"

    def __init__(
        self,
        encoder: Encoder,
        tokenizer=None,
        sequence_length: int | None = None,
        stride: int | None = None,
        longest_answer: int = 30,
        n_best: int = 20,
        no_answer: bool | None = None,
        no_answer_threshold: float = 0.0,
        unit: str = "word",
        **kwargs,
    ):
        length = (
            min(QuestionAnswering.default_length, encoder.config.longest)
            if sequence_length is None
            else sequence_length
        )
        super().__init__(encoder, tokenizer, length, **kwargs)
        self.stride, self.longest_answer, self.n_best = stride, longest_answer, n_best
        self.no_answer, self.no_answer_threshold, self.unit = no_answer, no_answer_threshold, unit
        _ = self.processor  # wrong settings are told now
        self.qa_outputs_input = activation_quantizer(encoder.policy, "classifier.input")
        tie_sequence(encoder, self.qa_outputs_input)
        self.qa_outputs = make_dense(
            2, self.qa_outputs_input, encoder.policy, "classifier", initializer=truncated_normal(encoder.config)
        )
        self._create_variables()

    def call(self, inputs, training=None, layout: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        x = self.encoder(inputs, training=training, layout=layout).sequence
        logits = tf.cast(self.qa_outputs(self.qa_outputs_input(x, training=training), training=training), tf.float32)
        # Not `logits[..., 0]`: GPU delegates take no slice that drops an axis.
        start, end = tf.split(logits, 2, axis=-1)
        return {"start_logits": tf.squeeze(start, -1), "end_logits": tf.squeeze(end, -1)}

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS):
        return self(inputs, training=False, layout=layout)

    @property
    def processor(self) -> QuestionAnswering:
        return QuestionAnswering(**{**self._settings(), "no_answer": bool(self.no_answer)})

    def _settings(self) -> dict:
        names = ("stride", "longest_answer", "n_best", "no_answer", "no_answer_threshold", "unit")
        return {name: getattr(self, name) for name in names}

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """Keras' compile; by default the loss is the mean of those of both outputs."""
        if loss is None and kwargs.get("loss_weights") is None:
            kwargs["loss_weights"] = dict.fromkeys(self.processor.outputs, 0.5)
        super().compile(optimizer, loss, metrics, **kwargs)

    def default_loss(self):
        return {name: keras.losses.SparseCategoricalCrossentropy(from_logits=True) for name in self.processor.outputs}

    def default_metrics(self):
        return {name: [keras.metrics.SparseCategoricalAccuracy("accuracy")] for name in self.processor.outputs}

    def fit(self, x=None, y=None, *args, **kwargs):
        if self.no_answer is None and not isinstance(x, dict | tf.data.Dataset):
            self.no_answer = self._has_unanswerable(x, y)
        return super().fit(x, y, *args, **kwargs)

    def _has_unanswerable(self, x, y) -> bool | None:
        """Whether some questions have no answer; None without answers."""
        y = x.y if y is None and is_table(x) else y
        if y is None:
            return None
        return not all(right_answers(y, self.processor.examples(x.x if is_table(x) else x)))

    def choose_threshold(self, x, y=None, batch_size: int | None = None, report=None) -> float:
        """Sets `no_answer_threshold` to what gives the highest F1 on this data, and `no_answer` to True; returns that F1.

        Raises KerasBertError for data without answers.
        """
        examples, features = self._examples(x, scoring=True)
        y = x.y if y is None and is_table(x) else y
        if y is None:
            raise KerasBertError("expected answers to choose a threshold by, received none")
        raw_results = self.raw_results(features, batch_size or 32, report)
        self.no_answer_threshold, best = self.processor.best_threshold(y, examples, features, raw_results)
        self.no_answer = True
        return best

    def get_config(self):
        return {**super().get_config(), **self._settings()}
