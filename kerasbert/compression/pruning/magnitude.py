"""Magnitude pruning of kernels: which, to what share of zeros, in what pattern and when (Zhu & Gupta 2017)."""

import fnmatch
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import tensorflow as tf

from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.traversal import dense_layers, sublayers

WORD_TABLE = "embeddings.word"
UNSTRUCTURED, TWO_OF_FOUR = "unstructured", "2:4"


@dataclass(frozen=True)
class Sparsity:
    """How sparse kernels become: the smallest weights of each are set to 0, more of them at every update of the masks.

    target: the share of zeros in the end, in each kernel by itself; 0.5 for `2:4`.
    pattern: `unstructured`; `4x1`, blocks of 4 inputs by 1 output of a kernel (in, out) that go as a whole, by their mean size; `2:4`, two
    of every four weights along the inputs of one output, which is the last axis of the kernel (out, in) in a `.tflite` file.
    parts: other shares for parts, by shell wildcards over the paths of dense_layers, such as `{"layers.*.feed_forward.*": 0.9,
    "pooler": 0}`;
    of several that fit a kernel the last one decides. Every dense of the encoder has `target`. Those of heads, and the word table
    `embeddings.word`, are pruned only where a part names them.
    begin, end: shares of all steps between which the share of zeros rises from 0 to its target, fast at first:
    `s = target * (1 - (1 - t)^power)`. What was pruned may come back at a later update, and after the last one no more.
    updates: how often the masks are made anew, at most once a step (see `updates_in`). A `2:4` mask is made once, at `begin`.

    Raises KerasBertError for values that cannot be.
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
        for part, share in self.parts.items():
            if not 0 <= share < 1:
                raise KerasBertError(f"expected the sparsity of {part!r} from 0 to below 1, received {share}")
        if not 0 <= self.begin < self.end <= 1:
            raise KerasBertError(
                f"expected pruning to begin before it ends, as shares of all steps, received {self.begin} and {self.end}"
            )
        if self.updates < 1 or not self.power > 0:
            raise KerasBertError(
                f"expected at least 1 update of the masks and a power above 0, received {self.updates} and {self.power}"
            )
        wrong = {self.target, *self.parts.values()} - {0, 0.5} if self.pattern == TWO_OF_FOUR else set()
        if wrong:
            raise KerasBertError(f"expected a sparsity of 0.5 for the pattern 2:4, received {min(wrong)}")
        _ = self.block

    @property
    def block(self) -> tuple[int, int]:
        """What is pruned as a whole: inputs and outputs of a kernel (in, out)."""
        if self.pattern in (UNSTRUCTURED, TWO_OF_FOUR):
            return 1, 1
        found = re.fullmatch(r"([1-9]\d*)x([1-9]\d*)", self.pattern)
        if not found:
            raise KerasBertError(
                f"expected a pattern of unstructured, 2:4 or blocks such as 4x1, received {self.pattern!r}"
            )
        return int(found[1]), int(found[2])

    def kernels(self, task) -> dict[str, tuple[tf.Variable, float]]:
        """What is pruned in a task, by path: variables (in, out) and their shares of zeros in the end. What is frozen stays as it is.

        Raises KerasBertError for a part that fits nothing that is trained, a pattern that does not divide a kernel, and nothing to prune.
        """
        trained = {id(variable) for variable in task.trainable_variables}
        known = {path: kernel for path, kernel in prunable(task).items() if id(kernel) in trained}
        shares = dict.fromkeys((dense.path for dense in dense_layers(task.encoder) if dense.path in known), self.target)
        for part, share in self.parts.items():
            named = fnmatch.filter(known, part)
            if not named:
                raise KerasBertError(
                    f"expected a part that fits trained kernels, such as {', '.join(list(known)[:2]) or 'none here'}, received {part!r}"
                )
            shares |= dict.fromkeys(named, share)
        chosen = {path: (known[path], share) for path, share in shares.items() if share > 0}
        if not chosen:
            raise KerasBertError(
                "expected trained kernels to prune, received none: they are frozen, or their parts have 0"
            )
        for path, (kernel, _) in chosen.items():
            self._check_shape(path, kernel.shape)
        return chosen

    def _check_shape(self, path: str, shape) -> None:
        if path == WORD_TABLE and self.pattern != UNSTRUCTURED:
            raise KerasBertError(f"expected the word table to be pruned unstructured, received {self.pattern}")
        rows, columns = self.block
        fits = shape[0] % rows == 0 and shape[1] % columns == 0
        if (rows, columns) != (1, 1):  # tfmot pools blocks into a matrix, and takes one row or column for a vector
            fits = fits and shape[0] // rows > 1 and shape[1] // columns > 1
        if self.pattern == TWO_OF_FOUR:
            fits = shape[0] % 4 == 0
        if not fits:
            raise KerasBertError(
                f"expected kernels (in, out) that {self.pattern} divides, received {path} of shape {tuple(shape)}; leave it out as a part "
                "of sparsity 0"
            )

    def schedule(self, share: float, steps: int):
        """tfmot's schedule of kernels whose target is `share`, in a training of so many optimizer steps.

        Raises KerasBertError where no step lies between `begin` and `end`.
        """
        from tensorflow_model_optimization.sparsity.keras import ConstantSparsity, PolynomialDecay

        first, last = round(self.begin * steps), round(self.end * steps)
        if self.pattern == TWO_OF_FOUR:
            return ConstantSparsity(share, begin_step=first, end_step=first, frequency=1)
        updates = self.updates_in(steps)
        frequency = (last - first) // updates
        # tfmot updates every so many steps: the last time must be the end, or the target would not be reached.
        return PolynomialDecay(0.0, share, first, first + frequency * updates, self.power, frequency)

    def updates_in(self, steps: int) -> int:
        """How often masks are made anew in a training of so many optimizer steps: `updates`, or once a step where there are fewer.

        Raises KerasBertError where no step lies between `begin` and `end`.
        """
        first, last = round(self.begin * steps), round(self.end * steps)
        if last <= first:
            raise KerasBertError(
                f"expected steps to prune in between {self.begin:g} and {self.end:g} of a training, received {steps} in all; train longer"
            )
        return 1 if self.pattern == TWO_OF_FOUR else min(self.updates, last - first)

    def note_updates(self, steps: int) -> None:
        """Says where there are fewer updates than were asked for."""
        if self.pattern != TWO_OF_FOUR and (updates := self.updates_in(steps)) < self.updates:
            times = "once" if updates == 1 else f"{updates} times"
            note(
                f"note: the masks are made anew {times}, not {self.updates}: pruning has {updates} of the {steps} steps"
            )

    def check(self, task, steps: int) -> None:
        """Raises KerasBertError, before anything is trained, for all that `MagnitudePruning` would refuse."""
        for _, share in self.kernels(task).values():
            self.schedule(share, steps)


def prunable(task) -> dict[str, tf.Variable]:
    """Every kernel (in, out) of a task by the path of its dense, and the word table (words, width)."""
    found = {dense.path: dense.kernel for dense in dense_layers(task)}
    return found | {layer.path: layer.table for layer in sublayers(task, EmbeddingTable) if layer.path == WORD_TABLE}
