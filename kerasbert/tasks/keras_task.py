"""Keras' fit, evaluate and predict on examples, datasets of `kerasbert.data`, packed inputs and `tf.data` pipelines."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerasbert.arguments import check_whole_number
from kerasbert.data.dataset import labels_of
from kerasbert.encoders.summary import input_spec, show_summary
from kerasbert.errors import KerasBertError
from kerasbert.optimizers.fit_schedule import begin_fit, check_rate_callbacks
from kerasbert.processors import Features
from kerasbert.sharing import ThreadLock
from kerasbert.tasks import inputs as task_inputs, string_datasets
from kerasbert.tasks.class_weight import class_weights_by_number
from kerasbert.tasks.compiling import CompilingModel
from kerasbert.tasks.forks import check_not_forked
from kerasbert.tasks.keras3 import check_tf_keras
from kerasbert.tasks.validation_split import check_share, split_off


class KerasTask(CompilingModel):
    """The part of every task between Keras' model and the task: it needs `features`, `processor` and `serve`.

    The forward pass is traced without autograph: no branch depends on a tensor's value, and tracing is faster. Losses and metrics are
    traced as Keras does it.

    Threads take turns in `predict`, and in `fit` and `evaluate`: Keras keeps the state of a call in the model.
    """

    _predict_lock: ThreadLock
    _compiled_lock: ThreadLock

    @tf.autograph.experimental.do_not_convert
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not args and "inputs" in kwargs:
            args = (kwargs.pop("inputs"),)
        if args:
            args = (task_inputs.called_inputs(args[0], type(self).__name__), *args[1:])
        return super().__call__(*args, **kwargs)

    @tf.autograph.experimental.do_not_convert
    def predict_step(self, data: Any) -> tf.Tensor:
        return self.serve(data[0] if isinstance(data, tuple) else data)[self.output_name]

    def encode_labels(self, y: Sequence | np.ndarray) -> Any:
        """Encode the labels of texts with one row each as the loss takes them.

        Args:
            y: One label for each text, in any form that the task's processor takes.

        Returns:
            The labels as an array, or in the form that the task's processor returns.

        Raises:
            KerasBertError: When a label cannot be used.
        """
        return self.processor.encode_labels(y, range(len(y)), Features(None, np.arange(len(y))))

    def encode_targets(self, y: Any, examples: Any, features: Features) -> Any:
        """Encode labels as the loss takes them, one a row; see `Processor.encode_labels`.

        Args:
            y: The labels, or None.
            examples: The examples, a list or an array.
            features: Their features.

        Returns:
            What the processor returns, or None where there is nothing to learn from.
        """
        return None if y is None else self.processor.encode_labels(y, examples, features)

    def summary(self, **options: Any) -> None:
        """Print the layers with their output shapes and parameters, as Keras does for a functional model.

        Args:
            options: Keras' `line_length`, `print_fn`, `expand_nested`, `show_trainable` and `layer_range`; see
                `kerasbert.encoders.summary.show_summary`.
        """
        rank = 3 if self.grouped else 2

        def call(inputs: dict[str, tf.Tensor]) -> tuple:
            return self(inputs, training=False), self.serve(inputs)

        show_summary(self, call, input_spec(rank), **options)

    def dataset(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int = 0,
    ) -> tf.data.Dataset:
        """Return the batches that `fit` reads: texts tokenized once, rows of similar length together, padded to their longest.

        Args:
            x: Examples, a dataset or packed inputs.
            y: Labels; None takes those of the dataset.
            batch_size: Rows in a batch.
            shuffle: Whether each epoch has another order, fixed by `seed`.
            sample_weight: One weight for each example.
            seed: Random seed of the orders.

        Returns:
            A dataset of packed inputs, or of tuples with encoded labels and sample weights where there are any.

        Raises:
            KerasBertError: When an example or a label cannot be used.
        """
        return self._dataset(
            x,
            y,
            task_inputs.rows_in_batch(batch_size),
            shuffle,
            sample_weight,
            check_whole_number(seed, "a seed", least=0),
        )

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        shuffle: bool = True,
        validation_data: Any = None,
        sample_weight: Any = None,
        seed: int | None = None,
        start: tuple[int, int] | None = None,
        validation_split: float = 0.0,
        **kwargs: Any,
    ) -> Any:
        """Train the task. Rows of similar length share a batch.

        A schedule of `kb.adamw` without `steps=` has the steps of this call. The batches of a dataset of unknown size are counted first.

        Args:
            x: Examples, a dataset, packed inputs or a `tf.data.Dataset`.
            y: Labels; None takes those of the dataset.
            batch_size: Rows in a batch; by default 32.
            epochs: The epoch to end with.
            shuffle: Whether each epoch has another order.
            validation_data: A dataset, or examples with labels and perhaps sample weights.
            sample_weight: One weight for each example.
            seed: Random seed of the orders; by default from NumPy's global generator.
            start: The epoch, and the number of its batches to skip, to resume a training; both count from 0.
            validation_split: The fraction of the examples, the last ones, that becomes `validation_data`.
            kwargs: Other arguments of Keras' `fit`. Keys of `class_weight` are names or numbers of labels; missing ones weigh 1.

        Returns:
            Keras' `History`.

        Raises:
            KerasBertError: When there are no labels, or an example, a label or a callback cannot be used.
        """
        check_tf_keras("callbacks", kwargs.get("callbacks"))
        if kwargs.get("class_weight") is not None:
            kwargs["class_weight"] = class_weights_by_number(self.labels, self.processor.name, kwargs["class_weight"])
        task_inputs.check_containers(x, y)
        check_rate_callbacks(self, kwargs.get("callbacks"))
        self.learn_form(x)
        epochs = check_whole_number(epochs, "epochs", least=0)
        seed = None if seed is None else check_whole_number(seed, "a seed", least=0)
        if check_share(validation_split) and validation_data is None:
            x, y, sample_weight, validation_data = split_off(self, x, y, sample_weight, validation_split)
        size = task_inputs.rows_in_batch(batch_size)
        seed = int(np.random.randint(2**31)) if seed is None else seed
        start = start or (kwargs.get("initial_epoch", 0), 0)
        with self._compiled_lock.held, string_datasets.own_errors():
            data = self._dataset(x, y, size, shuffle, sample_weight, seed, start)
            if isinstance(data.element_spec, dict):
                raise KerasBertError("expected labels for the texts, received none; pass them as y")
            if validation_data is not None:
                validation_size = kwargs.pop("validation_batch_size", None) or size
                validation_data = self._validation_dataset(validation_data, validation_size)
            self._start = start
            self.begin_fit(data, epochs, start, kwargs.get("steps_per_epoch"))
            return super().fit(data, epochs=epochs, validation_data=validation_data, **kwargs)

    def begin_fit(self, data: tf.data.Dataset, epochs: int, start: tuple[int, int], steps: int | None) -> None:
        """Tell schedules the number of steps of a `fit` that begins. `fit` calls it.

        Args:
            data: The batches of an epoch.
            epochs: The epoch to end with.
            start: The epoch to begin with, and the number of its batches to skip.
            steps: The number of steps of an epoch, if it is not that of the batches.
        """
        begin_fit(self, data, epochs, start, steps)

    def learn_form(self, x: Any) -> None:
        """Note whether the training data is pairs of texts, for a task that reads both. `fit` calls it.

        Args:
            x: The training data, as `fit` takes it.
        """

    def _validation_dataset(self, data: Any, batch_size: int) -> tf.data.Dataset:
        """Return the batches of `validation_data`: a dataset, or a tuple of examples, labels and sample weights."""
        if not isinstance(data, tuple | list) or not data or isinstance(data[0], str):
            return self._dataset(data, None, batch_size)
        if len(data) not in (2, 3):
            raise KerasBertError(
                f"expected validation_data as (texts, labels) or (texts, labels, weights), received {len(data)} parts; pass these"
            )
        x, y, *weights = data
        return self._dataset(x, y, batch_size, sample_weight=weights[0] if weights else None)

    def _maybe_load_initial_counters_from_ckpt(self, steps_per_epoch: int, initial_epoch: int) -> Any:
        """Return the epoch and the step at which Keras starts to count: those of `fit`, else those of Keras' own recovery."""
        if any(self._start):
            return self._start
        return super()._maybe_load_initial_counters_from_ckpt(steps_per_epoch, initial_epoch)

    def evaluate(
        self, x: Any = None, y: Any = None, batch_size: int | None = None, sample_weight: Any = None, **kwargs: Any
    ) -> Any:
        """Compute the loss and the compiled metrics. `score` computes the task's own metrics.

        Args:
            x: Examples, a dataset, packed inputs or a `tf.data.Dataset`.
            y: Labels; None takes those of the dataset.
            batch_size: Rows in a batch; by default 32.
            sample_weight: One weight for each example.
            kwargs: Other arguments of Keras' `evaluate`, such as `return_dict=True`.

        Returns:
            The loss, followed by the compiled metrics if there are any; a dict with `return_dict=True`.

        Raises:
            KerasBertError: When an example or a label cannot be used.
        """
        with self._compiled_lock.held, string_datasets.own_errors():
            return super().evaluate(
                self._dataset(x, y, task_inputs.rows_in_batch(batch_size), sample_weight=sample_weight), **kwargs
            )

    def predict(self, x: Any, batch_size: int | None = None, verbose: int = 0, **kwargs: Any) -> Any:
        """Predict on examples, packed inputs or a pipeline.

        Args:
            x: Examples, a dataset, packed inputs or a `tf.data.Dataset`.
            batch_size: Rows in a batch; by default 32.
            verbose: As in Keras.
            kwargs: Other arguments of Keras' `predict`.

        Returns:
            For texts, one prediction for each; for a task that `predicts_arrays`, an array of outputs. For packed inputs and `tf.data`
            pipelines, the output `output_name` of `serve`.

        Raises:
            KerasBertError: When the processor rejects an example.
        """
        check_not_forked()
        display: Any = verbose  # Keras accepts numbers and "auto"; its annotation has the latter only
        if isinstance(x, tf.data.Dataset):
            with self._predict_lock.held, string_datasets.own_errors():
                data = string_datasets.tokenized(self, x, task_inputs.rows_in_batch(batch_size), inputs_only=True)
                return super().predict(data, verbose=display, **kwargs)
        if not (self.predicts_arrays or task_inputs.is_packed(x)):
            return self.predictions(x, batch_size)
        return self.predict_features(self.features(x)[1], batch_size, verbose, **kwargs)

    def predict_features(
        self, features: Features, batch_size: int | None = None, verbose: int = 0, **kwargs: Any
    ) -> np.ndarray:
        """Predict on tokenized examples.

        Args:
            features: The rows.
            batch_size: Rows in a batch; by default 32.
            verbose: As in Keras.
            kwargs: Other arguments of Keras' `predict`.

        Returns:
            The output `output_name` of `serve`, in the order of the rows.
        """
        check_not_forked()
        display: Any = verbose
        rank = 2 if features.group == 1 else 3
        data, order = task_inputs.batches(
            self, features, batch_size=task_inputs.rows_in_batch(batch_size), full=self.per_token, inputs_only=True
        )
        with self._predict_lock.held:
            if getattr(self, "_predicted_rank", rank) != rank:  # Keras would trace one graph of unknown rank for both
                self.predict_function = None
            self._predicted_rank = rank
            results = super().predict(data, verbose=display, **kwargs)
        restored = np.empty_like(results)
        restored[order.order] = results
        return restored

    def _dataset(
        self,
        x: Any,
        y: Any,
        batch_size: int,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int = 0,
        start: tuple[int, int] = (0, 0),
    ) -> tf.data.Dataset:
        check_not_forked()
        if isinstance(x, tf.data.Dataset):
            return string_datasets.tokenized(self, x, batch_size, seed=seed if shuffle else None)
        task_inputs.check_containers(x, y)
        y = labels_of(x, y)
        examples, features = self.features(x)
        labels = self.encode_targets(y, features.example if examples is None else examples, features)
        data, _ = task_inputs.batches(
            self, features, labels, sample_weight, batch_size=batch_size, shuffle=shuffle, seed=seed, start=start
        )
        spec: Any = data.element_spec
        return data if len(spec) > 1 else data.map(lambda inputs: inputs)
