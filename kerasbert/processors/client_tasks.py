"""What MediaPipe Tasks and TFLite's Task Library can be asked with a BERT file."""

from kerasbert.errors import KerasBertError
from kerasbert.text import ClientWordPiece, Tokenizer

_BOTH = ("single_label", "multi_label", "embedding")
CLIENT_PROBLEMS = {"mediapipe": _BOTH, "task-library": (*_BOTH, "question_answering")}


def client_tokenizer(tokenizer: Tokenizer, client: str, problem: str) -> ClientWordPiece:
    """The tokenizer under a client's rules, for a model that answers a problem there.

    Raises:
      KerasBertError: another client, a problem that it does not have, or a vocabulary that it does not read.
    """
    found = ClientWordPiece.of(tokenizer, client)
    if problem not in CLIENT_PROBLEMS[client]:
        raise KerasBertError(
            f"expected a task that {client} has ({', '.join(CLIENT_PROBLEMS[client])}), received {problem}; leave --tokenize-as out"
        )
    return found
