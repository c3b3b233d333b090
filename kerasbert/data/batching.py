"""Batches of texts of like length, so that short texts cost less."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

LENGTH_STEP = 8  # padded lengths are multiples of this: few shapes to compile for, little padding
WINDOW = 50  # batches; rows are sorted by length inside windows of this many batches, so that an epoch stays random


@dataclass
class LengthBatches:
    """Index batches over rows of the given lengths.

    lengths: tokens in each row, (rows,). shuffle: a new order at each pass, similar lengths together; otherwise all rows are sorted by
    length, longest first, which is for prediction (`order` puts results back). start: the pass to begin with, and how many of its batches
    to leave out, for a training that goes on where it stopped.
    """

    lengths: np.ndarray
    batch_size: int
    shuffle: bool = False
    seed: int = 0
    start: tuple[int, int] = (0, 0)
    _passes: int = field(default=0, repr=False)

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    @property
    def order(self) -> np.ndarray:
        """Row numbers in the sequence in which an unshuffled pass yields them."""
        return np.argsort(-self.lengths, kind="stable")

    def __iter__(self) -> Iterator[np.ndarray]:
        return (index for _, index in self.numbered())

    def numbered(self) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """One pass: ((pass, batch), row numbers)."""
        number, first = self.start[0] + self._passes, 0 if self._passes else self.start[1]
        self._passes += 1
        for batch, index in enumerate(self._batches(number)):
            if batch >= first:
                yield (number, batch), index

    def _batches(self, number: int) -> Iterator[np.ndarray]:
        if not self.shuffle:
            order = self.order
            yield from (order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size))
            return
        random = np.random.default_rng((self.seed, number))
        order = random.permutation(len(self.lengths))
        span = self.batch_size * WINDOW
        for start in range(0, len(order), span):
            window = order[start : start + span]
            window = window[np.argsort(self.lengths[window], kind="stable")]
            batches = [window[i : i + self.batch_size] for i in range(0, len(window), self.batch_size)]
            yield from (batches[i] for i in random.permutation(len(batches)))


def padded_length(longest: int, limit: int) -> int:
    """The padded length for a batch whose longest row has `longest` tokens, at most `limit`."""
    return min(-(-max(longest, 1) // LENGTH_STEP) * LENGTH_STEP, limit)
