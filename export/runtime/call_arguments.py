"""The arguments of a call of an opened model: examples, second texts and vectors, checked before anything runs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kerasbert.arguments import check_whole_number, shown, to_list
from kerasbert.data.dataset import Dataset
from kerasbert.errors import KerasBertError
from kerasbert.processors import Processor


def examples_of(processor: Processor, x: Any, second: Any) -> Any:
    """Combine both arguments of a call into examples as the processor takes them.

    Args:
        processor: The task's processor.
        x: The first argument.
        second: The second one, or None.

    Raises:
        KerasBertError: When they are no examples of the task, or of different numbers.
    """
    _refuse_names(x)
    if isinstance(x, Dataset):
        if second is not None:
            raise KerasBertError("expected a table alone, received second texts beside it; put them in a column of it")
        return x
    single = isinstance(x, str)
    if second is None and not single and (isinstance(x, list | tuple) or hasattr(x, "__array__")):
        return x
    firsts = [x] if single else to_list(x, "a text or several")
    if second is None:
        return firsts
    if processor.second_input == "none":
        raise KerasBertError(
            f"expected single texts for a model of the task type {processor.name!r}, received second ones; leave them out"
        )
    one_second = single if processor.second_input == "choices" else isinstance(second, str)
    seconds = [second] if one_second else to_list(second, "a second text or several")
    if processor.second_input == "context" and isinstance(second, str):
        seconds *= len(firsts)
    if len(firsts) != len(seconds):
        raise KerasBertError(
            f"expected one second text for each first one, received {len(seconds)} for {len(firsts)}; pass as many"
        )
    return list(zip(firsts, seconds, strict=True))


def _refuse_names(x: Any) -> None:
    """Refuse values by name, such as the arrays that a Keras model takes: the names would be read as texts."""
    if isinstance(x, Mapping):
        keys = ", ".join(shown(key) for key in list(x)[:3]) or "no keys"
        advice = "pass the texts in a list"
        if "input_ids" in x:
            advice = "pass texts; arrays run in kb.export.open_model(path).run, or in kb.load_task(folder).predict"
        raise KerasBertError(f"expected a text or several, received a {type(x).__name__} with {keys}; {advice}")


def check_search(query: Any, texts: Any, top_k: Any) -> int | None:
    """Check the arguments of a search among texts.

    Returns:
        The number of texts to find, or None.

    Raises:
        KerasBertError: When the query is not one text, there is one text to search only, or `top_k` is no number of texts.
    """
    if not isinstance(query, str):
        raise KerasBertError(f"expected one text as a query, received {type(query).__name__}; call it for each")
    if isinstance(texts, str):
        raise KerasBertError("expected several texts to search, received one; put it in a list")
    return None if top_k is None else check_whole_number(top_k, "a top_k")


def listing(processor: Processor, top_k: int | None) -> Processor:
    """Return a processor whose predictions list at least `top_k` entries.

    Raises:
        KerasBertError: When `top_k` is below 1, or the task's predictions list nothing.
    """
    if top_k is None:
        return processor
    if processor.display.limit is None:
        raise KerasBertError(
            "expected top_k for classes, masked words or answers to questions, received it for the task type "
            f"{processor.name!r}; leave it out"
        )
    return processor.listing(check_whole_number(top_k, "a top_k"))


def best_first(scores: np.ndarray, texts: Any, top_k: int | None) -> list[dict[str, Any]]:
    """Return the texts with the highest scores first, each as `index`, `score` and, unless they are vectors, `text`.

    Args:
        scores: The score of each text, `(texts,)`.
        texts: The texts, or their vectors.
        top_k: The number of texts to return; None for all.
    """
    best = np.argsort(-scores, kind="stable")[:top_k]
    if isinstance(texts, np.ndarray) and texts.dtype.kind == "f":
        return [{"index": int(i), "score": float(scores[i])} for i in best]
    return [{"index": int(i), "score": float(scores[i]), "text": _text_of(texts[i])} for i in best]


def _text_of(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def unit_vectors(vectors: np.ndarray, width: int | None) -> np.ndarray:
    """Return vectors divided by their lengths, `(texts, dimensions)` in float32. Vectors of zeros stay.

    Args:
        vectors: A vector, or several.
        width: The number of dimensions; None for any.

    Raises:
        KerasBertError: When the array has another shape, or a number that is not finite.
    """
    if vectors.ndim not in (1, 2) or np.ma.isMaskedArray(vectors):
        received = "a masked array" if np.ma.isMaskedArray(vectors) else f"an array of shape {vectors.shape}"
        raise KerasBertError(
            f"expected vectors of shape (texts, dimensions), received {received}; pass one vector a text"
        )
    vectors = np.atleast_2d(np.asarray(vectors, np.float64))
    if width and vectors.shape[1] != width:
        raise KerasBertError(
            f"expected vectors of {width} dimensions, received {vectors.shape[1]}; encode the texts with this model"
        )
    broken = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if broken.size:
        raise KerasBertError(
            f"expected finite vectors, received NaN or infinity in {broken.size:,} of {len(vectors):,}, the first is row {broken[0]}; "
            "encode these texts again"
        )
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(norms == 0, 1.0, norms)).astype(np.float32)
