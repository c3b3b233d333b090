"""Length bucketing: batches of sequences of similar length, so that little time is spent on padding."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

SHORT = 32  # tokens; below, padding costs more than odd sizes do, so lengths are multiples of 2
WINDOW = 50  # batches; sorting by length only inside windows of this many batches keeps an epoch random


@dataclass
class LengthBatches:
    """Batches of indices of sequences, grouped by length.

    Attributes:
        lengths: Tokens in each sequence, of shape (sequences,).
        batch_size: Sequences in a batch. The last batch may be smaller.
        shuffle: Draw a new order in each epoch, similar lengths together. Otherwise all sequences are sorted by length, longest
            first. That order is for prediction; `order` maps the results back.
        seed: Random seed of the orders.
        start: The first epoch, and the number of its batches to skip. Resuming a training run needs both.
        topics: The number of each sequence's topic, (orders, sequences). With shuffle, sequences of one topic are together, those of
            similar length in one batch; epochs take the orders in turn. None: batches are random.
    """

    lengths: np.ndarray
    batch_size: int
    shuffle: bool = False
    seed: int = 0
    start: tuple[int, int] = (0, 0)
    topics: np.ndarray | None = None
    _epochs: int = field(default=0, repr=False)

    def __len__(self) -> int:
        return -(-len(self.lengths) // self.batch_size)

    @property
    def order(self) -> np.ndarray:
        """Indices in the order in which an unshuffled epoch yields them."""
        return np.argsort(-self.lengths, kind="stable")

    def __iter__(self) -> Iterator[np.ndarray]:
        return (indices for _, indices in self.numbered())

    def numbered(self) -> Iterator[tuple[tuple[int, int], np.ndarray]]:
        """Yield ((epoch, batch), indices) for each batch of one epoch."""
        epoch, first = self.start[0] + self._epochs, 0 if self._epochs else self.start[1]
        self._epochs += 1
        for batch, indices in enumerate(self._batches(epoch)):
            if batch >= first:
                yield (epoch, batch), indices

    def _batches(self, epoch: int) -> Iterator[np.ndarray]:
        if not self.shuffle:
            order = self.order
            yield from (order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size))
            return
        random = np.random.default_rng((self.seed, epoch))
        if self.topics is not None:
            yield from self._batches_by_topic(self.topics[epoch % len(self.topics)], random)
            return
        order = random.permutation(len(self.lengths))
        window_size = self.batch_size * WINDOW
        for start in range(0, len(order), window_size):
            window = order[start : start + window_size]
            window = window[np.argsort(self.lengths[window], kind="stable")]
            batches = [window[i : i + self.batch_size] for i in range(0, len(window), self.batch_size)]
            yield from (batches[i] for i in random.permutation(len(batches)))

    def _batches_by_topic(self, topics: np.ndarray, random: np.random.Generator) -> list[np.ndarray]:
        """The batches of an epoch, of neighbouring topics where a topic ends; topics and batches are in random order."""
        places = random.permutation(int(topics.max()) + 1)[topics]
        shuffled = random.permutation(len(topics))
        order = shuffled[np.lexsort((self.lengths[shuffled], places[shuffled]))]
        batches = [order[i : i + self.batch_size] for i in range(0, len(order), self.batch_size)]
        return [batches[i] for i in random.permutation(len(batches))]


def padded_length(longest: int, limit: int, *, few: bool = False) -> int:
    """Return the padded length of a batch: a multiple of 8, or of 2 for short batches.

    Measured on fine-tuning MiniLM, relative speed by multiple:

    | data | tokens | 8 | 4 | 2 | 1 |
    |---|---|---|---|---|---|
    | CoLA | 11 | 1 | 1.11 | 1.17 | 1.16 |
    | MRPC | 50 | 1 | 1 | 0.92 | 0.95 |

    Args:
        longest: Tokens in the longest sequence of the batch.
        limit: The largest padded length.
        few: Use multiples of 8 for short batches too. XLA compiles each length anew, so few distinct lengths are faster there.

    Returns:
        The padded length, at most `limit`.
    """
    step = 8 if few or longest > SHORT else 2
    return min(-(-max(longest, 1) // step) * step, limit)
