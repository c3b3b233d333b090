"""The metadata of a `.tflite` file: its fields, and their form in the packed files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.processors import PROCESSORS, Processor, make_processor
from kerasbert.processors.registry import processor_settings
from kerasbert.text.vocabulary_size import check_vocabulary_size

FORMAT = 1
DESCRIPTION, VOCABULARY, LABELS = "kerasbert.json", "vocab.txt", "labels.txt"
IDS, TEXT = "ids", "text"  # the kinds of inputs that a file takes
_MAX_LENGTHS = 256
_MAX_TOKENS = 1 << 20
# Types of the entries of `kerasbert.json`, beside `lengths`.
_FIELDS = {
    "task": str,
    "problem": str,
    "settings": dict,
    "signature": str,
    "sequence_length": int | None,
    "row_length": int | None,
    "recipe": str,
    "target": str,
    "parameters": int,
    "weights": str,
    "vocab_size": int | None,
    "tokenizer": dict,
    "kerasbert": str,
    "integer_only": bool,
    "inputs": str,
}

# Files of the first versions lack these fields.
_DEFAULTS = {"weights": "", "integer_only": False, "settings": {}, "inputs": IDS}


@dataclass(frozen=True)
class Metadata:
    """The packed metadata of a `.tflite` file.

    Attributes:
        task: The class name of the task that was converted.
        processor: The task's processor, with its labels and settings.
        sequence_length: Tokens of the inputs, of the longest signature where there are several; None for a resizable length.
        recipe: The recipe of the conversion.
        target: The deployment target.
        parameters: Trained parameters of the model.
        tokenizer: The tokenizer's settings without the vocabulary.
        kerasbert: The version of kerasbert that wrote the file.
        vocabulary: The tokens in the order of their ids.
        signature: The signature's name; the longest one's where there are several.
        weights: The fingerprint of the task that was converted, "" if unknown.
        vocab_size: Rows of the token embedding table, which may be more than the vocabulary has tokens.
        integer_only: Whether no operator computes in float.
        row_length: The task's longest row, to which texts are cut if the file is resizable. None in files of the first versions.
        lengths: The lengths of a file with a signature `serve_N` for each; None for a file with one signature.
        inputs: `ids`, or `text` for a file with the tokenizer in its graph.

    Example:
        ```python
        metadata = kb.export.convert(int8).metadata
        metadata.labels, metadata.sequence_length, metadata.recipe
        ```
    """

    task: str
    processor: Processor
    sequence_length: int | None
    recipe: str
    target: str
    parameters: int
    tokenizer: Mapping[str, object] = field(default_factory=dict)
    kerasbert: str = ""
    vocabulary: tuple[str, ...] | None = field(default=None, repr=False)
    signature: str = "serve"
    weights: str = ""
    vocab_size: int | None = None
    integer_only: bool = False
    row_length: int | None = None
    lengths: tuple[int, ...] | None = None
    inputs: str = IDS

    def __post_init__(self) -> None:
        if self.vocabulary is not None:
            object.__setattr__(self, "vocabulary", tuple(self.vocabulary))
        for name, lines in (("vocabulary", self.vocabulary), ("labels", self.labels)):
            if any("\n" in line or "\r" in line for line in lines or ()):
                raise KerasBertError(
                    f"expected {name} of one line each, received an entry with a line break; remove it"
                )

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Names of the classes in the order of the outputs, if there are any."""
        return self.processor.labels

    def as_dict(self) -> dict[str, Any]:
        """Return the content of `kerasbert.json`."""
        return {
            "format": FORMAT,
            "task": self.task,
            "problem": self.processor.name,
            "settings": processor_settings(self.processor),
            "signature": self.signature,
            "sequence_length": self.sequence_length,
            "row_length": self.row_length,
            **({"lengths": list(self.lengths)} if self.lengths else {}),
            **({"inputs": self.inputs} if self.inputs != IDS else {}),
            "recipe": self.recipe,
            "integer_only": self.integer_only,
            "target": self.target,
            "parameters": self.parameters,
            "weights": self.weights,
            "vocab_size": self.vocab_size,
            "tokenizer": dict(self.tokenizer),
            "kerasbert": self.kerasbert,
        }


def parse_metadata(texts: Mapping[str, str], name: str) -> Metadata:
    """Parse the packed files.

    Args:
        texts: The content of each file by its name.
        name: The `.tflite` file's name in messages.

    Raises:
        KerasBertError: when they are damaged, or of a newer format.
    """
    description = _parse_description(texts[DESCRIPTION], name)
    fields = _checked_fields(description, name)
    kind, settings = fields.pop("problem"), fields.pop("settings")
    fields["lengths"] = _checked_lengths(description.get("lengths"), name)
    vocabulary = _split(texts.get(VOCABULARY))
    if vocabulary and not vocabulary[-1]:  # no tokenizer has an empty last token: in a vocabulary file it would be lost
        raise metadata_error(name, f"an empty last token in {VOCABULARY}")
    if vocabulary and fields["vocab_size"] is not None:
        check_vocabulary_size(len(vocabulary), fields["vocab_size"], name)
    labels = _split(texts.get(LABELS))
    if labels == ():
        raise metadata_error(name, f"an empty {LABELS}")
    try:
        processor = make_processor(kind, labels, settings)
    except KerasBertError as error:
        raise metadata_error(name, f"settings of another task type in {DESCRIPTION} ({error})") from error
    return Metadata(**fields, processor=processor, vocabulary=vocabulary)


def _parse_description(text: str, name: str) -> dict[str, Any]:
    try:
        description = parse_json(text, DESCRIPTION)
    except KerasBertError as error:
        raise metadata_error(name, f"a {DESCRIPTION} that is not JSON ({error})") from error
    if not isinstance(description, dict):
        raise metadata_error(name, f"a {DESCRIPTION} that is not a JSON object")
    if (number := description.get("format")) != FORMAT:
        raise metadata_error(name, f"metadata of format {number!r}, where this version of kerasbert reads {FORMAT}")
    return description


def _checked_fields(description: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the entries of `_FIELDS`, once their types and values are checked."""
    fields = {}
    for key, kinds in _FIELDS.items():
        value = description.get(key, _DEFAULTS.get(key))
        if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
            raise metadata_error(name, f"{key!r} = {str(value)[:60]!r} in {DESCRIPTION}")
        fields[key] = value
    if fields["problem"] not in PROCESSORS:
        raise metadata_error(
            name, f"problem {fields['problem']!r} in {DESCRIPTION}, not one of {', '.join(PROCESSORS)}"
        )
    if fields["inputs"] not in (IDS, TEXT):
        raise metadata_error(name, f"inputs {fields['inputs'][:60]!r} in {DESCRIPTION}, not {IDS} or {TEXT}")
    for key in ("sequence_length", "row_length"):
        if fields[key] is not None and not 1 <= fields[key] <= _MAX_TOKENS:
            raise metadata_error(name, f"{key} {fields[key]} in {DESCRIPTION}")
    return fields


def _checked_lengths(lengths: Any, name: str) -> tuple[int, ...] | None:
    """Return rising numbers of tokens, once they are checked."""
    if lengths is None:
        return None
    whole = isinstance(lengths, list) and all(type(each) is int and 1 <= each <= _MAX_TOKENS for each in lengths)
    if not whole or not 2 <= len(lengths) <= _MAX_LENGTHS or lengths != sorted(set(lengths)):
        raise metadata_error(name, f"lengths {str(lengths)[:60]} in {DESCRIPTION}")
    return tuple(lengths)


def metadata_error(name: str, received: str) -> KerasBertError:
    """Return an error about damaged metadata. `received`: a description of the damage."""
    return KerasBertError(f"expected kerasbert metadata in {name}, received {received}; convert the model again")


def _split(text: str | None) -> tuple[str, ...] | None:
    # Not splitlines(): vocabularies hold characters that Unicode counts as line breaks.
    if text is None:
        return None
    lines = text.split("\n")
    return tuple(line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines))
