"""The steps of a validation before a backend runs: data, length and rows, and whether file, reference and rows belong together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerasbert.arguments import argument
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.interpreters import DEFAULT_LENGTH
from kerasbert.export.runtime.session import Session, each_token_list
from kerasbert.export.tflite.metadata import TEXT, tokenizer_of
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.export.validation.data import Data, bundled_data, read_data
from kerasbert.export.validation.examples import Examples, packed_examples, text_examples
from kerasbert.export.validation.reference import Reference, guess_processor
from kerasbert.processors import make_processor
from kerasbert.text.client_wordpiece import SETTING

_GUESS_ROWS = 64  # rows whose outputs show the processor
UNKNOWN_PROCESSOR = make_processor("regression")  # keeps outputs as they are, until their processor is guessed


def choose_data(file: ModelFile, reference: Reference, data: Any) -> Data:
    """Choose the rows of an archive, the user's data, or else bundled sentences.

    Args:
        file: The file.
        reference: The model that it is compared with.
        data: The user's; None for none.

    Raises:
        KerasBertError: When there are data beside an archive, or no data for a file without a task.
    """
    if reference.data is not None:
        if data is not None:
            raise KerasBertError(
                f"expected no data, {reference.name} brings its own rows, received data as well; leave out {argument('data')}"
            )
        return reference.data
    processor = file.metadata.processor if file.metadata else reference.processor
    if data is not None:
        return read_data(data, processor)
    if processor is None:
        raise KerasBertError(
            f"expected data to run {file.name} on, which names no task, received none; give labelled texts as {argument('data')}"
        )
    return bundled_data(processor)


def bundled_note(examples: Examples, available: int, compared: bool) -> str:
    """Return the note that bundled sentences ran.

    Args:
        examples: Those that ran.
        available: All of them.
        compared: Whether outputs were compared on them.
    """
    count = len(examples.raw or ())
    number = f"{count}" if count == available else f"{count} of {available}"
    if not compared:
        return "note: no data were given, and nothing was run: only rules were applied"
    return (
        f"note: no data were given, so {number} English sentences that ship with kerasbert ran. Outputs were compared; no metric "
        "was judged on labelled data: --data does that"
    )


def choose_length(file: ModelFile, reference: Reference, data: Data) -> int:
    """Choose the length of a resizable file: that of packed data, of the reference, of the converted task, or 128."""
    row_length = file.metadata.row_length if file.metadata else None
    return data.length or reference.length or row_length or DEFAULT_LENGTH


def make_examples(file: ModelFile, model: Session, reference: Reference, data: Data, rows: int | None) -> Examples:
    """Pack data to the model's length. Where neither file nor reference has a processor, it is guessed from outputs.

    Args:
        file: The file.
        model: The file on an interpreter.
        reference: The model that it is compared with.
        data: The chosen data.
        rows: Examples to use; None for all.

    Raises:
        KerasBertError: When the data are not what the file takes.
    """
    metadata = file.metadata
    processor = reference.processor or (metadata.processor if metadata else None)  # right by definition
    if not data.is_packed:
        tokenizer = reference.tokenizer
        if tokenizer is None:
            metadata = file.require_metadata("to validate it on texts")
            tokenizer = tokenizer_of(metadata)
        length = model.length or (metadata.sequence_length if metadata and metadata.inputs == TEXT else None)
        if processor is None or length is None:
            raise KerasBertError(
                f"expected {file.name} to name a task and take rows of tokens, received a file without; pass packed arrays instead"
            )
        return text_examples(data, processor, tokenizer, length, rows)
    file.check_takes_ids("to compare it on packed rows")
    unlabelled = packed_examples(Data(data.x), processor or UNKNOWN_PROCESSOR, rows)
    model.checked(next(each_token_list(unlabelled.inputs, model.inputs)))
    if processor is None:
        few = np.arange(min(len(unlabelled), _GUESS_ROWS))
        processor = guess_processor(reference.outputs(unlabelled.inputs_of(few), unlabelled.row_numbers[few]))
    return packed_examples(data, processor, rows)


def check_same_kind(file: ModelFile, reference: Reference) -> None:
    """Check that file and reference have the same task, labels, vocabulary and tokenization, as far as both are known.

    Raises:
        KerasBertError: When one of these differs.
    """
    metadata = file.metadata
    if metadata is None:
        return
    processor, tokenizer = reference.processor, reference.tokenizer
    pairs = {
        "problem": (metadata.processor.name, processor and processor.name),
        "labels": (metadata.labels, processor and processor.labels),
        "vocabulary": (metadata.vocabulary, reference.vocabulary),
        "tokenization": (
            _rules(metadata.tokenizer.get(SETTING)) if metadata.vocabulary else None,
            _rules(getattr(tokenizer, SETTING, None)) if tokenizer else None,
        ),
    }
    for name, (in_file, in_reference) in pairs.items():
        if in_file is not None and in_reference is not None and in_file != in_reference:
            raise KerasBertError(
                f"expected {file.name} and {reference.name} to have the same {name}, received {_difference(in_file, in_reference)}; "
                "compare a file with the model it was converted from"
            )


def _rules(client: object) -> str:
    """Names the rules of a tokenizer: a client's, see `kerasbert.text.ClientWordPiece`, or its checkpoint's."""
    return f"as {client}" if client else "as the checkpoint"


def _difference(first: str | Sequence[str], second: str | Sequence[str]) -> str:
    if isinstance(first, str) or max(len(first), len(second)) <= 10:
        return f"{_join(first)} and {_join(second)}"
    if len(first) != len(second):
        return f"{len(first):,} and {len(second):,} entries"
    row = next(i for i, pair in enumerate(zip(first, second, strict=True)) if pair[0] != pair[1])
    return f"{first[row]!r} and {second[row]!r} as entry {row}"


def _join(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else f"({', '.join(value)})"
