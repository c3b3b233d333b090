"""Extractive question answering: a question and a text to the part of the text that answers it."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.data.dataset import examples_of, labels_of
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.processors.gold_answers import right_answers
from kerasbert.processors.labelled_outputs import LabelledOutputs
from kerasbert.processors.question_answering import QuestionAnswering
from kerasbert.tasks import inputs as task_inputs
from kerasbert.tasks.base import Task
from kerasbert.tasks.inference import Report
from kerasbert.text import Tokenizer

_SETTINGS = ("stride", "longest_answer", "n_best", "no_answer", "no_answer_threshold", "unit")  # of the processor


@keras.utils.register_keras_serializable("kerasbert")
class QuestionAnswerer(Task):
    """The start and the end of an answer (Devlin et al. 2018, section 4.2).

    Calling it returns `start_logits` and `end_logits`, `(batch, length)` each. `fit`, `predict` and `score` take questions with contexts;
    see `kerasbert.processors.question_answering.QuestionAnswering`.

    Args:
        encoder: The encoder.
        tokenizer: The tokenizer, or None for packed inputs only.
        sequence_length: Tokens in the longest row. By default 384, or the positions of the encoder if these are fewer.
        stride: See `QuestionAnswering`, as the following settings.
        longest_answer: Tokens of the longest answer.
        n_best: Number of spans that a prediction lists.
        no_answer: Whether a question may have no answer. None: the first `fit` on texts sets it, by whether some questions have none, and
            prints a note if so. The checkpoints of other libraries do not tell whether they were trained so.
        no_answer_threshold: See `choose_threshold`.
        unit: Unit of the metrics, "word" or "character".
        head: A head of your own, which returns logits `(batch, length, 2)` of start and end; see `Task`.
        head_settings: Its arguments.
        kwargs: Arguments of `keras.Model`.

    Raises:
        KerasBertError: When a setting cannot be used.

    Example:
        ```python
        questions = kb.data.read_squad("questions.json", max_rows=16)
        answerer = kb.QuestionAnswerer.from_pretrained("small-en", sequence_length=48)
        answerer.compile(optimizer=kb.adamw(5e-4))
        answerer.fit(questions)
        answerer.predict([("Where did Ada move?", "Ada moved to Lima and stayed.")])[0]["answer"]
        ```
    """

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: Tokenizer | None = None,
        sequence_length: int | None = None,
        stride: int | None = None,
        longest_answer: int = 30,
        n_best: int = 20,
        no_answer: bool | None = None,
        no_answer_threshold: float = 0.0,
        unit: str = "word",
        head: str | None = None,
        head_settings: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        default_length = min(QuestionAnswering.default_length, encoder.config.longest)
        length = default_length if sequence_length is None else sequence_length
        super().__init__(encoder, tokenizer, length, head, head_settings, **kwargs)
        self.stride, self.longest_answer, self.n_best = stride, longest_answer, n_best
        self.no_answer, self.no_answer_threshold, self.unit = no_answer, no_answer_threshold, unit
        _ = self.processor  # reports wrong settings at once
        self.add_head(2)
        self._create_variables()

    def call(self, inputs: dict[str, tf.Tensor], training: bool | None = None) -> dict[str, tf.Tensor]:
        logits = self.logits(inputs, training)  # (B, S, 2)
        # Not `logits[..., 0]`: GPU delegates support no slice that drops an axis.
        start, end = tf.split(logits, 2, axis=-1)  # (B, S, 1)
        return {"start_logits": tf.squeeze(start, -1), "end_logits": tf.squeeze(end, -1)}

    @property
    def processor(self) -> QuestionAnswering:
        return QuestionAnswering(
            **{**self._settings(), "no_answer": False if self.no_answer is None else self.no_answer}
        )

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SETTINGS}

    def compile(self, optimizer: Any = "adam", loss: Any = None, metrics: Any = None, **kwargs: Any) -> None:
        """Configure training. The default loss is the mean of the losses of both outputs.

        Args:
            optimizer: An optimizer of tf_keras or Keras 3, or its name.
            loss: A loss, or a dict of losses by output name; None takes the task's own.
            metrics: Metrics, or a dict of lists by output name; None takes the task's own.
            kwargs: Other arguments of tf_keras' `compile`, such as `loss_weights`.

        Raises:
            KerasBertError: When a loss or a metric is of Keras 3, or tf_keras does not have the optimizer.
        """
        if loss is None and kwargs.get("loss_weights") is None:
            kwargs["loss_weights"] = dict.fromkeys(self.processor.outputs, 0.5)
        super().compile(optimizer, loss, metrics, **kwargs)

    def default_loss(self) -> dict[str, keras.losses.Loss]:
        return {name: keras.losses.SparseCategoricalCrossentropy(from_logits=True) for name in self.processor.outputs}

    def default_metrics(self) -> dict[str, list[keras.metrics.Metric]]:
        return {name: [keras.metrics.SparseCategoricalAccuracy("accuracy")] for name in self.processor.outputs}

    def fit(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(x, dict | tf.data.Dataset):
            self._learn_no_answer(x, y)
        return super().fit(x, y, *args, **kwargs)

    def _learn_no_answer(self, x: Any, y: Any) -> None:
        """Set `no_answer` by the training data if it is undecided, and print a line where both do not fit."""
        y = labels_of(x, y)
        if y is None:
            return
        answers = right_answers(y, self.processor.examples(examples_of(x)))
        unanswered = sum(not each for each in answers)
        share = f"{unanswered:,} of {len(answers):,} training questions have no answer"
        if self.no_answer is None:
            self.no_answer = unanswered > 0
            if unanswered:
                note(f"note: {share}: no_answer is on, so that the model may give none")
        elif unanswered and not self.no_answer:
            note(f"note: {share}, but no_answer is off: the model will always give one")
        elif self.no_answer and not unanswered:
            note(
                "note: every training question has an answer, so the model does not learn to give none, though no_answer is on"
            )

    def tune(self, outputs: LabelledOutputs, keep: float | None = None) -> dict[str, Any]:
        if not self.no_answer or all(right_answers(outputs.y, outputs.examples)):
            return {}
        self.no_answer_threshold, _ = self.processor.best_threshold(*outputs)
        return {"no_answer_threshold": self.no_answer_threshold}

    def choose_threshold(
        self, x: Any, y: Any = None, batch_size: int | None = None, report: Report | None = None
    ) -> float:
        """Set `no_answer_threshold` to the value with the highest F1 on this data, and `no_answer` to True.

        Args:
            x: Questions with contexts, or a dataset.
            y: Answers; None takes those of the dataset.
            batch_size: Rows in a batch.
            report: Called with the number of finished rows and of all rows.

        Returns:
            The highest F1.

        Raises:
            KerasBertError: When there are no answers.
        """
        examples, features = self._examples(x, scoring=True)
        y = labels_of(x, y)
        if y is None:
            raise KerasBertError("expected answers to choose a threshold by, received none; pass them as y")
        raw_results = self.raw_results(features, task_inputs.rows_in_batch(batch_size), report)
        self.no_answer_threshold, best = self.processor.best_threshold(y, examples, features, raw_results)
        self.no_answer = True
        return best

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._settings()}
