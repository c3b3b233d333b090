"""Golden inputs and outputs of the zoo's models: what a copy of a model, or another runtime, must give."""

import json
from typing import Any, cast

import numpy as np

from kerasbert.zoo.catalog import ENCODER, ZooModel

_DIGITS = 5
_OF_PAIRS = ("question-answering", "regression")
TEXTS = (
    "wake me at half past six tomorrow",
    "Will it rain in Lisbon this weekend?",
    "The soup was cold and nobody apologised.",
    "A quiet, clever film with one scene too many.",
    "how do i get from the station to the museum",
    "Her sister moved to Nairobi in 2019 and works for Kenya Airways.",
    "turn the volume down a little, please",
    "The new battery lasts two days; the old one barely lasted one.",
    "Nothing about this story makes sense.",
    "Add oat milk, rye bread and six eggs to the list.",
    "Photosynthesis turns light into chemical energy.",
    "I would watch it again tomorrow.",
    "remind me to call the dentist on Monday",
    "The committee postponed its decision until the spring.",
    "Cats sleep most of the day.",
    "Most of the day, cats are asleep.",
    "What's 15 % of 240?",
    "na\u00efve caf\u00e9 \u2014 r\u00e9sum\u00e9, 3\u00bd stars \U0001f600",
    "supercalifragilisticexpialidocious",
    "ok",
)
QUESTIONS = (
    ("When did her sister move?", "Her sister moved to Nairobi in 2019 and works for Kenya Airways. She likes it there."),
    ("Who works for an airline?", "Her sister moved to Nairobi in 2019 and works for Kenya Airways. She likes it there."),
    ("What lasts two days?", "The new battery lasts two days; the old one barely lasted one. Charging takes an hour."),
    ("How much does the battery cost?", "The new battery lasts two days; the old one barely lasted one. Charging takes an hour."),
)  # fmt: skip


def golden_inputs(model: ZooModel) -> list:
    """Return the inputs: texts, or pairs of a question and a text."""
    return list(QUESTIONS if model.task in _OF_PAIRS else TEXTS)


def compute_golden(model: ZooModel) -> dict[str, Any]:
    """Run a model on its golden inputs.

    Args:
        model: The model.

    Returns:
        A JSON object `{"inputs": [...], "outputs": [...]}`: of an encoder its vectors, of a file its predictions.
    """
    from kerasbert.zoo.catalog import load

    inputs, loaded = golden_inputs(model), cast(Any, load(model.name))
    outputs = loaded.predict(inputs) if model.kind == ENCODER else loaded(inputs)
    return {"inputs": inputs, "outputs": _plain(outputs)}


def write_golden(model: ZooModel) -> None:
    """Write a model's golden file: JSON with an input or an output on each line."""
    lists = [
        f'"{name}": [\n' + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"
        for name, items in compute_golden(model).items()
    ]
    model.golden.write_text("{\n" + ",\n".join(lists) + "\n}\n", "utf-8")


def _plain(value: Any) -> Any:
    """Values that JSON has, numbers with five digits after the point."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    return round(float(value), _DIGITS) if isinstance(value, float | np.floating) else value
