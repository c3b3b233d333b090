"""The processors that MediaPipe Tasks and TFLite's Task Library support."""

from kerasbert.errors import KerasBertError
from kerasbert.processors.base import Processor
from kerasbert.text import ClientWordPiece, Tokenizer

_BOTH = ("single_label", "multi_label", "embedding")
CLIENT_PROCESSORS = {"mediapipe": _BOTH, "task-library": (*_BOTH, "question_answering")}


def client_tokenizer(tokenizer: Tokenizer, client: str, processor: Processor) -> ClientWordPiece:
    """Return the tokenizer under a client's rules, for a model that runs there.

    Args:
        tokenizer: The model's tokenizer.
        client: "mediapipe" or "task-library".
        processor: The model's processor.

    Raises:
        KerasBertError: When there is no such client, or it does not support the processor or the vocabulary.
    """
    client_wordpiece = ClientWordPiece.of(tokenizer, client)
    if processor.name not in CLIENT_PROCESSORS[client]:
        raise KerasBertError(
            f"expected a task type that {client} has ({', '.join(CLIENT_PROCESSORS[client])}), received {processor.name}; leave "
            "--tokenize-as out"
        )
    return client_wordpiece
