"""Other people's clients in their environments: what they answer, and what ids they feed a model."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.cleanup import temporary_folder
from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.id_probe import probe_file
from kerasbert.export.backends.environments.environment import PythonEnvironment
from kerasbert.export.backends.environments.known import MEDIAPIPE, TASK_LIBRARY
from kerasbert.export.backends.subprocesses.process import run_child
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.files.json_text import parse_json
from kerasbert.processors.client_tasks import CLIENT_PROCESSORS

CHILD = Path(__file__).parents[1] / "subprocesses" / "client_worker.py"
SECONDS = 1800.0


@dataclass(frozen=True)
class Client:
    """A client in its environment."""

    name: str
    environment: PythonEnvironment

    @property
    def processors(self) -> tuple[str, ...]:
        """What it can be asked."""
        return CLIENT_PROCESSORS[self.name]

    @property
    def device(self) -> str:
        return self.environment.packages[0].replace("==", " ")


CLIENTS = {"mediapipe": Client("mediapipe", MEDIAPIPE), "task-library": Client("task-library", TASK_LIBRARY)}
KINDS = {
    "single_label": "classifier",
    "multi_label": "classifier",
    "embedding": "embedder",
    "question_answering": "answerer",
}


@dataclass(frozen=True)
class ClientAnswers:
    """One answer an example, see `client_worker`, and the seconds of each."""

    answers: list
    seconds: list[float]


def ask(client: Client, kind: str, model: str | os.PathLike, examples: Sequence) -> ClientAnswers:
    """What a client answers. kind: `classifier`, `embedder` or `answerer`.

    Raises:
        KerasBertError: the client does not run here, or does not take the file, in its own words.
    """
    if not client.environment.ready:
        raise KerasBertError(client.environment.missing)
    with temporary_folder("client") as folder:
        given, wanted = folder / "examples.json", folder / "answers.json"
        given.write_text(json.dumps(list(examples)), "utf-8")
        name = f"{client.name.replace('-', '_')}_{kind}"
        ended = run_child([client.environment.python, CHILD, name, model, given, wanted], SECONDS)
        if not ended.well:
            raise KerasBertError(ended.failure_reason)
        found = parse_json(wanted.read_text("utf-8"), client.name, memory=1 << 40)
    return ClientAnswers(found["answers"], found["seconds"])


def ids_of(client: Client, card: Metadata, texts: Sequence[str], length: int) -> list[list[int]]:
    """The ids that a client feeds a model with this vocabulary, `length` a text, padding included: measured by a file that gives back the
    ids it gets.

    Raises:
        KerasBertError: as `ask`.
    """
    with temporary_folder("probe") as folder:
        probe = folder / "ids.tflite"
        probe.write_bytes(probe_file(card, length))
        found = ask(client, "embedder", probe, texts).answers
    return [[int(number) for number in row] for row in found]
