"""Attention of a text's tokens to each other, by layer and head."""

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.arguments import shown
from kerasbert.errors import KerasBertError
from kerasbert.export.reporting import markup
from kerasbert.plots.labels import label_axes
from kerasbert.plots.plot import Plot
from kerasbert.plots.scripts import script
from kerasbert.processors import Features
from kerasbert.tasks.state_reader import StateReader
from kerasbert.text.strings import as_strings
from kerasbert.values import is_whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_TOKENS = 128
_LARGEST = 40.0  # inches
_SMALLEST_LETTERS = 3.0  # points


@dataclass(frozen=True, eq=False)
class AttentionPlot(Plot):
    """The attention probabilities of one text.

    Attributes:
        tokens: The tokens of the text, special ones included.
        layers: The number of each layer, from 1 on.
        heads: The numbers of each layer's heads, from 1 on.
        weights: The probabilities of each layer, float32 `(heads, tokens, tokens)`: from each token (second axis) to each token.

    Example:
        ```python
        plot = kb.plots.attention("small-en", "The cup fell off the table because it was wobbly")
        it, cup = plot.tokens.index("it"), plot.tokens.index("cup")
        plot.weights[-1][:, it, cup]  # of each head of the last layer
        ```
    """

    tokens: tuple[str, ...]
    layers: tuple[int, ...]
    heads: tuple[tuple[int, ...], ...]
    weights: tuple[np.ndarray, ...]
    height = 860

    def title(self) -> str:
        return "Attention"

    def figure(self) -> "Figure":
        from matplotlib.figure import Figure

        rows, columns, count = len(self.layers), max(map(len, self.heads)), len(self.tokens)
        alone = rows == columns == 1
        panel = min(max(0.2 * count, 3.0), 16.0) if alone else min(max(0.1 * count, 0.9), 2.6)
        panel = min(panel, _LARGEST / max(rows, columns))
        letters = min(72 * panel / count * 0.8, 9.0)
        labels = self.tokens if letters >= _SMALLEST_LETTERS else None
        longest = max(map(len, self.tokens)) if labels else 1
        margin = 0.5 + letters / 72 * 0.65 * min(longest, 24)  # for the labels, in inches
        width, height = columns * panel + margin + 0.1, rows * panel + margin + 0.35
        figure = Figure(figsize=(width, height))
        box = {"left": margin / width, "right": 1 - 0.1 / width, "bottom": margin / height, "top": 1 - 0.35 / height}
        grid = figure.subplots(rows, columns, squeeze=False, gridspec_kw={**box, "wspace": 0.05, "hspace": 0.05})
        for row, axes_of_layer in enumerate(grid):
            for column, axes in enumerate(axes_of_layer):
                if column >= len(self.heads[row]):
                    axes.set_axis_off()
                    continue
                axes.imshow(self.weights[row][column], cmap="Blues", vmin=0, vmax=1, aspect="auto")
                last = row == rows - 1
                label_axes(axes, labels if last else None, labels if column == 0 else None, letters)
                if row == 0 or alone:
                    axes.set_title(f"head {self.heads[row][column]}", fontsize=8)
                if column == 0:
                    axes.set_ylabel(f"layer {self.layers[row]}", fontsize=8)
        return figure

    def to_dict(self) -> dict[str, Any]:
        layers = [
            {
                "layer": layer,
                "heads": [
                    {"head": head, "weights": np.round(each, 5).astype(float).round(5).tolist()}
                    for head, each in zip(heads, weights, strict=True)
                ],
            }
            for layer, heads, weights in zip(self.layers, self.heads, self.weights, strict=True)
        ]
        return {"tokens": list(self.tokens), "layers": layers}

    def body(self) -> str:
        data = {
            "tokens": self.tokens,
            "layers": self.layers,
            "heads": self.heads,
            "weights": [
                base64.b64encode(np.rint(255 * each).astype(np.uint8).tobytes()).decode() for each in self.weights
            ],
        }
        # A text may hold "</script>".
        content = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
        return "\n".join(
            [
                markup.card(
                    "Point at a token, or click it to keep it",
                    '<div class="tokens" id="tokens"></div>',
                    "<noscript><p class='note'>This page needs JavaScript.</p></noscript>",
                ),
                "<section><h2 id='asked'></h2><div class='choice' id='ways'><span>Show</span></div>"
                "<div class='choice' id='layers'><span>Layer</span></div><div id='strips'></div>"
                "<p class='note'>The stronger the colour, the more attention (square root). At the end: the token with the most.</p>"
                "</section>",
                markup.card(
                    "All layers and heads",
                    '<div class="overview" id="overview"></div>',
                    "<p class='note'>A row for each layer, a square for each head. In a square, rows attend to columns. Click one to see "
                    "it above.</p>",
                ),
                f'<script type="application/json" id="attention-data">{content}</script>',
                script("attention.js"),
            ]
        )


def attention(
    model: Any, text: str, pair: str | None = None, *, layer: int | None = None, head: int | None = None
) -> AttentionPlot:
    """Compute the attention of a text's tokens to each other.

    A layer of a model whose layers share their weights, as ALBERT's do, is a call of its block.

    Args:
        model: A task, a folder, an encoder of the zoo, or a hub name.
        text: The text. At most its first 128 tokens are shown, which a note says.
        pair: The second text of a pair.
        layer: A layer from 1 on, or below 0 from the top; None for all.
        head: A head from 1 on; None for all.

    Returns:
        The plot.

    Raises:
        KerasBertError: When the text is empty, there is no such layer or head, or the model is a `.tflite` file.

    Example:
        ```python
        plot = kb.plots.attention("small-en", "The cup fell off the table because it was wobbly", layer=-1)
        plot.save("attention.html")
        ```
    """
    texts = as_strings([text]), None if pair is None else as_strings([pair])
    for each, name in ((texts[0], "text"), (texts[1], "pair")):
        if each is not None and not each[0].strip():
            raise KerasBertError(f"expected a {name} with at least one word, received {shown(each[0])}; write one")
    reader = model if isinstance(model, StateReader) else StateReader.open(model)
    chosen = None if layer is None else reader.layer(layer, least=1)
    encoded = reader.tokenize(*texts, limit=_MOST_TOKENS)
    (row,) = reader.read(Features.from_encoded(encoded), attentions=True)
    layers = [chosen] if chosen is not None else list(range(1, len(row.attentions) + 1))
    weights = [row.attentions[number - 1] for number in layers]
    heads = [tuple(range(1, len(each) + 1)) for each in weights]
    if head is not None:
        most = min(map(len, heads))
        if not is_whole_number(head, 1, most):
            raise KerasBertError(f"expected a head from 1 to {most}, received {shown(head)}; name one of these")
        weights, heads = [each[head - 1 : head] for each in weights], [(int(head),)] * len(weights)
    tokens = tuple(reader.tokenizer.tokens(encoded.input_ids[0]))
    return AttentionPlot(tokens, tuple(layers), tuple(heads), tuple(weights))
