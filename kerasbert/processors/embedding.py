"""A text to a vector, and pairs of texts to how alike they are."""

from dataclasses import dataclass, replace

import numpy as np

from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError
from kerasbert.processors import metrics
from kerasbert.processors.base import Processor, joined, same_number
from kerasbert.processors.contributions import Correlation, Ratio
from kerasbert.processors.features import Rows
from kerasbert.processors.texts import text_examples


@dataclass(frozen=True)
class Embedding(Processor):
    """One vector a text. A pair is a row of two texts, each with its own vector.

    y: of single texts, target vectors (rows, width); of pairs, how alike they are: any number, as the loss takes it.
    """

    width: int | None = None

    name = "embedding"
    outputs = ("embedding",)
    compared_as = "embedding"

    def examples(self, x):
        return text_examples(x)

    def rows(self, examples, tokenizer, length):
        paired = bool(examples) and isinstance(examples[0], tuple)
        texts = [text for pair in examples for text in pair] if paired else examples
        rows = Rows.of(tokenizer.encode(texts, max_length=length))
        return replace(rows, example=np.arange(len(examples)), group=2) if paired else rows

    def targets(self, y, examples, rows):
        same_number(y, examples)
        if rows.group == 2:
            return LabelSet.to_scores(y)
        y = np.asarray(y, np.float32)
        if y.ndim != 2 or (self.width and y.shape[1] != self.width):
            raise KerasBertError(f"expected target vectors of shape (rows, {self.width}), received {y.shape}")
        return y

    def answers(self, examples, rows, readings):
        """Vectors; of a pair both, and their cosine."""
        if rows.group == 1:
            return [{"vector": reading["embedding"][0]} for reading in readings]
        vectors = joined(readings, "embedding").reshape(len(rows), 2, -1)
        cosines = metrics.cosine(vectors[:, 0], vectors[:, 1])
        return [{"cosine": float(c), "vectors": pair} for c, pair in zip(cosines, vectors, strict=True)]

    def scores(self, y, examples, rows, readings):
        """Of pairs, the correlation of their cosine with y; of single texts the mean cosine with the target vectors."""
        vectors, truth = joined(readings, "embedding"), self.targets(y, examples, rows)
        if rows.group == 1:
            return {"cosine": float(metrics.cosine(truth, vectors).mean())}
        found = metrics.cosine(*vectors.reshape(len(rows), 2, -1).swapaxes(0, 1))
        return {"Spearman": metrics.spearman(truth, found), "Pearson": metrics.pearson(truth, found)}

    def contributions(self, y, examples, rows, readings):
        vectors, truth = joined(readings, "embedding"), self.targets(y, examples, rows)
        if rows.group == 1:
            return Ratio.of_decisions(metrics.cosine(truth, vectors))
        found = metrics.cosine(*vectors.reshape(len(rows), 2, -1).swapaxes(0, 1))
        return Correlation(metrics.ranks(truth), metrics.ranks(found))
