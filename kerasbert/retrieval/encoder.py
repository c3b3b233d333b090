"""A sentence encoder as an index uses it: vectors of queries and of documents, each with its prompt."""

import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.call_arguments import unit_vectors
from kerasbert.export.runtime.opening import open
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.model_names import shipped_model
from kerasbert.processors.embedding import Embedding
from kerasbert.text import Tokenizer


@dataclass(frozen=True)
class Encoder:
    """A sentence encoder.

    Attributes:
        pipeline: What `kb.open` returned.
        query: The processor of queries.
        document: That of texts to search.
    """

    pipeline: Pipeline
    query: Embedding
    document: Embedding

    @classmethod
    def open(cls, model: str | os.PathLike | Pipeline, threads: int = 1) -> Self:
        """Open a model.

        Args:
            model: A file, a folder, a model of the zoo, or what `kb.open` returned.
            threads: CPU threads of the runtime.

        Raises:
            KerasBertError: When there is none, or it is no sentence encoder.
        """
        pipeline = model if isinstance(model, Pipeline) else open(model, threads=threads)
        if not isinstance(pipeline.processor, Embedding):
            raise KerasBertError(
                f"expected a sentence encoder to search texts, such as search, received {pipeline.name} for the task type "
                f"{pipeline.processor.name!r}; name another model"
            )
        return cls(pipeline, *pipeline.processor.for_search())

    @property
    def name(self) -> str:
        """The name in the zoo, or else that under which the model was opened."""
        name = os.path.splitext(os.path.basename(self.pipeline.name))[0]
        shipped = shipped_model(name)
        ships = (
            shipped is not None and os.path.exists(self.pipeline.name) and os.path.samefile(shipped, self.pipeline.name)
        )
        return name if ships else self.pipeline.name

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer."""
        task = self.pipeline.task
        return self.pipeline.tokenizer if task is None else task.tokenizer

    @property
    def room(self) -> int:
        """The most tokens of a text that are not truncated: those of a row without special tokens and prompt."""
        task = self.pipeline.task
        length = self.pipeline.length if task is None else task.sequence_length
        return length - len(self.tokenizer.encode([self.document.prefix], max_length=length).input_ids[0])

    @property
    def vectors_name(self) -> str:
        """The name of the vectors of documents: those of other weights or another prompt are others. All three languages have the same."""
        task, prompt = self.pipeline.task, self.document.prefix
        weights = self.pipeline.metadata.weights if task is None else task.fingerprint()
        return f"{weights} {zlib.crc32(prompt.encode('utf-8')):08x}" if prompt else weights

    def queries(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of queries, of length 1, float32 `(texts, dimensions)`."""
        return self._vectors(texts, self.query, None)

    def documents(self, texts: Sequence[str], report: Callable[[int, int], None] | None = None) -> np.ndarray:
        """Return the vectors of texts to search, as `queries`; `report` is called with the texts done and all texts."""
        return self._vectors(texts, self.document, report)

    def _vectors(
        self, texts: Sequence[str], processor: Embedding, report: Callable[[int, int], None] | None
    ) -> np.ndarray:
        predictions = self.pipeline.predictions(list(texts), report, processor)
        return unit_vectors(np.array([each["vector"] for each in predictions], np.float32), None)
