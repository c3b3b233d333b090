"""Runs the clients of other projects in their environments: their answers, and the ids that they feed a model."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kerasbert.errors import KerasBertError
from kerasbert.export.backends.client_tools.id_probe import probe_file
from kerasbert.export.backends.environments.environment import PythonEnvironment
from kerasbert.export.backends.environments.known import MEDIAPIPE, TASK_LIBRARY
from kerasbert.export.runtime.process import run_command
from kerasbert.export.tflite.metadata import Metadata
from kerasbert.files.cleanup import temporary_folder
from kerasbert.files.json_text import parse_json
from kerasbert.processors.client_tasks import CLIENT_PROCESSORS

WORKER = Path(__file__).parents[1] / "subprocesses" / "client_worker.py"
SECONDS = 1800.0


@dataclass(frozen=True)
class Client:
    """A client of another project.

    Attributes:
        name: The client's name, also that of its backend.
        title: Its name in a sentence.
        environment: Where it is installed.
        advice: A remedy where it refuses a file; empty for none.
    """

    name: str
    title: str
    environment: PythonEnvironment
    advice: str = ""

    @property
    def processors(self) -> tuple[str, ...]:
        """The names of the processors that it supports."""
        return CLIENT_PROCESSORS[self.name]

    @property
    def device(self) -> str:
        """Its package with the version, as a check names it."""
        return self.environment.packages[0].replace("==", " ")


CLIENTS = {
    client.name: client
    for client in (
        Client("mediapipe", "MediaPipe", MEDIAPIPE),
        Client(
            "task-library", "the Task Library", TASK_LIBRARY, "its runtime is of 2022: convert with --min-runtime 2.9"
        ),
    )
}
KINDS = {
    "single_label": "classifier",
    "multi_label": "classifier",
    "embedding": "embedder",
    "question_answering": "answerer",
}


@dataclass(frozen=True)
class ClientAnswers:
    """The answers of a client.

    Attributes:
        answers: One an example, see `client_worker`.
        seconds: The time of each.
    """

    answers: list
    seconds: list[float]


def ask(client: Client, kind: str, model: str | os.PathLike, examples: Sequence) -> ClientAnswers:
    """Run a client on a file.

    Args:
        client: The client.
        kind: `classifier`, `embedder` or `answerer`.
        model: The file.
        examples: Texts, or (question, context) pairs for an answerer.

    Raises:
        KerasBertError: When the client does not run here, or does not take the file; the message is the client's own.
    """
    if not client.environment.ready:
        raise KerasBertError(client.environment.missing)
    with temporary_folder("client") as folder:
        examples_file, answers_file = folder / "examples.json", folder / "answers.json"
        examples_file.write_text(json.dumps(list(examples)), "utf-8")
        factory = f"{client.name.replace('-', '_')}_{kind}"
        command = [client.environment.python, WORKER, factory, os.fspath(model), examples_file, answers_file]
        result = run_command(command, SECONDS)
        if not result.ok:
            raise KerasBertError(result.failure_reason)
        answers = parse_json(answers_file.read_text("utf-8"), client.name, memory=1 << 40)
    return ClientAnswers(answers["answers"], answers["seconds"])


def ids_of(client: Client, metadata: Metadata, texts: Sequence[str], length: int) -> list[list[int]]:
    """Measure the ids that a client feeds a model with this vocabulary, by a file that returns the ids it gets.

    Args:
        client: The client.
        metadata: The metadata of a file with the vocabulary.
        texts: Any texts.
        length: Tokens a text, padding included.

    Raises:
        KerasBertError: As `ask`.
    """
    with temporary_folder("probe") as folder:
        probe = folder / "ids.tflite"
        probe.write_bytes(probe_file(metadata, length))
        vectors = ask(client, "embedder", probe, texts).answers
    return [[int(number) for number in vector] for vector in vectors]
