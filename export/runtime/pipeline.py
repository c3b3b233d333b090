"""A `.tflite` file or a saved folder as one object that is called with texts."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kerasbert.arguments import to_list
from kerasbert.console.output import note
from kerasbert.data import dataset
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.call_arguments import best_first, check_search, examples_of, listing, unit_vectors
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.runtime.isolated_session import WorkerProcess
from kerasbert.export.runtime.padding import padding_note
from kerasbert.export.runtime.ports import check_ports
from kerasbert.export.runtime.runner import Report, Runner
from kerasbert.export.tflite.metadata import TEXT
from kerasbert.processors import Features, Processor, RawResult
from kerasbert.processors.classification import Regression
from kerasbert.processors.embedding import Embedding, with_prompt
from kerasbert.processors.exits import raw_result_of, with_layers, with_mean_layers
from kerasbert.processors.labelled_outputs import LabelledOutputs, labelled_outputs
from kerasbert.sharing import PerProcess

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task

_DEFAULT_LENGTH = 128  # tokens, if neither file nor tokenizer has a limit

Texts: TypeAlias = str | Sequence[str] | np.ndarray  # a text, several, or their vectors `(texts, dimensions)`


@dataclass(frozen=True, repr=False, eq=False)
class Pipeline:
    """A model that predicts when it is called with texts: a processor, a tokenizer, and a file or a task that runs rows.

    `kerasbert.open` makes it. Several threads may call it.

    Attributes:
        name: The name under which it was opened; of a file its path.
        processor: The task's processor, see `kerasbert.processors`.
        task: The task that runs; None for a file.
        tokenizer: The file's `Tokenizer`; None for a task.
        metadata: The file's `Metadata`; None for a task.
        threads: CPU threads of the runtime.
        kernels: The kernel set, see `open_model`.
        process: The process that the file runs in; None for this one.

    Example:
        ```python
        model = kb.open("small-en")
        model.similarity("wake me at six", "set an alarm for 6")
        model.search("alarm", ["wake me at six", "play some jazz"], top_k=1)
        ```
    """

    name: str
    processor: Processor
    task: "Task | None" = None
    tokenizer: Any = None
    metadata: Any = None
    threads: int = 1
    kernels: str = "xnnpack"
    process: WorkerProcess | None = None
    _notes: set[str] = field(default_factory=set)
    # An interpreter does not run in a forked process, which opens the file anew.
    _opened: PerProcess = field(default_factory=lambda: PerProcess("a model"))

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the classes or tags; None for a task without labels."""
        return self.processor.labels

    @property
    def length(self) -> int:
        """Tokens of the longest row: the file's length; of a resizable file that of the task it was converted from."""
        length = self.metadata.sequence_length or self.metadata.row_length
        return length or min(self.tokenizer.model_max_length or _DEFAULT_LENGTH, _DEFAULT_LENGTH)

    def __repr__(self) -> str:
        return f"<kerasbert {self.processor.name} model {self.name!r}>"

    def __call__(
        self,
        x: Any,
        second: Any = None,
        *,
        top_k: int | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
    ) -> Any:
        """Predict, with one prediction an example.

        Args:
            x: A text or several; or examples as the task takes them: tuples, words, a table of `kerasbert.data`.
            second: The second text of a pair, the context of a question (one for all, or one each), or the choices of a prompt.
            top_k: The number of classes, answers or words that a prediction lists, the likeliest first.
            prompt_name: The name of the prompt that a sentence encoder puts before each text; by default its default one.
            prompt: A text to put there instead; "" for none.

        Returns:
            One prediction for a text, a list for several; JSON-able dicts as in `kerasbert predict --json`. A sentence encoder returns a
            vector `(dimensions,)` or vectors `(texts, dimensions)` in float32, and the cosines of pairs.

        Raises:
            KerasBertError: when the task does not take the examples, `top_k` is below 1 or does not apply to the task, or there is no such
                prompt.
        """
        processor = listing(self.processor, top_k)
        return self._call(x, second, top_k, with_prompt(processor, prompt_name, prompt) or processor)

    def _call(self, x: Any, second: Any, top_k: int | None, processor: Processor) -> Any:
        examples = examples_of(self.processor, x, second)
        if isinstance(examples, list) and not examples:
            return [] if self._embedding is None else np.zeros((0, self._embedding.width or 0), np.float32)
        predictions: Any = self.predictions(examples, processor=processor)
        limit = self.processor.display.limit
        if top_k is not None and limit:
            predictions = [limit(prediction, top_k) for prediction in predictions]
        if self._embedding is not None:
            key = "vector" if predictions and "vector" in predictions[0] else "cosine"
            predictions = np.array([prediction[key] for prediction in predictions], np.float32)
        return predictions[0] if isinstance(x, str) else predictions

    def predictions(self, x: Any, report: Report | None = None, processor: Processor | None = None) -> list:
        """Predict, as `Task.predictions` does.

        Args:
            x: Examples as the processor takes them, or a table of `kerasbert.data`.
            report: Called with the rows done and all rows.
            processor: Makes features and predictions in place of the model's own processor, to list more of them or for another prompt.

        Returns:
            One prediction an example, JSON-able.
        """
        if self.task is not None:
            return self.task.predictions(x, report=report, processor=processor)
        if processor is not None and processor.prefix and self.metadata.inputs == TEXT:
            raise KerasBertError(
                f"expected no prompt for {self.name}, which takes texts, received one; put it before the texts"
            )
        processor = processor or self.processor
        examples, features = self._features(x, processor)
        raw_results = self._raw_results(examples, features, report)
        return with_layers(processor.predictions(examples, features, raw_results), features, raw_results)

    def score(self, x: Any, y: Any = None, report: Report | None = None) -> dict[str, float]:
        """Compute the task's metrics on labelled examples, or on a table of `kerasbert.data`; see `Task.score`.

        Args:
            x: Examples as the task takes them, or a table of `kerasbert.data`.
            y: Labels; None takes those of the table.
            report: Called with the rows done and all rows.

        Returns:
            The metrics by name; the first is the main one.

        Raises:
            KerasBertError: When there are no labels, outputs are not finite, or an example or a label cannot be used.
        """
        outputs = self.labelled_outputs(x, y, report)
        return with_mean_layers(self.processor.metrics(*outputs), outputs.raw_results)

    def labelled_outputs(self, x: Any, y: Any = None, report: Report | None = None) -> LabelledOutputs:
        """Compute what metrics and other comparisons with labels need.

        Args:
            x: Examples as the task takes them, or a table of `kerasbert.data`.
            y: Labels; None takes those of the table.
            report: Called with the rows done and all rows.

        Returns:
            The labels, the examples, their features and the raw results, as `Processor.metrics` takes them.

        Raises:
            KerasBertError: As `score`.
        """
        if self.task is not None:
            return self.task.labelled_outputs(x, y, report=report)
        return labelled_outputs(
            self.processor,
            dataset.labels_of(x, y),
            lambda: self._features(x, self.processor, scoring=True),
            lambda examples, features: self._raw_results(examples, features, report),
            self._note_once,
        )

    def similarity(self, a: Texts, b: Texts) -> float | np.ndarray:
        """Compute cosines between texts with a sentence encoder.

        Args:
            a: A text, several, or their vectors `(texts, dimensions)` from an earlier call.
            b: The texts or vectors to compare with, as `a`.

        Returns:
            A number from -1 to 1 for two texts, otherwise an array with a row for each of `a` and a column for each of `b`.

        Raises:
            KerasBertError: when the model is no sentence encoder, or vectors have another width.
        """
        cosines = self._unit_vectors(a) @ self._unit_vectors(b).T
        return float(cosines[0, 0]) if isinstance(a, str) and isinstance(b, str) else cosines

    def search(self, query: str, texts: Sequence[str] | np.ndarray, top_k: int = 10) -> list[dict[str, Any]]:
        """Find the texts that are most similar to a query.

        A model with prompts named `query`, and `document`, `passage` or `corpus`, puts them before the query and before each text, as
        `encode_query` and `encode_document` of sentence-transformers do. If it has one of them only, the other one is empty. If
        it has neither, its default prompt stands before all texts.

        Args:
            query: A text.
            texts: Texts; or their vectors from an earlier call, which saves running them for every query. That call needs the prompt of
                the texts, such as `prompt_name="document"`.
            top_k: The number of texts to find.

        Returns:
            The best texts first, each as `index`, `score` (its cosine) and, unless vectors were passed, `text`.

        Raises:
            KerasBertError: as `similarity` does, and when `top_k` is below 1.
        """
        limit = check_search(query, texts, top_k)
        texts = texts if isinstance(texts, np.ndarray) and texts.ndim else to_list(texts, "several texts to search")
        if not len(texts):
            return []
        queries, documents = (None, None) if self._embedding is None else self._embedding.for_search()
        scores = (self._unit_vectors([query], queries) @ self._unit_vectors(texts, documents).T)[0]
        return best_first(scores, texts, limit)

    def rank(self, query: str, texts: Sequence[str], top_k: int | None = None) -> list[dict[str, Any]]:
        """Order texts by the score of a model of pairs, such as a cross-encoder. It runs once for each text.

        Args:
            query: The first text of every pair.
            texts: The second texts.
            top_k: The number of texts to return; by default all.

        Returns:
            The texts with the highest scores first, each as `index`, `score` and `text`.

        Raises:
            KerasBertError: When the model has no score for pairs, or `top_k` is below 1.

        Example:
            ```python
            ranked = kb.open("runs/reranker").rank("where is my parcel", ["it rained on Friday", "it is at the depot"])
            ranked[0]["text"]
            ```
        """
        if self.processor.name != Regression.name:
            raise KerasBertError(
                f"expected a model with one score for a pair, as a cross-encoder has, received the task type {self.processor.name!r}; "
                + ("use search" if self._embedding is not None else "call it for its predictions")
            )
        top_k = check_search(query, texts, top_k)
        texts = to_list(texts, "several texts to rank")
        if not texts:
            return []
        scores = np.array([each["score"] for each in self([(query, text) for text in texts])])
        return best_first(scores, texts, top_k)

    def row_outputs(
        self, examples: Sequence, features: Features, report: Report | None = None
    ) -> Iterator[tuple[int, dict[str, np.ndarray], int]]:
        """Run the rows of a file, each at the shortest length that it fits; see `Runner.run`.

        Args:
            examples: The examples, for a file that takes texts.
            features: Their rows.
            report: Called with the rows done and all rows.

        Returns:
            What `Runner.run` yields.
        """
        texts = examples if self.metadata.inputs == TEXT else None
        runner: Runner = self._opened.get(self._open)
        check = functools.partial(check_ports, processor=self.processor, takes_text=texts is not None)
        return runner.run(features, self.tokenizer.pad_id, check, texts, report)

    def _raw_results(self, examples: Sequence, features: Features, report: Report | None) -> list[RawResult]:
        raw_results: list[RawResult] = [{}] * len(features)
        for row, outputs, _ in self.row_outputs(examples, features, report):
            values = outputs if features.group > 1 else {name: value[0] for name, value in outputs.items()}
            raw_results[row] = raw_result_of(self.processor, values, features, row)
        return raw_results

    def _open(self) -> Runner:
        opens = functools.partial(open_model, self.name, self.threads, self.kernels, verified=True)
        lengths = self.metadata.lengths or (), self.metadata.sequence_length
        return Runner(self.process.open if self.process else opens, self.length, *lengths)

    def _features(self, x: Any, processor: Processor, scoring: bool = False) -> tuple[Sequence, Features]:
        """Return examples and their features; notes how many texts were cut, and whether the file pads much."""
        examples = self.processor.examples(dataset.examples_of(x))
        if not examples:
            raise KerasBertError("expected at least one text, received none; pass texts")
        make = processor.scoring_features if scoring else processor.features
        features = make(examples, self.tokenizer, self.length)
        if features.truncated:
            note(
                f"note: {features.truncated:,} of {len(examples):,} {self.processor.truncated_items} are too long for {self.length} tokens "
                "and were truncated"
            )
        if line := padding_note(self.metadata, features.lengths):
            self._note_once(line)
        return examples, features

    def _note_once(self, line: str) -> None:
        if line not in self._notes:
            self._notes.add(line)
            note(line)

    @property
    def _embedding(self) -> Embedding | None:
        """The processor of a sentence encoder; None for other tasks."""
        return self.processor if isinstance(self.processor, Embedding) else None

    def _unit_vectors(self, texts: Texts, processor: Processor | None = None) -> np.ndarray:
        """Return vectors of length 1, `(texts, dimensions)`.

        Args:
            texts: Texts or their vectors.
            processor: A processor with another prompt.
        """
        if self._embedding is None:
            raise KerasBertError(
                f"expected a sentence encoder to compare texts, received a model of the task type {self.processor.name!r}; call it for its "
                "predictions"
            )
        if isinstance(texts, np.ndarray) and texts.dtype.kind == "f":
            return unit_vectors(texts, self._embedding.width)
        examples = self._embedding.examples([texts] if isinstance(texts, str) else to_list(texts, "texts, or vectors"))
        if examples and isinstance(examples[0], tuple):
            raise KerasBertError(
                "expected texts to compare, received pairs; call the model for the cosine of each pair"
            )
        return unit_vectors(self._call(examples, None, None, processor or self.processor), None)
