"""`kerasbert.open`: a `.tflite` file or a saved folder, ready to be called with texts."""

import os
from collections.abc import Sequence

import numpy as np

from kerasbert.data.table import is_table
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.file_kind import is_tflite
from kerasbert.processors import Processor
from kerasbert.processors.embedding import Embedding


def open(name_or_path: str | os.PathLike, *, threads: int = 1, isolated: bool = False) -> "OpenedModel":
    """Opens a `.tflite` file of `kerasbert convert`, without TensorFlow; or else a saved folder or hub name, in Keras.

        model = kerasbert.open("model.tflite")
        model("a gripping film")  # {"label": "positive", "score": 0.98, "probabilities": {...}}
        model(["a gripping film", "two hours too long"], top_k=1)  # a list of such answers

    Args:
        name_or_path: a file, a folder or a hub name.
        threads: CPU threads, of a file.
        isolated: run a file in a process of its own, for files of unknown origin: see `kerasbert.export.runtime.predictor.open_predictor`.

    Raises:
        KerasBertError: nothing is there, or what is there is damaged or carries no kerasbert metadata.
    """
    if is_tflite(name_or_path):
        from kerasbert.export.runtime.predictor import open_predictor

        return OpenedModel(name_or_path, open_predictor(name_or_path, threads, isolated=isolated))
    from kerasbert.tasks.auto import load_task

    return OpenedModel(name_or_path, load_task(name_or_path))


class OpenedModel:
    """A model that answers when it is called, in the way of its task (the table in docs/tasks.md); made by `open`.

    Attributes:
        processor: what the model is asked and answers, see `kerasbert.processors`; `processor.name` is its name.
        labels: names of the classes or tags, None where there are none.
    """

    def __init__(self, name: str | os.PathLike, predictor):
        self._name, self._predictor = os.fspath(name), predictor
        self.processor: Processor = (
            predictor.processor if isinstance(predictor.processor, Processor) else predictor.processor
        )
        self.labels = self.processor.labels

    def __repr__(self) -> str:
        return f"<kerasbert {self.processor.name} model {self._name!r}>"

    def __call__(self, x, second=None, *, top_k: int | None = None):
        """Answers to texts, one an example.

        Args:
            x: a text, or any number of them; or what the task takes: tuples, words, a table of `kerasbert.data`.
            second: the second text of a pair, the context of a question (one for all, or one each), or the choices of a prompt.
            top_k: how many classes, answers to a question or words for a mask an answer lists, the likeliest first.

        Returns:
            Of a text its answer, of several a list of answers, JSON-able: dicts as `kerasbert predict --json` gives them. Of a sentence
            encoder a vector (dimensions,) or vectors (texts, dimensions), float32; of pairs their cosines.

        Raises:
            KerasBertError: examples that the task does not take, or a `top_k` below 1 or for a task without several answers.
        """
        single = isinstance(x, str)
        processor = self._with_top(top_k)
        examples = _examples(self.processor, x, second)
        if isinstance(examples, list) and not examples:
            return np.zeros((0, self.processor.width or 0), np.float32) if self._encodes else []
        answers = self._predictor.predictions(examples, processor=processor)
        if top_k is not None:
            limit = self.processor.display.limit
            answers = [limit(answer, top_k) for answer in answers] if limit else answers
        if self._encodes:
            name = "vector" if answers and "vector" in answers[0] else "cosine"
            answers = np.array([answer[name] for answer in answers], np.float32)
        return answers[0] if single else answers

    def score(self, x, y=None) -> dict[str, float]:
        """The task's metrics by name on labelled examples, or on a table of `kerasbert.data`; see `Task.score`."""
        return self._predictor.score(x, y)

    def similarity(self, a, b):
        """Cosines from -1 to 1 between texts, by a sentence encoder.

        a, b: a text, several, or their vectors (texts, dimensions) from an earlier call. Two texts give a float, otherwise an array with a
        row for each of `a` and a column for each of `b`.

        Raises KerasBertError for a model that is no sentence encoder, and for vectors of another width.
        """
        cosines = self._unit_vectors(a) @ self._unit_vectors(b).T
        return float(cosines[0, 0]) if isinstance(a, str) and isinstance(b, str) else cosines

    def search(self, query: str, texts: Sequence[str] | np.ndarray, top_k: int = 10) -> list[dict]:
        """The texts that are most like a query, best first, each as `index`, `score` (its cosine) and `text`.

        texts: texts, or their vectors from an earlier call, which saves running them for every query; those have no `text`.

        Raises KerasBertError as `similarity` does, and for a `top_k` below 1.
        """
        if not isinstance(query, str):
            raise KerasBertError(f"expected one text as a query, received {type(query).__name__}; call search for each")
        if isinstance(texts, str):
            raise KerasBertError("expected several texts to search, received one; use similarity for two texts")
        if top_k < 1:
            raise KerasBertError(f"expected a top_k of at least 1, received {top_k}")
        texts = texts if isinstance(texts, np.ndarray) else list(texts)
        if not len(texts):
            return []
        scores = self.similarity([query], texts)[0]
        best = np.argsort(-scores, kind="stable")[:top_k]
        known = not isinstance(texts, np.ndarray) or texts.ndim == 1
        return [
            {"index": int(i), "score": float(scores[i]), **({"text": str(texts[i])} if known else {})} for i in best
        ]

    @property
    def _encodes(self) -> bool:
        return isinstance(self.processor, Embedding)

    def _unit_vectors(self, texts) -> np.ndarray:
        """Vectors of length 1, (texts, dimensions)."""
        if not self._encodes:
            raise KerasBertError(
                f"expected a sentence encoder to compare texts, received a model of the task type {self.processor.name!r}; call it for its "
                "predictions"
            )
        given = isinstance(texts, np.ndarray) and texts.dtype.kind == "f"
        vectors = np.atleast_2d(texts if given else self([texts] if isinstance(texts, str) else list(texts)))
        if given and self.processor.width and vectors.shape[-1] != self.processor.width:
            raise KerasBertError(f"expected vectors of {self.processor.width} dimensions, received {vectors.shape[-1]}")
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        return (vectors / np.where(norms == 0, 1.0, norms)).astype(np.float32)

    def _with_top(self, top_k: int | None) -> Processor:
        if top_k is None:
            return self.processor
        if self.processor.display.limit is None:
            raise KerasBertError(
                "expected top_k for classes, masked words or answers to questions, received it for the task type "
                f"{self.processor.name!r}; leave it out"
            )
        if not isinstance(top_k, int | np.integer) or isinstance(top_k, bool) or top_k < 1:
            raise KerasBertError(f"expected a top_k of at least 1, received {top_k!r}")
        return self.processor.listing(int(top_k))


def _examples(processor: Processor, x, second):
    """Both arguments of a call as what the processor takes."""
    if is_table(x):
        return x
    single = isinstance(x, str)
    if second is None and (isinstance(x, list | tuple) or hasattr(x, "__array__")):
        return x
    if second is None:
        return [x] if single else _listed(x)
    if processor.second_input == "none":
        raise KerasBertError(f"expected single texts for a model of the task {processor.name!r}, received second ones")
    firsts = [x] if single else _listed(x)
    if processor.second_input == "choices":
        seconds = [second] if single else _listed(second)
    else:
        seconds = [second] if isinstance(second, str) else _listed(second)
    if processor.second_input == "context" and isinstance(second, str):
        seconds *= len(firsts)
    if len(firsts) != len(seconds):
        raise KerasBertError(f"expected one second text for each first one, received {len(seconds)} for {len(firsts)}")
    return list(zip(firsts, seconds, strict=True))


def _listed(values) -> list:
    try:
        return list(values)
    except TypeError:
        raise KerasBertError(f"expected a text or several, received {type(values).__name__}") from None
