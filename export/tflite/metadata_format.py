"""The metadata of a `.tflite` file: its fields, and their form in the packed files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import parse_json
from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.record import Record, setting
from kerasbert.processors import PROCESSORS, Processor, make_processor
from kerasbert.text.vocabulary_size import check_vocabulary_size
from kerasbert.values import short_repr

FORMAT = 1
DESCRIPTION, VOCABULARY, LABELS = "kerasbert.json", "vocab.txt", "labels.txt"
IDS, TEXT = "ids", "text"  # the kinds of inputs that a file takes
_MAX_LENGTHS = 256
_MAX_TOKENS = 1 << 20
_MAX_LAYERS = 1 << 12


@dataclass(frozen=True)
class Metadata(Record):
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
        exits: The layers before each exit of a file with early exits, the last one included; it has a signature for each. None for others.
        exit_threshold: The confidence from which on a text ends at an exit; None: at the last one.

    Example:
        ```python
        metadata = kb.export.convert(int8).metadata
        metadata.labels, metadata.sequence_length, metadata.recipe
        ```
    """

    others: ClassVar[KnownKeys | None] = KnownKeys(harmless=frozenset({"format"}))
    advice: ClassVar[str] = "convert the model again"

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
    row_length: int | None = setting(None, at_least=1, at_most=_MAX_TOKENS)
    lengths: tuple[int, ...] | None = setting(None, at_least=1, at_most=_MAX_TOKENS)
    inputs: str = setting(IDS, choices=(IDS, TEXT))
    exits: tuple[int, ...] | None = setting(None, at_least=1, at_most=_MAX_LAYERS)
    exit_threshold: float | None = setting(None, at_least=0, at_most=1)

    def check(self) -> None:
        fits = self.sequence_length is None or 1 <= self.sequence_length <= _MAX_TOKENS
        self.expect(fits, "sequence_length", f"from 1 to {_MAX_TOKENS}")
        several = self.lengths is None or 2 <= len(self.lengths) <= _MAX_LENGTHS
        rising = self.lengths is None or list(self.lengths) == sorted(set(self.lengths))
        self.expect(several and rising, "lengths", f"as 2 to {_MAX_LENGTHS} rising numbers")
        rising = self.exits is None or (len(self.exits) > 1 and list(self.exits) == sorted(set(self.exits)))
        self.expect(rising, "exits", "as two or more rising numbers")
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
            "settings": self.processor.settings(),
            "signature": self.signature,
            "sequence_length": self.sequence_length,
            "row_length": self.row_length,
            **({"lengths": list(self.lengths)} if self.lengths else {}),
            **({"inputs": self.inputs} if self.inputs != IDS else {}),
            **({"exits": list(self.exits), "exit_threshold": self.exit_threshold} if self.exits else {}),
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
    kind, settings = description.pop("problem", None), description.pop("settings", {})
    vocabulary, labels = _split(texts.get(VOCABULARY)), _split(texts.get(LABELS))
    if vocabulary and not vocabulary[-1]:  # no tokenizer has an empty last token: in a vocabulary file it would be lost
        raise metadata_error(name, f"an empty last token in {VOCABULARY}")
    if labels == ():
        raise metadata_error(name, f"an empty {LABELS}")
    if kind not in tuple(PROCESSORS):
        raise metadata_error(name, f"problem {short_repr(kind)} in {DESCRIPTION}, not one of {', '.join(PROCESSORS)}")
    try:
        processor = make_processor(kind, labels, settings)
    except KerasBertError as error:
        raise metadata_error(name, f"settings of another task type in {DESCRIPTION} ({error})") from error
    entries = {**description, "processor": processor, "vocabulary": vocabulary}
    found = Metadata.from_dict(entries, f"{name}, {DESCRIPTION}")
    if vocabulary and found.vocab_size is not None:
        check_vocabulary_size(len(vocabulary), found.vocab_size, name)
    return found


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


def metadata_error(name: str, received: str) -> KerasBertError:
    """Return an error about damaged metadata. `received`: a description of the damage."""
    return KerasBertError(f"expected kerasbert metadata in {name}, received {received}; convert the model again")


def _split(text: str | None) -> tuple[str, ...] | None:
    # Not splitlines(): vocabularies hold characters that Unicode counts as line breaks.
    if text is None:
        return None
    lines = text.split("\n")
    return tuple(line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines))
