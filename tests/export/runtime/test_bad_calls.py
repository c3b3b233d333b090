"""Calls with arguments of the wrong kind are answered rightly or refused in one line, whatever the argument."""

import collections
import decimal
import pathlib
import re

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError

pytestmark = pytest.mark.one_layer


class Series:
    """A column as pandas has it, which the tests do without."""

    def __init__(self, values):
        self.values = np.array(values, object)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)


def _deep() -> list:
    values = ["a"]
    for _ in range(2000):
        values = [values]
    return values


# Makers, because a generator can be read once.
VALUES = {
    "None": lambda: None, "True": lambda: True, "False": lambda: False, "0": lambda: 0, "-1": lambda: -1, "2**40": lambda: 2**40,
    "2**70": lambda: 2**70, "1.5": lambda: 1.5, "nan": lambda: float("nan"), "inf": lambda: float("inf"), "1j": lambda: 1j,
    "empty text": lambda: "", "text of a number": lambda: "3", "surrogate": lambda: "\ud800", "NUL": lambda: "a\0b",
    "long text": lambda: "x" * 5000, "bytes": lambda: b"abc", "no UTF-8": lambda: b"\xff", "bytearray": lambda: bytearray(b"a"),
    "memoryview": lambda: memoryview(b"a"), "empty list": list, "numbers": lambda: [1], "Nones": lambda: [None], "floats": lambda: [1.5],
    "mixed": lambda: ["a", 1], "bytes in a list": lambda: [b"\xff"], "surrogate in a list": lambda: ["\ud800"],
    "nested": lambda: [["a"]], "more nested": lambda: [[["a"]]], "pairs": lambda: [["a", "b"]], "deep": _deep, "tuple": lambda: ("a", None),
    "empty dict": dict, "dict": lambda: {"a": 1}, "packed": lambda: {"input_ids": np.ones((1, 8), np.int32)},
    "named texts": lambda: {"text": ["a"]}, "set": lambda: {"a"}, "frozenset": frozenset, "range": lambda: range(3), "object": object,
    "class": lambda: object, "function": lambda: len, "ellipsis": lambda: ..., "text array of no axes": lambda: np.array("a"),
    "text matrix": lambda: np.array([["a"]]), "object array": lambda: np.array(["a", 1], object), "no numbers": lambda: np.array([]),
    "vector of another width": lambda: np.zeros(3), "3 axes": lambda: np.ones((2, 3, 4)), "NaN vectors": lambda: np.full((1, 384), np.nan),
    "infinite vectors": lambda: np.full((2, 384), np.inf), "complex vectors": lambda: np.ones((2, 384), complex),
    "masked vectors": lambda: np.ma.masked_array(np.ones((2, 384)), True), "number of NumPy": lambda: np.float32(1),
    "date": lambda: np.datetime64("2020-01-01"), "records": lambda: np.zeros(2, [("a", "i4")]), "path": lambda: pathlib.Path("none"),
    "decimal": lambda: decimal.Decimal("1"), "pattern": lambda: re.compile("a"), "generator": lambda: (text for text in "ab"),
    "dict views": lambda: {"a": 1}.keys(), "deque": lambda: collections.deque(["a"]), "exception": lambda: ValueError("a"),
    "series": lambda: Series(["a", "b"]), "series of numbers": lambda: Series([1.0]),
    "series with None": lambda: Series([None, "a"]), "frame": lambda: Series([["x"]]),
}  # fmt: skip
FILES = {
    "call": lambda model, value: model(value),
    "second text": lambda model, value: model("a", value),
    "second texts": lambda model, value: model(["a"], value),
    "both": lambda model, value: model(value, value),
    "top_k": lambda model, value: model("a", top_k=value),
    "score of": lambda model, value: model.score(value, ["a"]),
    "score by": lambda model, value: model.score(["a"], value),
    "similarity": lambda model, value: model.similarity(value, ["a", "b"]),
    "similarity to": lambda model, value: model.similarity("a", value),
    "query": lambda model, value: model.search(value, ["a"]),
    "searched texts": lambda model, value: model.search("a", value),
    "search top_k": lambda model, value: model.search("a", ["a", "b"], top_k=value),
}
TASKS = {
    "features": lambda task, value: task.features(value),
    "call": lambda task, value: task(value),
    "labels": lambda task, value: task.dataset(["a"], value),
    "fit without labels": lambda task, value: task.fit(value, verbose=0),
    "sample weights": lambda task, value: task.dataset(["a"], sample_weight=value),
    "batch_size": lambda task, value: task.dataset(["a"], batch_size=value),
    "pack": lambda task, value: task.pack(value),
    "pack pairs": lambda task, value: task.pack(["a"], value),
    "pack to a length": lambda task, value: task.pack(["a"], length=value),
    "encode": lambda task, value: task.encode(value),
    "freeze": kb.training.freeze,
    "train_only": kb.training.train_only,
    "save": lambda task, value: task.save_pretrained([value] if isinstance(value, str | pathlib.Path) else value),
}


def foreign_errors(calls, subject) -> list[str]:
    """Return the calls that raise anything but a KerasBertError of one line."""
    found = []
    for name, call in calls.items():
        for value_name, make in VALUES.items():
            try:
                call(subject, make())
            except KerasBertError as error:
                if "\n" in str(error) or len(str(error)) > 600:
                    found.append(f"{name} of {value_name}: a message of {len(str(error))} characters")
            except Exception as error:
                found.append(f"{name} of {value_name}: {type(error).__name__}: {str(error)[:80]}")
    return found


@pytest.mark.parametrize("name", ["intents", "search", "slots"])
@pytest.mark.long_cases
def test_calls_of_a_file_are_answered_or_refused(name):
    assert foreign_errors(FILES, kb.open(name)) == []


def test_arguments_of_open_are_accepted_or_refused():
    calls = {
        "name": lambda _, value: kb.open(value) if not (isinstance(value, str) and value == "3") else None,
        "threads": lambda _, value: kb.open("intents", threads=value),
        "isolated": lambda _, value: kb.open("intents", isolated=value) if value is not True else None,
        "kernels": lambda _, value: kb.export.open_model("none.tflite", kernels=value),
        "file": lambda _, value: kb.export.open_model(value),
        "file to inspect": lambda _, value: kb.export.inspect(value),
    }
    assert foreign_errors(calls, None) == []


@pytest.mark.parametrize("kind", ["narrow", "sentence_encoder"])
def test_calls_of_a_task_are_answered_or_refused(tiny, kind):
    task = getattr(tiny, kind)()
    task.serve_untraced()
    assert foreign_errors(TASKS, task) == []


def test_answers_to_unusual_arguments_are_right():
    """Values that can only mean one thing are accepted: the answer is that of a list of texts."""
    model, encoder = kb.open("intents"), kb.open("search")
    wanted = model(["a", "b"])
    for texts in (
        ("a", "b"),
        np.array(["a", "b"]),
        np.array(["a", "b"], object),
        Series(["a", "b"]),
        [b"a", b"b"],
        iter("ab"),
    ):
        assert model(texts) == wanted
    assert (
        model("a") == model(np.str_("a")) == wanted[0] and model("a", top_k=np.int64(1))["label"] == wanted[0]["label"]
    )
    vectors = encoder(["a", "b"])
    whole = encoder.search("a", ["a", "b"])
    for texts in (("a", "b"), np.array(["a", "b"]), Series(["a", "b"]), [b"a", b"b"], iter("ab")):
        assert encoder.search("a", texts) == whole
    for same in (vectors, vectors.astype(np.float64), vectors.astype(np.longdouble), 1e30 * vectors.astype(np.float64)):
        assert [found["index"] for found in encoder.search("a", same)] == [found["index"] for found in whole]
        np.testing.assert_allclose(encoder.similarity(["a", "b"], same).diagonal(), 1, atol=1e-6)
    assert encoder.similarity("a", np.zeros(384, np.float32)).tolist() == [[0]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: model({"input_ids": [[2, 3]]}), "received a dict with 'input_ids'; pass texts; arrays run in"),
        (lambda model: model({"text": ["a"]}), "received a dict with 'text'; pass the texts in a list"),
        (lambda model: model({"a", "b"}), "received set"),
        (lambda model: model(b"abc"), "received bytes"),
        (lambda model: model("a", {"text": "b"}), "received a dict with 'text'"),
        (lambda model: model.search("a", np.full((2, 384), np.nan, np.float32)), "NaN or infinity in 2 of 2"),
        (lambda model: model.similarity("a", np.ones((2, 3, 384))), r"received an array of shape \(2, 3, 384\)"),
        (lambda model: model.search(np.ones(384), ["a"]), "one text as a query, received ndarray"),
        (lambda model: model.search("a", ["a"], top_k=1.5), "a top_k of at least 1, received 1.5"),
        (lambda model: model.search("a", ["a"], top_k=True), "a top_k of at least 1, received True"),
        (lambda model: model.search("a", ["a"], top_k="3"), "a top_k of at least 1, received '3'"),
        (lambda model: model.score(["a"], np.full((1, 384), np.nan)), "expected finite target vectors"),
        (lambda _: kb.open("search", threads=2**40), "threads from 1 to 1024"),
        (lambda _: kb.open("search", threads=True), "threads from 1 to 1024, received True"),
        (lambda _: kb.open("search", isolated="no"), "isolated as True or False, received 'no'"),
        (lambda _: kb.open(None), "received None; pass one of them"),
    ],
)  # fmt: skip
@pytest.mark.long_cases
def test_mistaken_calls_are_explained(call, message):
    with pytest.raises(KerasBertError, match=message):
        call(kb.open("search"))
