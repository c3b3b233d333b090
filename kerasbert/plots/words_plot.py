"""Similarity of a word's contextual vectors in different sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.arguments import shown
from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import line_chart
from kerasbert.plots.heat_map import heat_image, heat_table
from kerasbert.plots.occurrences import occurrences
from kerasbert.plots.panels import panels
from kerasbert.plots.plot import Plot
from kerasbert.processors import Features
from kerasbert.tasks.state_reader import StateReader
from kerasbert.text.strings import as_strings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 64  # occurrences
_BESIDE = 16  # characters of a sentence on each side of the word


@dataclass(frozen=True, eq=False)
class WordsPlot(Plot):
    """The cosine similarities of a word's vectors in some sentences.

    Attributes:
        word: The word.
        places: The number of its sentence, from 0 on, and the words around it, for each occurrence.
        similarities: The cosine of each two occurrences in each layer, float32 `(layers + 1, occurrences, occurrences)`; the embeddings
            come first.
        layer: The layer of the picture, counted from the embeddings.

    Example:
        ```python
        plot = kb.plots.words("small-en", "bank", ["We sat on the bank of the river.", "The bank lends money."])
        plot.similarities[:, 0, 1]  # of the two sentences, in each layer
        ```
    """

    word: str
    places: tuple[tuple[int, str], ...]
    similarities: np.ndarray
    layer: int
    height = 760

    def title(self) -> str:
        return f"The word {self.word!r} in different sentences"

    def figure(self) -> "Figure":
        from matplotlib.figure import Figure

        size = 1.0 + max(0.42 * len(self.places), 1.4)
        figure = Figure(figsize=(size + 2.8, size + 0.3), layout="constrained")
        axes = figure.subplots()
        values = self.similarities[self.layer]
        heat_image(axes, self.names(), self.numbers(), values, self._low(values), 1.0)
        axes.set_title(f"cosine similarity, {_layer_name(self.layer)}", fontsize=9)
        return figure

    def to_dict(self) -> dict[str, Any]:
        places = [{"sentence": number, "text": text} for number, text in self.places]
        similarities = np.round(self.similarities.astype(float), 5).tolist()
        return {"word": self.word, "layer": self.layer, "occurrences": places, "similarities": similarities}

    def body(self) -> str:
        tables = {
            _layer_name(layer): heat_table(self.names(), self.numbers(), values, self._low(values), 1.0)
            for layer, values in enumerate(self.similarities)
        }
        upper = np.triu_indices(len(self.places), 1)
        lines = {
            name: [(float(layer), float(function(values[upper]))) for layer, values in enumerate(self.similarities)]
            for name, function in (("highest", np.max), ("mean", np.mean), ("lowest", np.min))
        }
        note = "<p class='note'>The stronger the colour, the more similar; each layer has a scale of its own.</p>"
        chart = line_chart(lines, "layer (0: the embeddings)", "cosine similarity")
        return markup.card("Cosine similarity", panels("layer", tables, self.layer), note) + markup.card(
            "Of all pairs, by layer", chart
        )

    def names(self) -> list[str]:
        """Return a name for each occurrence: the number of its sentence, and the words around it."""
        return [f"{name}: {text}" for name, (_, text) in zip(self.numbers(), self.places, strict=True)]

    def numbers(self) -> list[str]:
        """Return the number of each occurrence's sentence, and a letter where a sentence has several of them."""
        numbers = [number for number, _ in self.places]
        return [
            f"{number + 1}{ascii_lowercase[numbers[:place].count(number) % 26] if numbers.count(number) > 1 else ''}"
            for place, number in enumerate(numbers)
        ]

    def _low(self, values: np.ndarray) -> float:
        return float(min(values.min(), 0.99))


def words(model: Any, word: str, sentences: Sequence[str], *, layer: int = -1) -> WordsPlot:
    """Compare the vectors of a word in different sentences. The vector of an occurrence is the mean of those of its tokens.

    An occurrence begins and ends with words of the tokenizer, whatever its letter case.

    Args:
        model: A task, a folder, an encoder of the zoo, or a hub name.
        word: The word, or several in a row.
        sentences: The sentences. Each has the word, and one may have it several times.
        layer: The layer of the picture; 0 for the embeddings, -1 for the last. A page has all layers.

    Returns:
        The plot. It has at most 64 occurrences, which a note says.

    Raises:
        KerasBertError: When a sentence does not have the word, there is one occurrence only, there is no such layer, or the model is a
            `.tflite` file.

    Example:
        ```python
        sentences = ["We sat on the bank of the river.", "The bank lends money.", "Her bank closed the account."]
        kb.plots.words("small-en", "bank", sentences, layer=2).save("bank.png")
        ```
    """
    word, texts = as_strings([word])[0].strip(), as_strings(sentences, "sentences")
    if not word:
        raise KerasBertError("expected a word to compare, received an empty text; name one")
    reader = model if isinstance(model, StateReader) else StateReader.open(model)
    chosen = reader.layer(layer)
    encoded = reader.tokenize(texts)
    found = [
        occurrences(reader.prefix + text, word, offsets, word_ids)
        for text, offsets, word_ids in zip(texts, encoded.offsets, encoded.word_ids, strict=True)
    ]
    _check_found(word, texts, found)
    vectors: list[Any] = [None] * len(texts)
    for row in reader.read(Features.from_encoded(encoded)):
        vectors[row.row] = [row.states[:, tokens].mean(axis=1) for tokens in found[row.row]]
    places = [
        (number, _excerpt(reader.prefix + texts[number], encoded.offsets[number][tokens[0]][0], word))
        for number, each in enumerate(found)
        for tokens in each
    ]
    if len(places) > _MOST:
        note(f"note: {word!r} occurs {len(places)} times; the first {_MOST} are compared")
    stacked = np.stack(
        [vector for each in vectors for vector in each][:_MOST], axis=1
    )  # (layers + 1, occurrences, hidden)
    unit = stacked / np.maximum(np.linalg.norm(stacked, axis=-1, keepdims=True), 1e-12)
    return WordsPlot(word, tuple(places[:_MOST]), unit @ unit.transpose(0, 2, 1), chosen)


def _check_found(word: str, texts: Sequence[str], found: Sequence[Sequence]) -> None:
    without = [number for number, each in enumerate(found) if not each]
    if without:
        raise KerasBertError(
            f"expected the word {word!r} in every sentence, received sentence {without[0] + 1} without it as a word of its own: "
            f"{shown(texts[without[0]])}; leave that sentence out, or name the word as it stands there"
        )
    if sum(map(len, found)) < 2:
        raise KerasBertError(
            f"expected the word {word!r} at two or more places, received {sum(map(len, found))}; give more sentences"
        )


def _excerpt(text: str, start: int, word: str) -> str:
    """Return the words around an occurrence on one line."""
    end = start + len(word)
    before, after = text[max(start - _BESIDE, 0) : start], text[end : end + _BESIDE]
    if start > _BESIDE:
        before = f"...{before.partition(' ')[2] or before}"
    if end + _BESIDE < len(text):
        after = f"{after.rpartition(' ')[0] or after}..."
    return " ".join(f"{before}{text[start:end]}{after}".split())


def _layer_name(layer: int) -> str:
    return f"layer {layer}" if layer else "embeddings"
