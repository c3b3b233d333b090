"""Answers as `kerasbert predict` gives them out: records for JSON, lines or a table for people."""

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence

import numpy as np

from kerasbert.cli.common.results import plain
from kerasbert.console.escapes import escape_json
from kerasbert.console.output import terminal_width
from kerasbert.console.tables import Block, Table

_FORMULA = re.compile("[=+@\uff1d\uff0b\uff0d\uff20-]")  # and their full-width forms
_FIRST = 4  # values of a vector that a table shows
_NUMBER = re.compile(r"-|[+-]?\d+(\.\d+)?")


def records(problem: str, examples: Sequence, answers: Sequence[dict]) -> list[dict]:
    """Each answer behind what was asked; numbers of vectors with the digits that a float32 has."""
    return [
        {**_asked(problem, example), **{name: _digits(value) for name, value in answer.items()}}
        for example, answer in zip(examples, answers, strict=True)
    ]


def _digits(value):
    """A float32 array as the shortest decimal numbers that are read as the same values again; anything else as it is."""
    short = isinstance(value, np.ndarray) and value.dtype == np.float32
    return value.astype(str).astype(np.float64) if short else value


def is_finite(answer) -> bool:
    """Whether an answer holds neither NaN nor infinity, at any depth."""
    if isinstance(answer, Mapping):
        return all(map(is_finite, answer.values()))
    if hasattr(answer, "tolist"):
        return is_finite(answer.tolist())
    if isinstance(answer, list | tuple):
        return all(map(is_finite, answer))
    return not isinstance(answer, float) or math.isfinite(answer)


def _asked(problem: str, example) -> dict:
    if problem == "question_answering":
        question, context = example
        return {"question": question, "context": context}
    if problem == "multiple_choice":
        prompt, choices = example
        return {"prompt": prompt, "choices": list(choices)}
    if problem == "tagging" and not isinstance(example, str):
        return {"text": " ".join(example)}
    if isinstance(example, tuple):
        return {"text": example[0], "pair": example[1]}
    return {"text": example}


def shown(problem: str, found: list[dict], csv_safe: bool = False) -> Block:
    """A table on a terminal, else lines of cells between tabs; of vectors, JSON lines with all of their numbers.

    Args:
        csv_safe: an apostrophe before cells between tabs that a spreadsheet would take for a formula.
    """
    terminal = terminal_width(sys.__stdout__) is not None
    if problem == "embedding" and not terminal and "vector" in found[0]:
        return "\n".join(escape_json(json.dumps(plain(record), ensure_ascii=False)) for record in found)
    heads, cells = _TABLES.get(problem, (("label", "score", "text"), _label_cells))
    if problem == "embedding" and "cosine" in found[0]:
        heads, cells = ("cosine", "text"), _cosine_cells
    lines = [[_one_line(cell) for cell in line] for record in found for line in cells(record)]
    if not terminal:
        return "\n".join("\t".join(map(_no_formula, line) if csv_safe else line) for line in lines)
    return Table([*heads, *(["second text"] if found and "pair" in found[0] else [])], lines)


def _one_line(cell: str) -> str:
    return re.sub(r"[ \t\r\n]+", " ", cell).strip(" ")


def _no_formula(cell: str) -> str:
    """As OWASP advises against CSV injection; numbers stay numbers."""
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


def _label_cells(record: dict) -> list[list[str]]:
    if "labels" in record:
        label = "|".join(record["labels"])
        score = "|".join(f"{record['probabilities'][name]:.4f}" for name in record["labels"])
    else:
        label, score = record.get("label", "score"), f"{record['score']:.4f}"
    return [[label, score, record["text"], *([record["pair"]] if "pair" in record else [])]]


def _entity_cells(record: dict) -> list[list[str]]:
    """A line an entity; a text without any has one line."""
    found = [
        [
            entity["label"],
            f"{entity['score']:.4f}",
            entity["text"],
            f"{entity['start']}-{entity['end']}",
            record["text"],
        ]
        for entity in record["entities"]
    ]
    return found or [["-", "", "", "", record["text"]]]


def _answer_cells(record: dict) -> list[list[str]]:
    where = "" if record["start"] is None else f"{record['start']}-{record['end']}"
    return [[record["answer"] or "(no answer)", f"{record['score']:.4f}", where, record["question"]]]


def _choice_cells(record: dict) -> list[list[str]]:
    return [[record["text"], f"{max(record['probabilities']):.4f}", record["prompt"]]]


def _vector_cells(record: dict) -> list[list[str]]:
    vector = np.asarray(record["vector"])
    values = " ".join(f"{value:.4f}" for value in vector[:_FIRST])
    return [
        [
            str(len(vector)),
            f"{np.linalg.norm(vector):.4f}",
            f"{values} ..." if len(vector) > _FIRST else values,
            record["text"],
        ]
    ]


def _cosine_cells(record: dict) -> list[list[str]]:
    return [[f"{record['cosine']:.4f}", record["text"], record["pair"]]]


def _word_cells(record: dict) -> list[list[str]]:
    return [
        [" ".join(f"{word['word']} {word['probability']:.4f}" for word in mask["words"]), record["text"]]
        for mask in record["masks"]
    ]


_TABLES = {
    "embedding": (("dimensions", "norm", "first values", "text"), _vector_cells),
    "tagging": (("label", "score", "entity", "characters", "text"), _entity_cells),
    "question_answering": (("answer", "score", "characters", "question"), _answer_cells),
    "multiple_choice": (("choice", "probability", "prompt"), _choice_cells),
    "masked_lm": (("words", "text"), _word_cells),
}
