"""Compares what a file says of itself with its reference and its graph: settings of tokenizer and processor, lengths, vocabulary."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.session import Session
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.export.validation.checks import FAILED, NOT_RUN, PASSED, Check
from kerasbert.export.validation.context import ValidationContext
from kerasbert.export.validation.reference import Reference
from kerasbert.processors import Processor
from kerasbert.text import Tokenizer

NAME = "settings"
_LISTED = 6  # differences that a remark names
_LONG = 60  # characters of a value
_MISSING = "none"


def check_settings(
    context: ValidationContext, metadata: Metadata, tokenizer: Tokenizer | KerasBertError | None
) -> Check:
    """Check that a file has the settings of its reference, and describes its own graph.

    The settings come from the tokenizers and the processors themselves, so that a new setting is compared as well. Those that have no
    effect beside the others are left out: see `Tokenizer.effective_config` and `Processor.effective_settings`.

    Args:
        context: The validation.
        metadata: The file's metadata.
        tokenizer: The file's tokenizer, or the error with which it was rejected; None for a file without a vocabulary.
    """
    reference, compared, differences = context.reference, 0, []
    for part, in_file, in_reference in (
        # A graph that takes texts cuts them itself.
        (
            "lengths",
            None if context.takes_text else _lengths(metadata),
            _graph_lengths(metadata, context.model, reference),
        ),
        ("tokenizer", *_tokenizer_settings(tokenizer, reference)),
        ("processor", _processor_settings(metadata.processor), _processor_settings(reference.processor)),
        ("file", {"recipe": metadata.recipe}, {"recipe": context.recipe}),
        ("table", *_table_sizes(metadata, reference)),
    ):
        if in_file is not None and in_reference is not None:
            compared += len(in_file.keys() | in_reference.keys())
            differences += _differences(part, in_file, in_reference)
    if isinstance(tokenizer, KerasBertError):
        differences.insert(0, f"no tokenizer: {tokenizer}")
    if differences:
        more = f" and {len(differences) - _LISTED} more" if len(differences) > _LISTED else ""
        return Check(NAME, FAILED, f"not those of {reference.name}: {'; '.join(differences[:_LISTED])}{more}")
    if reference.processor is None and reference.tokenizer is None:
        reason = f"{reference.name} has no settings to compare with; the file's lengths are those of its graph"
        return Check(NAME, NOT_RUN, reason, required=False)
    return Check(NAME, PASSED, f"{compared} settings of tokenizer, processor and lengths, all as in {reference.name}")


def _tokenizer_settings(
    tokenizer: Tokenizer | KerasBertError | None, reference: Reference
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    effective = getattr(reference.tokenizer, "effective_config", None)
    if isinstance(tokenizer, KerasBertError) or effective is None:
        return None, None
    return {} if tokenizer is None else tokenizer.effective_config(), effective()


def _processor_settings(processor: Processor | None) -> Mapping[str, Any] | None:
    return None if processor is None else {"labels": processor.labels, **processor.effective_settings()}


def _table_sizes(metadata: Metadata, reference: Reference) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    if metadata.vocab_size is None or reference.vocab_size is None:
        return None, None
    return {"vocab_size": metadata.vocab_size}, {"vocab_size": reference.vocab_size}


def _lengths(metadata: Metadata) -> dict[str, Any]:
    """Return the lengths that the metadata names; the longest row of a resizable file only, as others do not use it."""
    lengths: dict[str, Any] = {"sequence_length": metadata.sequence_length, "lengths": metadata.lengths or ()}
    return lengths if metadata.sequence_length else {**lengths, "row_length": metadata.row_length}


def _graph_lengths(metadata: Metadata, model: Session, reference: Reference) -> dict[str, Any]:
    """Return the lengths of the file's graph. The longest row of a resizable file is the reference's."""
    graph = {"sequence_length": None if model.resizable else model.length, "lengths": model.lengths}
    if not model.resizable:
        return graph if metadata.sequence_length else {**graph, "row_length": model.length}
    if metadata.sequence_length:
        return graph
    longest: Any = metadata.tokenizer.get("model_max_length")
    row_length = min(filter(None, (reference.length, longest)), default=None)
    return {**graph, "row_length": row_length if reference.length and metadata.row_length else metadata.row_length}


def _differences(part: str, in_file: Mapping[str, Any], in_reference: Mapping[str, Any]) -> list[str]:
    """Describe each setting that is not equal."""
    names = [*in_file, *(name for name in in_reference if name not in in_file)]
    return [
        f"{part} {name} {_excerpt(in_file.get(name, _MISSING), in_reference.get(name, _MISSING))}"
        for name in names
        if name not in in_file or name not in in_reference or not _same(in_file[name], in_reference[name])
    ]


def _same(first: Any, second: Any) -> bool:
    """Compare two settings; a list is equal to a tuple, as JSON has lists only, but true is not 1."""
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    return bool(first == second)


def _excerpt(in_file: Any, in_reference: Any) -> str:
    """Write both values; of long lists the first entry that differs, of long texts the start."""
    if isinstance(in_file, list | tuple) and isinstance(in_reference, list | tuple):
        return _list_excerpt(in_file, in_reference)
    return f"{_short(in_file)} instead of {_short(in_reference)}"


def _list_excerpt(in_file: Sequence[Any], in_reference: Sequence[Any]) -> str:
    if len(in_file) != len(in_reference) and max(len(in_file), len(in_reference)) > _LISTED:
        return f"of {len(in_file):,} entries instead of {len(in_reference):,}"
    pairs = enumerate(zip(in_file, in_reference, strict=False))
    place = next((number for number, pair in pairs if not _same(*pair)), None)
    if place is None or max(len(in_file), len(in_reference)) <= _LISTED:
        return f"{_short(tuple(in_file))} instead of {_short(tuple(in_reference))}"
    return f"entry {place}: {_short(in_file[place])} instead of {_short(in_reference[place])}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
