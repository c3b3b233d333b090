"""The task's outputs as the exported file computes them, on packed inputs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.ids import INPUT_NAMES, check_ids
from kerasbert.tasks.forks import check_not_forked

if TYPE_CHECKING:
    from kerasbert.layers.config import EncoderConfig
    from kerasbert.sharing import ThreadLock

Outputs = dict[str, tf.Tensor]
_TRACES = ("_served", "_served_positions")


class ServingMixin(keras.Model):
    """The part of every task that computes outputs. A task overrides `serve`."""

    if TYPE_CHECKING:
        predict_function: Any
        _state_lock: ThreadLock
        _predict_lock: ThreadLock

        @property
        def config(self) -> EncoderConfig: ...

    def serve(self, inputs: dict[str, tf.Tensor]) -> Outputs:
        """Return the outputs by the exported file's names, float32.

        Args:
            inputs: Int32 tensors `(batch, length)` by input name.

        Returns:
            Float32 tensors by output name, `(batch, ...)`.
        """
        raise NotImplementedError

    def _serving(self) -> Callable[[dict[str, tf.Tensor]], Outputs]:
        """Return `serve`, traced once for batches of every size and length."""
        spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
        return self._traced(
            "_served",
            lambda: tf.function(lambda inputs: self.serve(inputs), input_signature=[spec], autograph=False),
        )

    def _traced(self, name: str, make: Callable[[], Any]) -> Any:
        """Return one of `_TRACES`, which is made at its first use."""
        with self._state_lock.held:  # Keras deletes an attribute before it sets it: another thread would find none
            if not hasattr(self, name):
                setattr(self, name, make())
            return getattr(self, name)

    def forget_traces(self) -> None:
        """Discard traces, so that the model is traced again: a trace fixes what a fake quantizer does."""
        with self._predict_lock.held:
            self.predict_function = None
        with self._state_lock.held:
            for name in _TRACES:
                if hasattr(self, name):
                    delattr(self, name)

    def serve_untraced(self) -> None:
        """Predict eagerly until traces are discarded: for a few batches that is faster than tracing."""
        with self._state_lock.held:
            self._served = self.serve

    def serve_numpy(self, packed: dict[str, np.ndarray], batch_size: int = 32) -> dict[str, np.ndarray]:
        """Compute `serve` on packed arrays of one length, in batches.

        Args:
            packed: Int32 arrays `(rows, length)` by input name.
            batch_size: Rows in a batch.

        Returns:
            Float32 arrays `(rows, ...)` by output name.

        Raises:
            KerasBertError: When an id is outside the vocabulary.
        """
        check_not_forked()
        check_ids(packed["input_ids"], self.config.vocab_size, type(self).__name__)
        rows = len(packed["input_ids"])
        parts = [
            self._serving()({name: tf.constant(packed[name][i : i + batch_size]) for name in INPUT_NAMES})
            for i in range(0, rows, batch_size)
        ]
        return {name: np.concatenate([part[name].numpy() for part in parts]) for name in parts[0]}
