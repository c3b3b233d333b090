"""What to say of MediaPipe Tasks and the Task Library when a file is made: that they will tokenize its texts otherwise."""

from collections.abc import Sequence

from kerasbert.export.runtime.predictor import tokenizer_of
from kerasbert.export.tflite.metadata import IDS, Metadata
from kerasbert.processors.classification import MultiLabel, SingleLabel
from kerasbert.processors.client_tasks import CLIENT_PROCESSORS
from kerasbert.text.client_differences import differences
from kerasbert.text.client_wordpiece import ClientWordPiece, client_unsupported_reason

_NAMES = {"mediapipe": "MediaPipe", "task-library": "the Task Library"}
_TARGETS = ("cpu", "gpu")  # for the others there are no such clients


def client_note(card: Metadata, examples: Sequence | None = None) -> str:
    """A line about a file of a task that these clients have; empty where they tokenize as the model does.

    Args:
        card: the file's metadata.
        examples: some of the data, as its processor takes them; without any, the line tells what the vocabulary does otherwise.
    """
    clients = [name for name, processors in CLIENT_PROCESSORS.items() if card.processor.name in processors]
    if not clients or card.inputs != IDS or card.target not in _TARGETS or not card.vocabulary:
        return ""
    names = " and ".join(_NAMES[client] for client in clients)
    several = len(clients) > 1
    if reason := client_unsupported_reason(card.tokenizer, card.vocabulary):
        return f"note: {names} {'do' if several else 'does'} not take texts for this file: {reason}"
    if card.tokenizer.get("kind") == ClientWordPiece.kind:
        return ""
    begin = f"note: {names} {'tokenize' if several else 'tokenizes'}"
    advice = f"train with --tokenize-as {clients[0]}, or count them with validate --on {clients[0]}"
    if not examples:
        stripped = card.tokenizer.get("strip_accents")
        accents = "accents, " if stripped or stripped is None else ""
        return f"{begin} some texts otherwise ({accents}capitals beyond ASCII, no-break spaces): {advice}"
    if isinstance(card.processor, SingleLabel | MultiLabel) and isinstance(examples[0], tuple):
        return ""  # they take one text
    other = _otherwise(card, clients[0], examples)
    if not other:
        return ""
    example = next(iter(other.values()))
    return f"{begin} {len(other)} of {len(examples)} calibration examples otherwise, such as {example}: {advice}"


def _otherwise(card: Metadata, client: str, examples: Sequence) -> dict[int, str]:
    """The examples with a text that is tokenized otherwise, by number."""
    tokenizer = tokenizer_of(card)
    theirs = ClientWordPiece.of(tokenizer, client)
    length = card.sequence_length or card.row_length or 512
    parts = [each if isinstance(each, tuple) else (each,) for each in examples]
    of = [number for number, part in enumerate(parts) for _ in part]
    texts = [text for part in parts for text in part]
    found = differences(tokenizer, texts, theirs.encode(texts, max_length=length).input_ids, length)
    other: dict[int, str] = {}
    for place, excerpt in found.items():
        other.setdefault(of[place], excerpt)
    return other
