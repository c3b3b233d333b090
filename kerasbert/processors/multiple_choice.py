"""Multiple choice: a prompt with several choices to the best of them."""

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.arguments import is_sized, shown
from kerasbert.data.reading import read_prompts
from kerasbert.errors import KerasBertError
from kerasbert.processors import metrics
from kerasbert.processors.base import Processor, RawResult, RawResults, check_same_number
from kerasbert.processors.contributions import Contributions, Ratio, most_frequent
from kerasbert.processors.display import Display, Record
from kerasbert.processors.features import WHOLE, Features, TokenLists
from kerasbert.processors.metrics import softmax
from kerasbert.text import Tokenizer
from kerasbert.text.encoded import Encoded
from kerasbert.text.strings import as_strings
from kerasbert.values import is_whole_number

PROMPTS = ("prompt", "question")  # keys of an example that is a dict


def _fields(example: tuple[str, Sequence[str]]) -> dict[str, Any]:
    prompt, choices = example
    return {"prompt": prompt, "choices": list(choices)}


def _lines(record: Record) -> list[list[str]]:
    return [[record["text"], f"{max(record['probabilities']):.4f}", record["prompt"]]]


@dataclass(frozen=True)
class MultipleChoice(Processor):
    """One choice among those of a prompt.

    Examples are `(prompt, choices)` tuples, or dicts with `prompt` or `question`, and `choices`; each has its own number of choices.
    A label is the number of the right choice from 0 on, its text, or its letter ("A" is the first). A string is read as a text first, then
    as a letter, then as a number.

    A row has one token list for each choice, `[CLS] prompt [SEP] choice [SEP]` (Devlin et al. 2018, section 4.4). An example with fewer
    choices than others is padded with empty lists, whose scores are ignored. A raw result is `logits` `(choices, 1)`: one row of the task,
    or one run of a file for each choice.
    """

    name = "multiple_choice"
    outputs = ("logits",)
    second_input = "choices"
    reader = staticmethod(read_prompts)
    display = Display(("choice", "probability", "prompt"), _lines, _fields, lambda record: record["text"])

    def examples(self, x: Any) -> list:
        if not is_sized(x):
            raise KerasBertError(f"expected a list of (prompt, choices), received {type(x).__name__}")
        return [_example(value, row) for row, value in enumerate(x)]

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        counts = [len(choices) for _, choices in examples]
        prompts = [prompt for prompt, choices in examples for _ in choices]
        choices = [choice for _, choices in examples for choice in choices]
        encoded = tokenizer.encode(prompts, choices, max_length=length)
        owners = np.repeat(np.arange(len(examples)), counts)
        group = max(counts, default=1)
        tokens = TokenLists(
            _pad_groups(encoded.input_ids, counts, group), _pad_groups(encoded.token_type_ids, counts, group)
        )
        truncated = _truncated(encoded, prompts, choices, tokenizer, length) if encoded.truncated else []
        return Features(tokens, np.arange(len(examples)), group, len(set(owners[truncated])))

    def check_labels(self, y: Any, examples: Sequence) -> None:
        self.encode_labels(y, examples, Features(None, np.arange(len(examples))))

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        check_same_number(y, examples, "right choices")
        pairs = zip(y, examples, strict=True)
        return np.fromiter(
            (_choice_number(value, example, features, row) for row, (value, example) in enumerate(pairs)), np.int32
        )

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        lists = features.token_lists.input_ids[row * features.group : (row + 1) * features.group]
        return {"logits": outputs["logits"].reshape(-1, 1)[: sum(len(ids) > 0 for ids in lists)]}

    def comparable(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        """Select one decision for each question: the probabilities of its choices, `(1, choices)`."""
        return {"logits": softmax(self.raw_result(outputs, features, row)["logits"].T)}

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        return [
            _prediction(choices, raw_result["logits"][:, 0])
            for (_, choices), raw_result in zip(examples, raw_results, strict=True)
        ]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        best = [raw_result["logits"][:, 0].argmax() for raw_result in raw_results]
        return {"accuracy": metrics.accuracy(self.encode_labels(y, examples, features), best)}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        truth = self.encode_labels(y, examples, features)
        share, choice = most_frequent(truth)
        predicted = [raw_result["logits"][:, 0].argmax() for raw_result in raw_results]
        return Ratio.of_decisions(truth == np.asarray(predicted), share, f"choice {choice}")


def _example(value: Any, row: int) -> tuple[str, tuple[str, ...]]:
    prompt: Any
    choices: Any
    if isinstance(value, Mapping):
        prompt, choices = next((value[key] for key in PROMPTS if key in value), None), value.get("choices")
    elif isinstance(value, tuple | list) and len(value) == 2:
        prompt, choices = value
    else:
        raise KerasBertError(f"row {row}: expected (prompt, choices), received {shown(value)}")
    if not isinstance(prompt, str | bytes):
        raise KerasBertError(f"row {row}: expected a prompt that is a text, received {shown(prompt)}")
    if not is_sized(choices):
        raise KerasBertError(f"row {row}: expected a list of choices, received {shown(choices)}")
    if not len(choices):
        raise KerasBertError(f"row {row}: expected a prompt with choices, received none for {prompt[:40]!r}")
    try:
        return as_strings([prompt])[0], tuple(as_strings(choices, "choices"))
    except KerasBertError as error:
        raise KerasBertError(f"row {row}: {error}") from None


def _pad_groups(lists: Sequence[Sequence[int]], counts: Sequence[int], group: int) -> list[Sequence[int]]:
    """Return each example's lists, and empty ones up to `group`."""
    remaining, padded = iter(lists), []
    for count in counts:
        padded += [next(remaining) for _ in range(count)] + [[]] * (group - count)
    return padded


def _truncated(
    encoded: Encoded, prompts: list[str], choices: list[str], tokenizer: Tokenizer, length: int
) -> list[int]:
    """Return the numbers of the token lists that lost tokens: those that fill the row, and are longer without truncation."""
    full = [i for i, ids in enumerate(encoded.input_ids) if len(ids) == length]
    whole = tokenizer.encode([prompts[i] for i in full], [choices[i] for i in full], max_length=WHOLE)
    return [i for i, ids in zip(full, whole.input_ids, strict=True) if len(ids) > length]


def _choice_number(value: Any, example: Any, features: Features, row: int) -> int:
    """Return the number of the right choice.

    Packed inputs have no choices to find a text among. Labels that are checked without tokens do not even have their number.
    """
    choices = example[1] if isinstance(example, tuple) else None
    most = WHOLE if features.tokens is None else features.group
    count = most if choices is None else len(choices)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise KerasBertError(f"row {row}: expected the right choice, received none")
    if isinstance(value, str | bytes):
        value = _number_of_text(value.decode() if isinstance(value, bytes) else value, choices or (), row)
    if not is_whole_number(value):
        raise KerasBertError(f"row {row}: expected the right choice's number, text or letter, received {value!r}")
    if not 0 <= value < count:
        raise KerasBertError(f"row {row}: expected a choice from 0 to {count - 1}, received {value}")
    return int(value)


_TOO_MANY_DIGITS = 10  # for the number of a choice; Python refuses to parse thousands of digits


def _number_of_text(text: str, choices: Sequence[str], row: int) -> int:
    """Return the number of the choice that a text names: the choice itself, else its letter or its number."""
    plain = text.strip().upper()
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) < _TOO_MANY_DIGITS else None
    if text in choices:
        place = choices.index(text)
        if number is not None and number != place and number < len(choices):
            raise KerasBertError(
                f"row {row}: expected the right choice, received {text!r}, the text of choice {place} and the number of another; "
                "give numbers"
            )
        return place
    if len(plain) == 1 and plain in string.ascii_uppercase:
        return string.ascii_uppercase.index(plain)
    if number is not None:
        return number
    raise KerasBertError(f"row {row}: expected one of the choices {', '.join(choices)}, received {text!r}")


def _prediction(choices: Sequence[str], logits: np.ndarray) -> dict[str, Any]:
    probabilities = softmax(logits)
    best = int(probabilities.argmax())
    return {"choice": best, "text": choices[best], "probabilities": [float(p) for p in probabilities]}
