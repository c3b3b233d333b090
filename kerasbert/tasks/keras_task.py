"""Keras' compile, fit, evaluate and predict on what users hold: texts, tables, packed inputs, datasets."""

import importlib
from typing import Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.data.table import is_table
from kerasbert.encoders.summary import input_spec, show_summary
from kerasbert.errors import KerasBertError
from kerasbert.processors import Features
from kerasbert.tasks import inputs as task_inputs
from kerasbert.tasks import string_datasets
from kerasbert.tasks.freezing import freeze_paths, frozen_paths
from kerasbert.tasks.keras3 import check_tf_keras, tf_keras_optimizer
from kerasbert.tasks.validation_split import split_off


class KerasTask(keras.Model):
    """A part of every task, between Keras' model and the task: it needs `features`, `processor` and `serve`.

    The way through the model is traced as it is written, without autograph: no branch of ours waits for a tensor's value, and a trace is
    made sooner. Losses and metrics are Keras' business.
    """

    @tf.autograph.experimental.do_not_convert
    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)

    @tf.autograph.experimental.do_not_convert
    def predict_step(self, data):
        return self.serve(data[0] if isinstance(data, tuple) else data)[self.output_name]

    def encode_labels(self, y) -> np.ndarray:
        """Labels of texts with one row each as the loss wants them."""
        return self.processor.encode_labels(y, range(len(y)), Features(None, np.arange(len(y))))

    def default_loss(self) -> Any:
        raise NotImplementedError

    def default_metrics(self) -> list:
        return []

    def encode_targets(self, y, examples, features: Features):
        """What the loss wants of each row, see `Processor.targets`; None where there is nothing to learn from."""
        return None if y is None else self.processor.encode_labels(y, examples, features)

    @property
    def distribute_reduction_method(self) -> str:
        """How values of several workers become the logs of a step: metrics are the same on all, and Keras would add them up."""
        return "first"

    def compile(self, optimizer="adam", loss=None, metrics=None, **kwargs):
        """tf_keras' compile; loss and metrics default to the task's own. An optimizer of `kb.adamw` gets to know the parts of this task.

        optimizer: tf_keras' or, by its settings, Keras 3's; see `kerasbert.tasks.keras3`.

        Raises KerasBertError for losses and metrics of Keras 3, and optimizers of it that tf_keras does not have.
        """
        optimizer = tf_keras_optimizer(optimizer)
        check_tf_keras("losses", loss)
        check_tf_keras("metrics", metrics)
        inner = getattr(optimizer, "inner_optimizer", optimizer)  # of a loss scale's, under mixed precision
        if hasattr(inner, "bind"):
            inner.bind(self)
        super().compile(
            optimizer=optimizer, loss=self.default_loss() if loss is None else loss,
            metrics=self.default_metrics() if metrics is None else metrics, **kwargs,
        )  # fmt: skip

    def summary(self, **options) -> None:
        """Prints the layers with their output shapes and parameters, as Keras does of a functional model.

        Args:
            options: Keras' `line_length`, `print_fn`, `expand_nested`, `show_trainable` and `layer_range`; see
                `kerasbert.encoders.summary.show_summary`.
        """
        rank = 3 if self.grouped else 2

        def call(inputs):
            return self(inputs, training=False), self.serve(inputs)

        show_summary(self, call, input_spec(rank), **options)

    def get_compile_config(self):
        """What `compile` was given, and what was frozen: for a `.keras` file."""
        config, frozen = super().get_compile_config(), frozen_paths(self)
        return {**config, "frozen": frozen} if config and frozen else config

    def compile_from_config(self, config):
        """Compiles a loaded task as the saved one was."""
        # The one look up the floors: a saved optimizer is found by its registered name, and only once its module is there.
        importlib.import_module("kerasbert.optimizers.adamw")
        config = dict(config)
        freeze_paths(self, config.pop("frozen", ()))
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def dataset(self, x, y=None, batch_size: int = 32, shuffle: bool = False, sample_weight=None, seed: int = 0):
        """A `tf.data.Dataset` of what `fit` is fed: texts tokenized once, batches of rows of like length, padded only to their longest.

        shuffle: another order at each pass, fixed by `seed`. Elements: packed inputs, then targets and sample weights where there are any.
        """
        return self._dataset(x, y, batch_size, shuffle, sample_weight, seed)

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        shuffle=True,
        validation_data=None,
        sample_weight=None,
        seed=None,
        start=None,
        validation_split=0.0,
        **kwargs,
    ):
        """Keras' fit. Rows of like length share a batch; `seed` fixes their order (default: from NumPy's global generator).

        start: the epoch and the batch in it to begin with, both from 0 on, for a training that goes on where it stopped.
        validation_split: the share of the examples, the last ones, that become `validation_data`; of texts, tables and packed inputs.
        """
        check_tf_keras("callbacks", kwargs.get("callbacks"))
        if validation_split and validation_data is None:
            x, y, sample_weight, validation_data = split_off(self, x, y, sample_weight, validation_split)
        size = batch_size or 32
        seed = int(np.random.randint(2**31)) if seed is None else seed
        start = start or (kwargs.get("initial_epoch", 0), 0)
        data = self._dataset(x, y, size, shuffle, sample_weight, seed, start)
        if isinstance(data.element_spec, dict):
            raise KerasBertError("expected labels for the texts, received none")
        if validation_data is not None:
            alone = not isinstance(validation_data, tuple | list) or isinstance(validation_data[0], str)
            parts = (validation_data, None) if alone else tuple(validation_data)
            weights = parts[2] if len(parts) > 2 else None
            batch = kwargs.pop("validation_batch_size", None) or size
            validation_data = self._dataset(parts[0], parts[1], batch, sample_weight=weights)
        self._start = start
        with string_datasets.own_errors():
            return super().fit(data, epochs=epochs, validation_data=validation_data, **kwargs)

    def _maybe_load_initial_counters_from_ckpt(self, steps_per_epoch, initial_epoch):
        """Where Keras begins to count; it asks for the sake of its own recovery, which decides where `fit` was given no start."""
        if any(self._start):
            return self._start
        return super()._maybe_load_initial_counters_from_ckpt(steps_per_epoch, initial_epoch)

    def evaluate(self, x=None, y=None, batch_size=None, sample_weight=None, **kwargs):
        """Keras' evaluate: the loss and the compiled metrics. See `score` for the task's own."""
        with string_datasets.own_errors():
            return super().evaluate(self._dataset(x, y, batch_size or 32, sample_weight=sample_weight), **kwargs)

    def predict(self, x, batch_size=None, verbose=0, **kwargs):
        """Of texts: answers in their order, or for a task with one output vector a text an array of them. Of packed inputs and datasets:
        the output `output_name` of the exported file; see `serve`.
        """
        if isinstance(x, tf.data.Dataset):
            with string_datasets.own_errors():
                data = string_datasets.tokenized(self, x, batch_size or 32, inputs_only=True)
                return super().predict(data, verbose=verbose, **kwargs)
        if not (self.arrays or task_inputs.is_packed(x)):
            return self.predictions(x, batch_size)
        _, features = self.features(x)
        data, order = task_inputs.batches(
            self, features, batch_size=batch_size or 32, full=self.per_token, inputs_only=True
        )
        results = super().predict(data, verbose=verbose, **kwargs)
        restored = np.empty_like(results)
        restored[order.order] = results
        return restored

    def _dataset(self, x, y, batch_size, shuffle=False, sample_weight=None, seed=0, start=(0, 0)) -> tf.data.Dataset:
        if isinstance(x, tf.data.Dataset):
            return string_datasets.tokenized(self, x, batch_size)
        y = x.y if y is None and is_table(x) else y
        examples, features = self.features(x)
        if examples is None:
            examples = features.example
        targets = self.encode_targets(y, examples, features)
        data, _ = task_inputs.batches(
            self, features, targets, sample_weight, batch_size=batch_size, shuffle=shuffle, seed=seed, start=start
        )
        return data if len(data.element_spec) > 1 else data.map(lambda inputs: inputs)
