"""What each layer knows about a task: the scores of a linear probe on its hidden states."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kerasbert.arguments import check_choice, check_whole_number
from kerasbert.console.progress import Progress
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.export.reporting import markup
from kerasbert.export.reporting.charts import bar_chart, line_chart
from kerasbert.plots.labelled_data import labelled_data
from kerasbert.plots.linear_probes import LinearProbes
from kerasbert.plots.plot import Plot
from kerasbert.processors import IGNORED, Features
from kerasbert.processors.classification import TextProcessor
from kerasbert.processors.labelled_outputs import check_finite
from kerasbert.processors.tagging import Tagging
from kerasbert.tasks.base import Task, check_task
from kerasbert.tasks.state_reader import StateReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BYTES = 8 << 30
VECTORS = ("mean", "cls")


@dataclass(frozen=True, eq=False)
class LayersPlot(Plot):
    """The scores of linear probes on the layers of an encoder.

    Attributes:
        metric: The name of the score: the task's main metric.
        scores: The score of each seed's probe on each layer, `(seeds, layers + 1)`; the embeddings come first.
        head: The score of the model's own trained head on the same data, or None.
        mix: The weight of each layer in the learned weighted sum of the encoder, `(layers + 1,)`, or None without one.

    Example:
        ```python
        plot = kb.plots.layers(task, "train.tsv", "dev.tsv", seeds=2)
        plot.metric, plot.scores.mean(axis=0), plot.scores.std(axis=0)
        ```
    """

    metric: str
    scores: np.ndarray
    head: float | None = None
    mix: np.ndarray | None = None
    height = 620

    def title(self) -> str:
        return "What each layer knows"

    def figure(self) -> "Figure":
        from matplotlib.figure import Figure

        count = 1 if self.mix is None else 2
        figure = Figure(figsize=(max(6.4, 0.45 * self.scores.shape[1]), 3.4 * count), layout="constrained")
        upper, *others = figure.subplots(count, 1, squeeze=False).ravel()
        layers = np.arange(self.scores.shape[1])
        upper.errorbar(
            layers, self.scores.mean(axis=0), self.spread(), marker="o", markersize=4, capsize=3, label="linear probe"
        )
        if self.head is not None:
            upper.axhline(self.head, color="tab:orange", linewidth=1, label="the model's own head")
        upper.set_ylabel(self.metric)
        upper.legend(frameon=False)
        for axes in others:
            axes.bar(layers, self.mix, color="tab:green")
            axes.set_ylabel("weight in the sum of layers")
        for axes in (upper, *others):
            axes.set_xticks(layers)
            axes.grid(alpha=0.3)
            axes.set_xlabel("layer (0: the embeddings)")
        return figure

    def spread(self) -> np.ndarray:
        """Return the standard deviation over the seeds, `(layers + 1,)`; 0 with one seed."""
        return self.scores.std(axis=0, ddof=1) if len(self.scores) > 1 else np.zeros(self.scores.shape[1])

    def to_dict(self) -> dict[str, Any]:
        layers = [
            {"layer": layer, "mean": float(mean), "standard deviation": float(deviation), "scores": scores.tolist()}
            for layer, (mean, deviation, scores) in enumerate(
                zip(self.scores.mean(axis=0), self.spread(), self.scores.T, strict=True)
            )
        ]
        mix = None if self.mix is None else self.mix.tolist()
        return {"metric": self.metric, "layers": layers, "head": self.head, "mix": mix}

    def body(self) -> str:
        means = self.scores.mean(axis=0)
        series = {"mean of the seeds": list(enumerate(means.tolist()))}
        if len(self.scores) > 1:
            series |= {
                "best seed": list(enumerate(self.scores.max(axis=0).tolist())),
                "worst seed": list(enumerate(self.scores.min(axis=0).tolist())),
            }
        if self.head is not None:
            series["the model's own head"] = [(0, self.head), (len(means) - 1, self.head)]
        rows = [
            (str(layer), f"{mean:.4f}", f"{deviation:.4f}")
            for layer, (mean, deviation) in enumerate(zip(means, self.spread(), strict=True))
        ]
        note = f"<p class='note'>Probes with {len(self.scores)} seeds. Layer 0 is the output of the embeddings.</p>"
        cards = [
            markup.card(f"A linear probe on each layer: {self.metric}", line_chart(series, "layer", self.metric), note),
            markup.card("Scores", markup.table(("layer", self.metric, "standard deviation"), rows)),
        ]
        if self.mix is not None:
            bars = [(f"layer {layer}" if layer else "embeddings", float(each)) for layer, each in enumerate(self.mix)]
            cards.append(markup.card("Weights of the learned sum of layers", bar_chart(bars, "{:.3f}".format)))
        return markup.grid(cards)


def layers(
    task: Task,
    data: Any,
    dev: Any,
    *,
    vectors: str = "mean",
    seeds: int = 3,
    epochs: int | None = None,
    progress: Progress | None = None,
) -> LayersPlot:
    """Train a linear probe on the hidden states of each layer, and score it (Alain and Bengio 2016).

    The encoder stays as it is. A probe of a classifier reads one vector of a text, and that of a tagger the vector of a word's first token.

    Args:
        task: A text classifier or a token tagger, whose labels the probes learn. Its head is not used, and may be new.
        data: The training data: a dataset of `kb.data`, a file, or a pair of examples and labels.
        dev: The data to score on, in the same form.
        vectors: Of a text: `mean` (over all tokens) or `cls` (of the first one).
        seeds: Number of probes of each layer. A seed draws the first weights and the order of the rows.
        epochs: Passes of the probes over the training data; None for 20, and for more where these are fewer than 600 steps.
        progress: Receives the progress.

    Returns:
        The plot.

    Raises:
        KerasBertError: When the task is of another kind, labels cannot be used, or the hidden states need more than 8 GB.

    Example:
        ```python
        task = kb.TextClassifier.from_pretrained("small-en", labels=["negative", "positive"], sequence_length=32)
        plot = kb.plots.layers(task, "train.tsv", "dev.tsv")
        plot.save("layers.png")
        ```
    """
    check_task(task)
    processor, progress = task.processor, progress or Progress()
    if not isinstance(processor, TextProcessor | Tagging):
        raise KerasBertError(
            f"expected a text classifier or a token tagger for probes, received {type(task).__name__}; train one of these on its encoder"
        )
    check_choice(vectors, "vectors as one of", VECTORS)
    probes = LinearProbes(
        task.soft_loss.removeprefix("token_"),
        len(task.labels or ()),
        check_whole_number(seeds, "seeds"),
        None if epochs is None else check_whole_number(epochs, "epochs"),
    )
    train, scored = (labelled_data(task, each) for each in (data, dev))
    progress.begin("reading training data", unit="rows")
    states, targets = _training_rows(task, train, vectors, progress)
    progress.begin("training probes", unit="steps")
    probes.fit(states, targets, progress.advance)
    del states
    progress.begin("reading dev data", unit="rows")
    metric, scores = _scores(task, probes, scored, vectors, progress)
    head = next(iter(task.score(scored).values())) if _has_trained_head(task) else None
    mix = task.encoder.layer_mix
    return LayersPlot(metric, scores, head, None if mix is None else mix.layer_weights())


def _has_trained_head(task: Task) -> bool:
    """Tell whether the head of a task was loaded, or trained by a run or by `fit`."""
    optimizer = getattr(task, "optimizer", None)
    return not task.has_new_head or (optimizer is not None and int(optimizer.iterations) > 0)


def _vectors(task: Task, features: Features, vectors: str, progress: Progress) -> Any:
    """Yield the number of each row, and the vectors that its probes read: `(tokens, layers + 1, hidden)`, one for a text."""
    reader = StateReader.open(task)
    for row in reader.read(features, report=progress.advance):
        if isinstance(task.processor, Tagging):
            yield row.row, row.states.transpose(1, 0, 2)
        else:
            yield row.row, (row.states[:, 0] if vectors == "cls" else row.states.mean(axis=1))[None]


def _training_rows(task: Task, data: Dataset, vectors: str, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors that probes learn from, and their labels."""
    examples, features = task.features(data)
    labels = task.processor.encode_labels(data.y, examples or [], features)
    chosen = [np.flatnonzero(row != IGNORED) for row in labels] if isinstance(task.processor, Tagging) else None
    count = len(features) if chosen is None else sum(map(len, chosen))
    size = 4 * count * (len(task.encoder.stack()) + 1) * task.config.hidden_size
    if size > _MOST_BYTES:
        raise KerasBertError(
            f"expected data whose hidden states fit into {_MOST_BYTES >> 30} GB, received {count:,} vectors, which need "
            f"{size / 2**30:.0f}; take fewer rows"
        )
    if not count:
        raise KerasBertError("expected labels of words that the tokenizer keeps, received none; check the data")
    states: list[Any] = [None] * len(features)
    for number, found in _vectors(task, features, vectors, progress):
        states[number] = found if chosen is None else found[chosen[number]]
    if chosen is None:
        targets = np.asarray(labels)
        targets = targets if task.soft_loss == "softmax" else targets.reshape(len(targets), -1)
    else:
        targets = np.concatenate([row[places] for row, places in zip(labels, chosen, strict=True)])
    return np.concatenate(states), targets


def _scores(
    task: Task, probes: LinearProbes, data: Dataset, vectors: str, progress: Progress
) -> tuple[str, np.ndarray]:  # fmt: skip
    """Return the name of the metric, and the score of each seed and layer."""
    processor = task.processor
    examples, features = task.features(data, scoring=True)
    answers: list[Any] = [None] * len(features)
    for number, found in _vectors(task, features, vectors, progress):
        answers[number] = probes.predict(found)  # (seeds, layers, tokens, outputs)
    seeds, layer_count = answers[0].shape[:2]
    scores, name = np.zeros((seeds, layer_count)), ""
    for seed, layer in np.ndindex(seeds, layer_count):
        outputs = [each[seed, layer] if isinstance(processor, Tagging) else each[seed, layer, 0] for each in answers]
        raw = [processor.raw_result({processor.outputs[0]: each}, features, row) for row, each in enumerate(outputs)]
        check_finite(raw)
        name, scores[seed, layer] = next(iter(processor.metrics(data.y, examples or [], features, raw).items()))
    return name, scores
