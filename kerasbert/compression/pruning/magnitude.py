"""Magnitude pruning of kernels: which kernels, target sparsities, patterns and schedule (Zhu & Gupta 2017)."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import tensorflow as tf
import tf_keras as keras

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks.base import Task

if TYPE_CHECKING:
    from tensorflow_model_optimization.python.core.sparsity.keras.pruning_schedule import (
        ConstantSparsity,
        PolynomialDecay,
    )

WORD_TABLE = "embeddings.word"
UNSTRUCTURED, TWO_OF_FOUR = "unstructured", "2:4"


@dataclass(frozen=True)
class Sparsity:
    """The sparsity of kernels over a training: at every mask update more of the smallest weights of each kernel are set to 0.

    Between `begin` and `end` the sparsity of a kernel rises from 0 to its target, fast at first: `target * (1 - (1 - t)^power)`. A pruned
    weight may come back at a later update, but not after the last one.

    Attributes:
        target: Final fraction of zeros in each kernel; 0.5 for `2:4`.
        pattern: `unstructured`; blocks such as `4x1`, 4 inputs by 1 output of a kernel `(in, out)`, pruned as a whole by their mean
            magnitude; or `2:4`, two of every four weights along the inputs of an output, the last axis of the kernel in a `.tflite` file.
        parts: Other targets by shell wildcards over the paths of `dense_layers`, such as `{"layers.*.feed_forward.*": 0.9, "pooler": 0}`.
            The last pattern that matches a kernel decides. Without a pattern every Dense layer of the encoder has `target`; Dense layers of
            heads and the token embeddings `embeddings.word` are not pruned.
        begin: Fraction of all steps at which pruning begins.
        end: Fraction of all steps at which the target is reached.
        updates: Number of mask updates, at most one a step (see `updates_in`). A `2:4` mask is made once, at `begin`.
        power: Exponent of the rise.

    Raises:
        KerasBertError: When a value is out of range, or the pattern is unknown.

    Example:
        ```python
        from kerasbert.compression import Sparsity
        sparsity = Sparsity(0.5, parts={"layers.0.*": 0.8}, updates=4)
        {path: target for path, (_, target) in sparsity.kernels(task).items()}
        ```
    """

    target: float
    pattern: str = UNSTRUCTURED
    parts: Mapping[str, float] = field(default_factory=dict)
    begin: float = 0.0
    end: float = 0.5
    updates: int = 20
    power: float = 3.0

    def __post_init__(self):
        if not 0 < self.target < 1:
            raise KerasBertError(f"expected a sparsity above 0 and below 1, received {self.target}")
        for part, target in self.parts.items():
            if not 0 <= target < 1:
                raise KerasBertError(f"expected the sparsity of {part!r} from 0 to below 1, received {target}")
        if not 0 <= self.begin < self.end <= 1:
            raise KerasBertError(
                f"expected pruning to begin before it ends, as shares of all steps, received {self.begin} and {self.end}"
            )
        if self.updates < 1 or not self.power > 0:
            raise KerasBertError(
                f"expected at least 1 update of the masks and a power above 0, received {self.updates} and {self.power}"
            )
        invalid = {self.target, *self.parts.values()} - {0, 0.5} if self.pattern == TWO_OF_FOUR else set()
        if invalid:
            raise KerasBertError(f"expected a sparsity of 0.5 for the pattern 2:4, received {min(invalid)}")
        _ = self.block

    @property
    def block(self) -> tuple[int, int]:
        """Inputs and outputs of a block of a kernel `(in, out)` that is pruned as a whole."""
        if self.pattern in (UNSTRUCTURED, TWO_OF_FOUR):
            return 1, 1
        match = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", self.pattern)
        if not match:
            raise KerasBertError(
                f"expected a pattern of unstructured, 2:4 or blocks such as 4x1, received {self.pattern!r}"
            )
        return int(match[1]), int(match[2])

    def kernels(self, task: Task) -> dict[str, tuple[tf.Variable, float]]:
        """Return the kernels `(in, out)` to prune and their targets, by path. Frozen kernels are left out.

        Args:
            task: The task to prune.

        Raises:
            KerasBertError: When a part matches no trained kernel, the pattern does not divide a kernel, or there is nothing to prune.
        """
        trained = {id(variable) for variable in task.trainable_variables}
        known = {path: kernel for path, kernel in prunable_kernels(task).items() if id(kernel) in trained}
        targets = dict.fromkeys(
            (dense.path for dense in dense_layers(task.encoder) if dense.path in known), self.target
        )
        for part, target in self.parts.items():
            matches = fnmatch.filter(known, part)
            if not matches:
                raise KerasBertError(
                    f"expected a part that fits trained kernels, such as {', '.join(list(known)[:2]) or 'none here'}, received {part!r}"
                )
            targets |= dict.fromkeys(matches, target)
        pruned = {path: (known[path], target) for path, target in targets.items() if target > 0}
        if not pruned:
            raise KerasBertError(
                "expected trained kernels to prune, received none: they are frozen, or their parts have 0"
            )
        for path, (kernel, _) in pruned.items():
            self._check_shape(path, keras.backend.int_shape(kernel) or ())
        return pruned

    def _check_shape(self, path: str, shape: Sequence[int]) -> None:
        if path == WORD_TABLE and self.pattern != UNSTRUCTURED:
            raise KerasBertError(
                f"expected the pattern {UNSTRUCTURED} for the token embeddings, received {self.pattern}; leave it out as a part"
            )
        rows, columns = self.block
        fits = shape[0] % rows == 0 and shape[1] % columns == 0
        if (rows, columns) != (1, 1):  # tfmot pools blocks to a matrix, and takes one row or column for a vector
            fits = fits and shape[0] // rows > 1 and shape[1] // columns > 1
        if self.pattern == TWO_OF_FOUR:
            fits = shape[0] % 4 == 0
        if not fits:
            raise KerasBertError(
                f"expected kernels (in, out) that {self.pattern} divides, received {path} of shape {tuple(shape)}; leave it out as a part "
                "of sparsity 0"
            )

    def schedule(self, target: float, steps: int) -> "ConstantSparsity | PolynomialDecay":
        """Return tfmot's schedule of kernels with this target, in a training of `steps` optimizer steps.

        Args:
            target: The final fraction of zeros.
            steps: The number of optimizer steps of the training.

        Raises:
            KerasBertError: When there is no step between `begin` and `end`.
        """
        from tensorflow_model_optimization.python.core.sparsity.keras.pruning_schedule import (
            ConstantSparsity,
            PolynomialDecay,
        )

        first, last = round(self.begin * steps), round(self.end * steps)
        if self.pattern == TWO_OF_FOUR:
            return ConstantSparsity(target, begin_step=first, end_step=first, frequency=1)
        updates = self.updates_in(steps)
        frequency = (last - first) // updates
        # tfmot updates at multiples of the frequency: the end must be one of them, or the target would not be reached.
        last = first + frequency * updates
        curve: dict[str, Any] = {"power": self.power}  # tfmot takes any number
        return PolynomialDecay(0.0, target, first, last, frequency=frequency, **curve)

    def updates_in(self, steps: int) -> int:
        """Return the number of mask updates in a training of `steps` optimizer steps: `updates`, or one a step if these are fewer.

        Args:
            steps: The number of optimizer steps of the training.

        Raises:
            KerasBertError: When there is no step between `begin` and `end`.
        """
        first, last = round(self.begin * steps), round(self.end * steps)
        if last <= first:
            raise KerasBertError(
                f"expected steps to prune in between {self.begin:g} and {self.end:g} of a training, received {steps} in all; train longer"
            )
        return 1 if self.pattern == TWO_OF_FOUR else min(self.updates, last - first)

    def note_updates(self, steps: int) -> None:
        """Print a note if a training of `steps` steps has fewer mask updates than requested.

        Args:
            steps: The number of optimizer steps of the training.
        """
        if self.pattern != TWO_OF_FOUR and (updates := self.updates_in(steps)) < self.updates:
            times = "once" if updates == 1 else f"{updates} times"
            note(
                f"note: the masks are made anew {times}, not {self.updates}: pruning has {updates} of the {steps} steps"
            )

    def check(self, task: Task, steps: int) -> None:
        """Check a task before a training of `steps` optimizer steps.

        Args:
            task: The task to prune.
            steps: The number of optimizer steps of the training.

        Raises:
            KerasBertError: When `MagnitudePruning` would raise it.
        """
        for _, target in self.kernels(task).values():
            self.schedule(target, steps)


def prunable_kernels(task: Task) -> dict[str, tf.Variable]:
    """Return the kernels `(in, out)` of all Dense layers and the token embeddings `(words, width)`, by path."""
    kernels = {dense.path: dense.kernel for dense in dense_layers(task)}
    tables = {layer.path: layer.table for layer in sublayers(task, EmbeddingTable) if layer.path == WORD_TABLE}
    return kernels | tables
