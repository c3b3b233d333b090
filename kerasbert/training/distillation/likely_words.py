"""Words that a masked language model finds likely in a place: a `MaskedLM`, or an opened file of one."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.processors import Features, Processor
from kerasbert.processors.features import TokenLists
from kerasbert.processors.masked_lm import MaskedWords
from kerasbert.processors.word_pieces import readable, word_pieces
from kerasbert.tasks.masked_lm import MaskedLM
from kerasbert.text import Tokenizer
from kerasbert.training.distillation.word_neighbours import WordNeighbours

_BATCH = 32
_LISTED = 4  # times the words that are wanted: a file lists pieces of words and punctuation too

_Predict = Callable[[dict[str, tf.Tensor]], Mapping[str, tf.Tensor]]


@dataclass(frozen=True)
class Place:
    """A word of a text.

    Attributes:
        text: Index of the text.
        position: Index of the word's first token in the row.
        start: First character of the word.
        end: End of the word's characters.
        ids: Ids of its tokens.
    """

    text: int
    position: int
    start: int
    end: int
    ids: tuple[int, ...]


class LikelyWords(Protocol):
    """What finds words for places.

    Attributes:
        tokenizer: The model's tokenizer.
        length: The tokens of a row.
    """

    tokenizer: Tokenizer
    length: int

    def words(self, texts: Sequence[str], places: Sequence[Place], count: int) -> Iterator[Sequence[str]]:
        """Find the likeliest other words of each place, at most `count`, the likeliest first."""
        ...


def likely_words(model: Any) -> LikelyWords:
    """Return what finds words with a model.

    Args:
        model: A `MaskedLM` with a tokenizer, or what `kerasbert.open` returns for one or for a file of one.

    Raises:
        KerasBertError: When it is something else.
    """
    model = getattr(model, "task", None) or model
    if isinstance(model, MaskedLM) and model.has_tokenizer:
        return TaskWords(model)
    if isinstance(getattr(model, "processor", None), MaskedWords) and getattr(model, "tokenizer", None) is not None:
        return FileWords(model)
    opened = isinstance(getattr(model, "processor", None), Processor) and not isinstance(model, keras.Model)
    received = f"{model.name}, of another task" if opened else type(model).__name__
    raise KerasBertError(
        f"expected a MaskedLM with a tokenizer, or an opened file of one, as language_model, received {received}"
    )


class TaskWords:
    """Words of a `MaskedLM`; those for a word of several tokens are the nearest by their embeddings."""

    def __init__(self, model: MaskedLM) -> None:
        self.tokenizer, self.length = model.tokenizer, model.sequence_length
        self._model, self._allowed = model, _whole_words(model.tokenizer, model.config.vocab_size)
        self._near = WordNeighbours(model, self._allowed)
        spec = {name: tf.TensorSpec((None, None), tf.int32) for name in INPUT_NAMES}
        spec["positions"] = tf.TensorSpec((None, 2), tf.int32)
        self._predict: _Predict = tf.function(
            lambda inputs: model.serve(inputs), input_signature=[spec], autograph=False
        )

    def words(self, texts: Sequence[str], places: Sequence[Place], count: int) -> Iterator[Sequence[str]]:
        """See `LikelyWords`."""
        encoded = self.tokenizer.encode(texts, max_length=self.length)
        for first in range(0, len(places), _BATCH):
            batch = places[first : first + _BATCH]
            predicted = iter(self._logits(encoded, [place for place in batch if len(place.ids) == 1]))
            for place in batch:
                if len(place.ids) == 1:
                    best = _best_ids(next(predicted), self._allowed, place.ids[0], count)
                    yield [readable(self.tokenizer, int(number)) for number in best]
                else:
                    yield self._near.nearest(place.ids, count)

    def _logits(self, encoded: Any, places: Sequence[Place]) -> np.ndarray:
        """The logits at each place, (places, V)."""
        if not places:
            return np.zeros((0, self._allowed.size), np.float32)
        ids = [list(encoded.input_ids[place.text]) for place in places]
        for row, place in zip(ids, places, strict=True):
            row[place.position] = self.tokenizer.mask_id
        types = [encoded.token_type_ids[place.text] for place in places]
        features = Features(TokenLists(ids, types), np.arange(len(ids)))
        packed = features.pack(range(len(ids)), max(map(len, ids)), self._model.config.pad_token_id)
        positions = np.array([(row, place.position) for row, place in enumerate(places)], np.int32)
        inputs = {name: tf.constant(packed[name]) for name in INPUT_NAMES}
        return self._predict({**inputs, "positions": tf.constant(positions)})[self._model.output_name].numpy()


class FileWords:
    """Words of an opened file. A mask stands for all tokens of a word, since the file does not give its embeddings."""

    def __init__(self, model: Any) -> None:
        self.tokenizer, self.length = model.tokenizer, model.length
        self._model, count = model, model.tokenizer.vocabulary_size
        allowed = np.flatnonzero(_whole_words(self.tokenizer, count))
        self._whole = {readable(self.tokenizer, int(number)) for number in allowed}

    def words(self, texts: Sequence[str], places: Sequence[Place], count: int) -> Iterator[Sequence[str]]:
        """See `LikelyWords`."""
        mask = self.tokenizer.mask_token
        listed = min(_LISTED * count, self.tokenizer.vocabulary_size)
        for first in range(0, len(places), _BATCH):
            batch = places[first : first + _BATCH]
            rows = [f"{texts[place.text][: place.start]}{mask}{texts[place.text][place.end :]}" for place in batch]
            for place, prediction in zip(batch, self._model(rows, top_k=listed), strict=True):
                present = texts[place.text][place.start : place.end].lower()
                found = next(
                    each["words"] for each in prediction["masks"] if each["start"] <= place.start < each["end"]
                )
                names = [each["word"] for each in found if each["word"] in self._whole]
                yield [name for name in names if name.lower() != present][:count]


def _best_ids(scores: np.ndarray, allowed: np.ndarray, token_id: int, count: int) -> np.ndarray:
    """The ids of the most likely words but the present one."""
    scores = np.where(allowed, scores, -np.inf)
    scores[token_id] = -np.inf
    best = np.argsort(-scores, kind="stable")[:count]
    return best[np.isfinite(scores[best])]


def _whole_words(tokenizer: Tokenizer, size: int) -> np.ndarray:
    """Return a mask of the ids that are whole words of letters and digits, (V,) bool."""
    pieces, allowed = word_pieces(tokenizer), np.zeros(size, bool)
    names = [readable(tokenizer, number) for number in range(tokenizer.vocabulary_size)]
    alphanumeric = np.array([bool(name) and all(map(str.isalnum, name)) for name in names])
    allowed[: len(names)] = alphanumeric & ~pieces.special & ~pieces.continues
    return allowed
