"""`kerasbert.open`: a `.tflite` file or a saved folder as one object that is called with texts."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kerasbert.arguments import check_flag, check_path, check_whole_number, to_list
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.call_arguments import check_search, examples_of, text_of, unit_vectors
from kerasbert.export.runtime.interpreters import check_threads
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.model_names import shipped_model
from kerasbert.processors import Processor
from kerasbert.processors.classification import Regression
from kerasbert.processors.embedding import Embedding, with_prompt

if TYPE_CHECKING:
    from kerasbert.export.runtime.predictor import Predictor
    from kerasbert.tasks.base import Task

Texts: TypeAlias = str | Sequence[str] | np.ndarray  # a text, several, or their vectors `(texts, dimensions)`


def open(name_or_path: str | os.PathLike, *, threads: int = 1, isolated: bool = False) -> "OpenedModel":
    """Open a `.tflite` file of `kerasbert convert` without TensorFlow, or a saved folder or hub name in Keras.

    Args:
        name_or_path: A file, a folder, the name of a model in the zoo, or a hub name.
        threads: CPU threads of the runtime, for a file.
        isolated: Whether a file runs in a process of its own, for files of unknown origin; see
            `kerasbert.export.runtime.predictor.open_predictor`.

    Returns:
        An object that is called with texts.

    Raises:
        KerasBertError: When nothing is there, or it is damaged or has no kerasbert metadata.

    Example:
        ```python
        model = kb.open("mine.tflite")
        model("the film was really lovely")  # {"label": "positive", "score": 0.98, "probabilities": {...}}
        model(["the film was really lovely", "the soup was simply dull"], top_k=1)  # a list of such predictions
        ```
    """
    name, threads = check_path(name_or_path, "a file, a folder or the name of a model"), check_threads(threads)
    check_flag(isolated, "isolated")
    if not os.path.exists(name) and (shipped := shipped_model(name)) is not None:
        name_or_path = shipped
    if is_tflite(name_or_path):
        from kerasbert.export.runtime.predictor import open_predictor

        return OpenedModel(name_or_path, open_predictor(name_or_path, threads, isolated=isolated))
    from kerasbert.checkpoints.hugging_face import resolve

    resolve(name_or_path)  # a name that is not there is an error before TensorFlow is loaded
    from kerasbert.tasks.auto import load_task

    return OpenedModel(name_or_path, load_task(name_or_path))


class OpenedModel:
    """A model that predicts when it is called, as its task does. `open` makes it.

    Args:
        name: The name under which it was opened.
        predictor: The file or the task.

    Attributes:
        processor: The task's processor, see `kerasbert.processors`.
        labels: Names of the classes or tags; None for a task without labels.

    Example:
        ```python
        model = kb.open("small-en")
        model.similarity("wake me at six", "set an alarm for 6")
        model.search("alarm", ["wake me at six", "play some jazz"], top_k=1)
        ```
    """

    def __init__(self, name: str | os.PathLike, predictor: "Predictor | Task"):
        self._name, self._predictor = os.fspath(name), predictor
        self.processor: Processor = predictor.processor
        self.labels = self.processor.labels

    def __repr__(self) -> str:
        return f"<kerasbert {self.processor.name} model {self._name!r}>"

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
        listing = self._processor_listing(top_k)
        return self._predict(x, second, top_k, with_prompt(listing, prompt_name, prompt) or listing)

    def _predict(self, x: Any, second: Any, top_k: int | None, processor: Processor) -> Any:
        examples = examples_of(self.processor, x, second)
        if isinstance(examples, list) and not examples:
            return [] if self._embedding is None else np.zeros((0, self._embedding.width or 0), np.float32)
        predictions: Any = self._predictor.predictions(examples, processor=processor)
        limit = self.processor.display.limit
        if top_k is not None and limit:
            predictions = [limit(prediction, top_k) for prediction in predictions]
        if self._embedding is not None:
            key = "vector" if predictions and "vector" in predictions[0] else "cosine"
            predictions = np.array([prediction[key] for prediction in predictions], np.float32)
        return predictions[0] if isinstance(x, str) else predictions

    def score(self, x: Any, y: Any = None) -> dict[str, float]:
        """Compute the task's metrics on labelled examples, or on a table of `kerasbert.data`; see `Task.score`.

        Args:
            x: Examples as the task takes them, or a table of `kerasbert.data`.
            y: Labels; None takes those of the table.

        Returns:
            The metrics by name; the first is the main one.

        Raises:
            KerasBertError: When there are no labels, or an example or a label cannot be used.
        """
        return self._predictor.score(x, y)

    def similarity(self, a: Texts, b: Texts) -> float | np.ndarray:
        """Compute cosines between texts with a sentence encoder.

        Args:
            a: A text, several, or their vectors `(texts, dimensions)` from an earlier call.
            b: The same for the other side.

        Returns:
            A number from -1 to 1 for two texts, otherwise an array with a row for each of `a` and a column for each of `b`.

        Raises:
            KerasBertError: when the model is no sentence encoder, or vectors have another width.
        """
        cosines = self._cosines(a, b)
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
        best = np.argsort(-scores, kind="stable")[:limit]
        has_texts = not isinstance(texts, np.ndarray) or texts.dtype.kind != "f"
        return [
            {"index": int(i), "score": float(scores[i]), **({"text": text_of(texts[i])} if has_texts else {})}
            for i in best
        ]

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
        best = np.argsort(-scores, kind="stable")[:top_k]
        return [{"index": int(i), "score": float(scores[i]), "text": text_of(texts[i])} for i in best]

    @property
    def _embedding(self) -> Embedding | None:
        """The processor of a sentence encoder; None for other tasks."""
        return self.processor if isinstance(self.processor, Embedding) else None

    def _cosines(self, a: Texts, b: Texts) -> np.ndarray:
        return self._unit_vectors(a) @ self._unit_vectors(b).T

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
        return unit_vectors(self._predict(examples, None, None, processor or self.processor), None)

    def _processor_listing(self, top_k: int | None) -> Processor:
        """Return a processor whose predictions list at least `top_k` entries."""
        if top_k is None:
            return self.processor
        if self.processor.display.limit is None:
            raise KerasBertError(
                "expected top_k for classes, masked words or answers to questions, received it for the task type "
                f"{self.processor.name!r}; leave it out"
            )
        return self.processor.listing(check_whole_number(top_k, "a top_k"))
