"""The batches of pretraining: an endless sequence made from a text stream, which can begin anywhere."""

import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kerasbert.data.text_stream import TextStream
from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Inputs
from kerasbert.processors.masked_lm import MaskedPositions, MaskedWords
from kerasbert.processors.pretraining_rows import Rows, make_rows
from kerasbert.text import Tokenizer

DRAWS = "draws"  # the input with a uniform number for each token, for a generator's samples
T = TypeVar("T")
_BATCHES, _MASKS, _ROWS, _FILES = range(4)  # the random numbers of different things
_KEPT = 256  # cursors of batches that were made; a state is saved a few batches after its batch was made


class Cursor(NamedTuple):
    """The place of a batch in a text stream.

    Attributes:
        epoch: The number of passes over the texts before it.
        block: The number of blocks of the pass before it.
        row: The number of rows of the block before it.
    """

    epoch: int = 0
    block: int = 0
    row: int = 0


@dataclass(frozen=True)
class Batch:
    """Packed rows with masks.

    Attributes:
        inputs: Int32 `(rows, length)` by input name; with `draws`, float32 `(rows, length)`, where a generator samples.
        labels: Int32 labels by output: the masked tokens `(rows, length)`, and the pairs `(rows,)`.
    """

    inputs: Inputs
    labels: dict[str, np.ndarray]


class PretrainingBatches:
    """Batches of a text stream. The same arguments give the same batches.

    Args:
        texts: The texts.
        processor: Masks the rows.
        tokenizer: The tokenizer.
        length: Tokens in a row, special ones included.
        batch_size: Rows in a batch.
        seed: The seed of the order of files and rows, and of the masks.
        steps: The number of batches of an epoch of training.
        pairing: The second segment, one of `pretraining_rows.PAIRINGS`; None for running text.
        pair_output: The output that learns the pairs.
        draws: Whether inputs have numbers for a generator's samples.
        masks: The number of different masks of a row, as copies of BERT's data; the rows of each pass are then the same. None masks
            other tokens in each pass.
        words_by: What finds words; see `Tokenizer.token_words`.
    """

    def __init__(
        self,
        texts: TextStream,
        processor: MaskedWords,
        tokenizer: Tokenizer,
        length: int,
        batch_size: int,
        seed: int = 0,
        *,
        steps: int | None = None,
        pairing: str | None = None,
        pair_output: str = "",
        draws: bool = False,
        masks: int | None = None,
        words_by: str | None = None,
    ) -> None:
        if processor.unit == "entities" and not texts.has_spans:
            raise KerasBertError(
                "expected .jsonl files, whose lines have a text and its entities, for masks of entities, received other files; "
                "write the predictions of a tagger as JSON, a line each"
            )
        self.texts, self.processor, self.tokenizer, self.length = texts, processor, tokenizer, length
        self.batch_size, self.seed, self.pairing, self.pair_output = batch_size, seed, pairing, pair_output
        self.draws, self.masks, self.steps, self.words_by = draws, masks, steps, words_by
        self._cursors: dict[int, Cursor] = {0: Cursor()}

    def __len__(self) -> int:
        """Return the number of rows of an epoch of training."""
        return (self.steps or 0) * self.batch_size

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the texts."""
        return self.texts.files

    def cursor(self, batch: int) -> Cursor:
        """Return the place of a batch that was made, one of the last ones, or of the next one.

        Args:
            batch: The number of the batch.
        """
        return self._cursors[batch]

    def begin_at(self, batch: int, cursor: Cursor) -> None:
        """Note the place of a batch of an interrupted run.

        Args:
            batch: The number of the batch.
            cursor: Its place.
        """
        self._cursors[batch] = Cursor(*cursor)

    def batches(self, first: int = 0) -> Iterator[Batch]:
        """Yield batches without end.

        Args:
            first: The number of the first batch: 0, or one whose place is known.

        Raises:
            KerasBertError: When a file cannot be read, or the texts make no row.
        """
        cursor, number = self._cursors[first], first
        rest: Rows | None = None
        rest_masks: np.ndarray | None = None
        place = cursor
        for at, rows, masks in _made_ahead(self._blocks(cursor)):
            if rest is None or rest_masks is None or not len(rest):
                rest, rest_masks, place = rows, masks, at
            else:
                rest, rest_masks = rest.joined(rows), np.concatenate([rest_masks, masks])
            begin, waiting = 0, len(rest) - len(rows)  # fewer than a batch
            while len(rest) - begin >= self.batch_size:
                index = np.arange(begin, begin + self.batch_size)
                begin += self.batch_size
                place = at._replace(row=at.row + begin - waiting)
                self._note(number + 1, place)  # before the batch is used: a state may be saved behind it
                yield self._batch(rest.select(index), rest_masks[index], number)
                number += 1
            index = np.arange(begin, len(rest))
            rest, rest_masks = rest.select(index), rest_masks[index]

    def one_pass(self, rows: int) -> Iterator[Batch]:
        """Yield the batches of the first rows of one pass over the texts.

        Args:
            rows: The number of rows, at most.

        Raises:
            KerasBertError: When a file cannot be read, or the texts make no row.
        """
        found: Rows | None = None
        for at, part, _ in self._blocks(Cursor()):
            if at.epoch or found is not None and len(found) >= rows:
                break
            found = part if found is None else found.joined(part)
        if found is None:
            return
        masks = self._mask_seeds(found, 0)
        for number, begin in enumerate(range(0, min(rows, len(found)), self.batch_size)):
            index = np.arange(begin, min(begin + self.batch_size, rows, len(found)))
            yield self._batch(found.select(index), masks[index], number)

    def _note(self, number: int, place: Cursor) -> None:
        self._cursors[number] = place
        self._cursors.pop(number - _KEPT, None)

    def _blocks(self, cursor: Cursor) -> Iterator[tuple[Cursor, Rows, np.ndarray]]:
        """Yield (place, rows in their order, number of each row's mask) of each block, from a place on."""
        epoch = cursor.epoch
        while True:
            found = 0
            order = self.seed if self.masks else (self.seed, _FILES, epoch)
            skip = cursor.block if epoch == cursor.epoch else 0
            for number, documents in enumerate(self.texts.blocks(order, skip), skip):
                composed = 0 if self.masks else epoch
                random = np.random.default_rng((self.seed, _ROWS, composed, number))
                entities = self.processor.unit == "entities"
                if entities and not number and not any(any(document.spans) for document in documents):
                    raise KerasBertError(
                        f"expected entities in {self.texts.files[0]} for masks of entities, received none in the first texts; write "
                        "the predictions of a tagger as JSON, a line each"
                    )
                rows = make_rows(documents, self.tokenizer, self.length, self.pairing, random, entities, self.words_by)
                found += len(rows)
                if not len(rows):
                    continue
                shuffled = np.random.default_rng((self.seed, _BATCHES, epoch, number)).permutation(len(rows))
                row = cursor.row if (epoch, number) == (cursor.epoch, cursor.block) else 0
                masks = self._mask_seeds(rows, epoch)
                yield Cursor(epoch, number, row), rows.select(shuffled[row:]), masks[shuffled[row:]]
            if not found and not skip:
                raise KerasBertError(
                    f"expected texts of {self.texts.files[0]} that fill a row, received too few words; give more text"
                )
            epoch += 1

    def _mask_seeds(self, rows: Rows, epoch: int) -> np.ndarray:
        """Return the seed of each row's mask `(rows,)`; with `masks`, one that depends on the row and the copy."""
        if self.masks is None:
            return np.zeros(len(rows), np.int64)
        copy = epoch % self.masks
        return np.array([zlib.crc32(ids.tobytes(), copy) for ids in rows.ids], np.int64)

    def _batch(self, rows: Rows, masks: np.ndarray, number: int) -> Batch:
        """Mask rows."""
        tokenizer, places = self.tokenizer, np.arange(self.length)
        mask = (places < rows.lengths[:, None]).astype(np.int32)
        inputs: dict[str, Any] = {
            "input_ids": rows.ids,
            "attention_mask": mask,
            "token_type_ids": rows.types.astype(np.int32),
        }
        none = np.zeros(0, np.int64)
        positions = [
            MaskedPositions(none, tokenizer, words=words[:length])
            for words, length in zip(rows.words, rows.lengths, strict=True)
        ]
        random = np.random.default_rng((self.seed, _MASKS, number))
        if self.masks is None:
            corrupted, labels = self.processor.corrupt(inputs, tokenizer, random, positions)
        else:
            parts = [
                self.processor.corrupt(
                    {name: value[row : row + 1] for name, value in inputs.items()},
                    tokenizer,
                    np.random.default_rng((self.seed, _MASKS, int(masks[row]))),
                    positions[row : row + 1],
                )
                for row in range(len(rows))
            ]
            corrupted = {name: np.concatenate([part[name] for part, _ in parts]) for name in inputs}
            labels = np.concatenate([part for _, part in parts])
        if self.draws:
            corrupted = {**corrupted, DRAWS: random.random(rows.ids.shape, np.float32)}
        by_output = {self.processor.outputs[0]: labels}
        if rows.pairs is not None:
            by_output[self.pair_output] = rows.pairs
        return Batch(corrupted, by_output)


def _made_ahead(items: Iterator[T]) -> Iterator[T]:
    """Yield items of which the next one is made in a thread: tokenizing a block takes seconds, and the model works meanwhile."""
    with ThreadPoolExecutor(1, "text") as thread:
        coming = thread.submit(next, items)
        while True:
            item = coming.result()
            coming = thread.submit(next, items)
            yield item
