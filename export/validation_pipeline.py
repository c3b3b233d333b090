"""Runs a file on texts as `kerasbert.open` does, with its own tokenizer, lengths and processor, and compares it with the reference's way.

A file holds more than a graph: with another setting it predicts something else from the same outputs. What must be equal exactly is
compared exactly: the token ids of every example, and the predictions that both processors make of the same outputs. What is computed is
judged as in every other check: outputs and metric by the limits of the recipe.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerasbert.data.sampling import spread
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreter_session import one_line
from kerasbert.export.runtime.interpreters import cpu_model
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite.metadata import Metadata, tokenizer_of
from kerasbert.export.validation.checks import FAILED, NOT_RUN, Check
from kerasbert.export.validation.comparison import OutputDifference, compare
from kerasbert.export.validation.context import ValidationContext
from kerasbert.export.validation.data import Data
from kerasbert.export.validation.examples import Examples, RowOutputs, blocks, text_examples
from kerasbert.export.validation.reference import collect_outputs
from kerasbert.export.validation.verdict import judge
from kerasbert.text import Tokenizer

NAME = "pipeline"
_PROBES = 64  # examples for the predictions of a processor that does not take the rows of its metric
_EXCERPT = 40  # characters of a prediction in a remark


@dataclass(frozen=True)
class _Rows:
    """The same examples on both sides, and the outputs of each row.

    Attributes:
        reference: With the reference's tokenizer and processor.
        own: With the file's.
        expected: The reference's outputs, one entry a row.
        outputs: The file's.
        filled: Rows of the file that fill a length which is not its longest.
        lengths: The lengths at which the file ran.
    """

    reference: Examples
    own: Examples
    expected: Sequence[RowOutputs]
    outputs: Sequence[RowOutputs]
    filled: np.ndarray
    lengths: tuple[int, ...]


def tokenizer_in(metadata: Metadata) -> Tokenizer | KerasBertError | None:
    """Build the tokenizer of a file; the error where it is rejected, None where the file carries no vocabulary."""
    if not metadata.vocabulary:
        return None
    try:
        return tokenizer_of(metadata)
    except KerasBertError as error:
        return error


def check_pipeline(
    context: ValidationContext, metadata: Metadata, tokenizer: Tokenizer | KerasBertError | None
) -> Check:
    """Run all examples through the file's own pipeline, from texts to predictions and metrics.

    Args:
        context: The validation.
        metadata: The file's.
        tokenizer: The file's, see `tokenizer_in`.
    """
    if context.examples.raw is None:
        reason = "the rows are packed, so the file's own tokenizer and settings were not exercised: texts do that"
        return Check(NAME, NOT_RUN, reason, required=False)
    if tokenizer is None:
        tokenizer = KerasBertError("expected a vocabulary in the file, received none; convert the model again")
    if isinstance(tokenizer, KerasBertError):
        return Check(NAME, FAILED, str(tokenizer))
    pipeline = Pipeline(context.model_path, metadata.processor, None, tokenizer, metadata, context.threads)
    try:
        return _compare(context, pipeline)
    except KerasBertError as error:
        return Check(NAME, FAILED, str(error), device=cpu_model(), threads=context.threads)
    except Exception as error:  # whatever settings the file has, the other checks still count
        return Check(NAME, FAILED, f"{type(error).__name__}: {one_line(error)}", device=cpu_model())


def _compare(context: ValidationContext, pipeline: Pipeline) -> Check:
    own = text_examples(context.data, pipeline.processor, pipeline.tokenizer, pipeline.length, context.rows)
    scored = _run(context, pipeline, context.examples, own, context.expected)
    answered = _answered(context, pipeline, scored)
    otherwise = _tokenized_otherwise(scored)
    faults = [_tokenization_fault(scored, otherwise)] if otherwise else []
    if not otherwise and answered is not scored and (otherwise := _tokenized_otherwise(answered)):
        faults = [_tokenization_fault(answered, otherwise)]
    remarks = [f"each row at {_join(scored.lengths)} tokens"]
    if not otherwise:
        faults += _answering_faults(answered)
    if (equal := _equal_predictions(answered)) is not None:
        remarks.append(f"predictions equal on {equal} of {len(answered.reference.raw or ())} examples")
    differences = () if otherwise else _differences(scored)
    broken = any(difference.broken for difference in differences)
    metrics = () if broken else scored.reference.metrics(scored.expected, scored.outputs, scored.own)
    calibration = None if broken else scored.reference.calibration(scored.expected, scored.outputs, scored.own)
    count, compared_as = len(scored.own), scored.reference.processor.compared_as
    verdict = judge(context.tolerance, differences, metrics, compared_as, rows=count, calibration=calibration)
    reasons = [*faults, verdict.reason, *remarks]
    return Check(
        NAME, FAILED if faults else verdict.status, "; ".join(filter(None, reasons)), device=cpu_model(), threads=context.threads,
        rows=count, outputs=differences, metrics=metrics, judgements=verdict.judgements, calibration=calibration,
        arithmetic=context.arithmetic(),
    )  # fmt: skip


def _run(
    context: ValidationContext,
    pipeline: Pipeline,
    examples: Examples,
    own: Examples,
    expected: Sequence[RowOutputs],
) -> _Rows:
    """Run examples as the file takes them, `own`. `expected`: the reference's outputs of the rows that it makes of them."""
    alike = len(own) == len(examples) and np.array_equal(own.features.lengths, examples.features.lengths)
    outputs: list[Any] = [None] * len(own)
    ran = np.zeros(len(own), int)
    context.progress.begin(f"running {NAME}", len(own), "rows")
    for row, arrays, length in pipeline.row_outputs(own.raw or (), own.features, context.progress.advance):
        outputs[row], ran[row] = own.extract(arrays, row, expected[row] if alike else None), length
    filled = (own.features.lengths == ran) & (ran < pipeline.length)
    return _Rows(examples, own, expected, outputs, filled, tuple(map(int, np.unique(ran))))


def _answered(context: ValidationContext, pipeline: Pipeline, scored: _Rows) -> _Rows:
    """Return rows from which predictions can be made: those of the metric, or else some that the processor makes for it."""
    processor, raw = scored.reference.processor, scored.reference.raw or ()
    some = [raw[i] for i in spread(len(raw), _PROBES)]
    tokenizer = context.reference.tokenizer or pipeline.tokenizer
    probes = processor.probes(some, tokenizer)
    if probes is None:
        return scored
    examples, own = (
        text_examples(Data(probes), *side, None, scoring=False)
        for side in (
            (processor, tokenizer, context.examples.length),
            (pipeline.processor, pipeline.tokenizer, pipeline.length),
        )
    )
    expected = collect_outputs(context.reference, examples, context.model.outputs, context.progress)
    return _run(context, pipeline, examples, own, expected)


def _tokenized_otherwise(rows: _Rows) -> list[int]:
    """Return the examples that the file cuts into other tokens, or into other rows."""
    pairs = zip(_tokens_by_example(rows.reference), _tokens_by_example(rows.own), strict=True)
    return [number for number, (first, second) in enumerate(pairs) if first != second]


def _tokens_by_example(examples: Examples) -> Iterator[list[tuple[list[int], list[int]]]]:
    tokens, group = examples.features.token_lists, examples.features.group
    for numbers in examples.features.by_example():
        lists = [row * group + k for row in numbers for k in range(group)]
        yield [(list(tokens.input_ids[i]), list(tokens.token_type_ids[i])) for i in lists]


def _tokenization_fault(rows: _Rows, otherwise: Sequence[int]) -> str:
    first, total = rows.reference.features.example == otherwise[0], len(rows.reference.raw or ())
    number = int(rows.reference.row_numbers[first][0]) if first.any() else otherwise[0]
    return f"{len(otherwise)} of {total} examples get other tokens than by the reference, such as row {number}"


def _answering_faults(rows: _Rows) -> list[str]:
    """Compare what both processors predict from the same outputs, those of the reference. There is no tolerance: equal settings agree."""
    first, second = (_predictions(examples, rows.expected) for examples in (rows.reference, rows.own))
    otherwise = [number for number, pair in enumerate(zip(first, second, strict=True)) if not _equal(*pair)]
    if not otherwise:
        return []
    summarize, place = rows.reference.processor.display.summary or str, otherwise[0]
    answers = " instead of ".join(repr(summarize(side[place])[:_EXCERPT]) for side in (second, first))
    return [f"{len(otherwise)} of {len(first)} predictions differ from the same outputs, the first is {answers}"]


def _equal_predictions(rows: _Rows) -> int | None:
    """Count the examples with the same prediction end to end; None where predictions are numbers."""
    summarize = rows.reference.processor.display.summary
    if summarize is None:
        return None
    first, second = _predictions(rows.reference, rows.expected), _predictions(rows.own, rows.outputs)
    return sum(summarize(before) == summarize(after) for before, after in zip(first, second, strict=True))


def _predictions(examples: Examples, outputs: Sequence[RowOutputs]) -> list:
    raw_results = [row_outputs.raw_result for row_outputs in outputs]
    return examples.processor.predictions(examples.raw or (), examples.features, raw_results)


def _differences(rows: _Rows) -> tuple[OutputDifference, ...]:
    """Compare outputs, as in the checks of the backends.

    Rows that fill a shorter length are left out: in a MobileBERT, the embedding of the last token depends on the token after it.
    """
    kept = np.flatnonzero(~rows.filled).tolist()
    expected, outputs = ([side[row] for row in kept] for side in (rows.expected, rows.outputs))
    compared_as = rows.reference.processor.compared_as
    names = sorted(outputs[0].compared) if outputs else ()
    return tuple(
        compare(name, blocks(expected, outputs, name), compared_as, [len(each.compared[name]) for each in outputs])
        for name in names
    )


def _equal(first: Any, second: Any) -> bool:
    """Compare two predictions exactly."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_equal(first[name], second[name]) for name in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        arrays = np.asarray(first), np.asarray(second)
        return np.array_equal(*arrays, equal_nan=arrays[0].dtype.kind == "f")
    return first is second or first == second or (first != first and second != second)  # NaN is another fault


def _join(lengths: Sequence[int]) -> str:
    named = [str(length) for length in lengths]
    if len(named) > 4:
        return f"{named[0]} to {named[-1]}"
    return " or ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
