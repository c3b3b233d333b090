"""A note at conversion: MediaPipe Tasks and the Task Library will tokenize some texts differently."""

from collections.abc import Sequence

from kerasbert.export.backends.client_tools.calls import CLIENTS
from kerasbert.export.lowering.targets import target_of_file
from kerasbert.export.tflite.metadata import IDS, Metadata, tokenizer_of
from kerasbert.processors.classification import MultiLabel, SingleLabel
from kerasbert.text.client_differences import differences
from kerasbert.text.client_wordpiece import ClientWordPiece, client_unsupported_reason

_DEFAULT_LENGTH = 512


def client_note(metadata: Metadata, examples: Sequence | None = None) -> str:
    """Write a line about a file whose task these clients support; empty where they tokenize as the model does.

    Args:
        metadata: The file's metadata.
        examples: Some of the data, as its processor takes them. Without any, the line names what the vocabulary does differently.
    """
    clients = [client for client in CLIENTS.values() if metadata.processor.name in client.processors]
    target = target_of_file(metadata.target)
    has_clients = target is not None and target.has_clients
    if not clients or metadata.inputs != IDS or not has_clients or not metadata.vocabulary:
        return ""
    titles = " and ".join(client.title for client in clients)
    several = len(clients) > 1
    if prefix := metadata.processor.prefix:
        return f"note: {titles} {'do' if several else 'does'} not put the default prompt {prefix[:40]!r} before texts"
    if reason := client_unsupported_reason(metadata.tokenizer, metadata.vocabulary):
        return f"note: {titles} {'do' if several else 'does'} not take texts for this file: {reason}"
    if metadata.tokenizer.get("kind") == ClientWordPiece.kind:
        return ""
    start = f"note: {titles} {'tokenize' if several else 'tokenizes'}"
    first = clients[0].name
    advice = f"train with --tokenize-as {first}, or count them with validate --on {first}"
    if not examples:
        stripped = metadata.tokenizer.get("strip_accents")
        accents = "accents, " if stripped or stripped is None else ""
        return f"{start} some texts otherwise ({accents}capitals beyond ASCII, no-break spaces): {advice}"
    if isinstance(metadata.processor, SingleLabel | MultiLabel) and isinstance(examples[0], tuple):
        return ""  # they take one text
    different = _different_examples(metadata, first, examples)
    if not different:
        return ""
    excerpt = next(iter(different.values()))
    return f"{start} {len(different)} of {len(examples)} calibration examples otherwise, such as {excerpt}: {advice}"


def _different_examples(metadata: Metadata, client: str, examples: Sequence) -> dict[int, str]:
    """Find the examples that a client tokenizes differently: an excerpt of each by its number."""
    tokenizer = tokenizer_of(metadata)
    client_tokenizer = ClientWordPiece.of(tokenizer, client)
    length = metadata.sequence_length or metadata.row_length or _DEFAULT_LENGTH
    parts = [example if isinstance(example, tuple) else (example,) for example in examples]
    example_numbers = [number for number, part in enumerate(parts) for _ in part]
    texts = [text for part in parts for text in part]
    client_ids = client_tokenizer.encode(texts, max_length=length).input_ids
    excerpts: dict[int, str] = {}
    for place, excerpt in differences(tokenizer, texts, client_ids, length).items():
        excerpts.setdefault(example_numbers[place], excerpt)
    return excerpts
