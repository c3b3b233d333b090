"""The zoo's models by name: encoders in folders, and files for one task each."""

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record
from kerasbert.files.toml_text import read_toml
from kerasbert.suggestions import nearest

if TYPE_CHECKING:
    from kerasbert.export.runtime.pipeline import Pipeline
    from kerasbert.tasks import SentenceEncoder

ROOT = Path(__file__).resolve().parent
CATALOG, CHECKSUMS = "models.toml", "SHA256SUMS"
ENCODER, FILE = "encoder", "file"
GOLDEN = "golden.json"
_DOCUMENTS = (".md", ".toml")


@dataclass(frozen=True)
class ZooModel(Record):
    """A model of the zoo.

    Attributes:
        name: Its name, for `load` and for every command that takes a model.
        kind: `encoder`, a folder to fine-tune or to compute sentence vectors with; or `file`, a `.tflite` file for one task.
        task: What the model is for, as `kerasbert train --task` spells it; `embedding` for an encoder.
        summary: One sentence.
        encoder: The encoder that a file was trained from; of an encoder its own name.
        metric: The metric of the table of models, as `zoo/results.csv` spells it.
        data: The data of this metric.
        training: How it was trained, in Markdown.
        limits: What it is not good for, one sentence each, beside what the card says of every encoder.
        licence: The licence of the weights, as Hugging Face's metadata spells it.
        example: A text that the card shows it with.
        fine_tuning: Data, licence and source of each data set that a file was trained on, beside its encoder's texts.

    Example:
        ```python
        model = kb.zoo.find("intents")
        model.task, model.licence, model.path.name
        ```
    """

    name: str
    kind: str
    task: str
    summary: str
    encoder: str
    metric: str
    data: str
    training: str = ""
    limits: tuple[str, ...] = ()
    licence: str = "apache-2.0"
    example: str = "wake me at six"
    fine_tuning: tuple[tuple[str, str, str], ...] = ()

    @property
    def path(self) -> Path:
        """The encoder's folder, or the file."""
        return ROOT / (self.name if self.kind == ENCODER else f"files/{self.name}.tflite")

    @property
    def golden(self) -> Path:
        """The file of golden inputs and outputs."""
        return self.path / GOLDEN if self.kind == ENCODER else self.path.with_suffix(f".{GOLDEN}")

    @property
    def card(self) -> Path:
        """The model card."""
        return self.path / "README.md" if self.kind == ENCODER else self.path.with_suffix(".md")

    def parts(self) -> list[Path]:
        """Return every file of the model: what is loaded, not the documents beside it."""
        if self.kind == FILE:
            return [self.path]
        files = (path for path in self.path.rglob("*") if path.is_file())
        return sorted(path for path in files if path.suffix not in _DOCUMENTS and path.name != GOLDEN)


@cache
def models() -> tuple[ZooModel, ...]:
    """Return the zoo's models: encoders, then files.

    Returns:
        The models.

    Example:
        ```python
        for model in kb.zoo.models():
            print(model.name, model.kind, model.summary)
        ```
    """
    entries = read_toml(ROOT / CATALOG)
    return tuple(ZooModel.from_dict({"name": name, "encoder": name, **entries[name]}, CATALOG) for name in entries)


def find(name: str) -> ZooModel:
    """Return the model of that name.

    Args:
        name: The name.

    Returns:
        The model.

    Raises:
        KerasBertError: When the zoo has no such model; the message suggests the nearest name.

    Example:
        ```python
        kb.zoo.find("small-en").path  # the folder, for `from_pretrained`
        ```
    """
    by_name = {model.name: model for model in models()}
    if name not in by_name:
        suggestion = nearest(name, by_name)
        advice = f"did you mean {suggestion}?" if suggestion else f"the models are {', '.join(by_name)}"
        raise KerasBertError(f"expected the name of a model in the zoo, received {name!r}; {advice}")
    return by_name[name]


def load(name: str) -> "SentenceEncoder | Pipeline":
    """Load a model of the zoo.

    Args:
        name: The model's name.

    Returns:
        A `SentenceEncoder` for an encoder. For a file an object that is called with texts, see `kerasbert.open`.

    Raises:
        KerasBertError: When the zoo has no such model, or a file of it was damaged or edited.

    Example:
        ```python
        intents = kb.zoo.load("intents")
        intents("wake me at six")["label"]
        sentences = kb.zoo.load("small-en")
        sentences.predict(["wake me at six"]).shape  # (1, width)
        ```
    """
    model = find(name)
    check_files(model)
    if model.kind == ENCODER:
        from kerasbert.tasks import SentenceEncoder

        return SentenceEncoder.from_pretrained(model.path)
    from kerasbert.export.runtime.opening import open as open_file

    return open_file(model.path)


def shipped_path(name: str) -> Path | None:
    """Return the folder or file of a model after checking its files, or None if the zoo has no such model.

    Args:
        name: The model's name.

    Raises:
        KerasBertError: When a file of the model was damaged or edited.
    """
    if name not in names():
        return None
    model = find(name)
    check_files(model)
    return model.path


def names() -> list[str]:
    """Return the names of all models."""
    return [model.name for model in models()]


def check_files(model: ZooModel) -> None:
    """Compare the SHA-256 of every file of a model with the recorded ones.

    Args:
        model: The model.

    Raises:
        KerasBertError: When a file is missing, or its content is another one.
    """
    recorded, received = checksums(), {path.relative_to(ROOT).as_posix(): path for path in model.parts()}
    prefix = model.path.relative_to(ROOT).as_posix()
    expected = {name for name in recorded if name == prefix or name.startswith(prefix + "/")}
    for name in sorted(expected | received.keys()):
        if name not in received:
            raise KerasBertError(
                f"{ROOT / name}: expected a file of {model.name}, received none; install kerasbert again"
            )
        digest = sha256(received[name])
        if digest != recorded.get(name):
            raise KerasBertError(
                f"{received[name]}: expected SHA-256 {recorded.get(name, 'none, as it is no file of the model')}, received {digest}: the "
                "file is damaged or was edited; install kerasbert again, or copy the model to a folder of your own to change it"
            )


@cache
def checksums() -> dict[str, str]:
    """Return the recorded SHA-256 of each file, by its path below the zoo's folder."""
    lines = (ROOT / CHECKSUMS).read_text("ascii").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def write_checksums() -> None:
    """Record the SHA-256 of every file of every model."""
    paths = [path for model in models() for path in model.parts()]
    lines = [f"{sha256(path)}  {path.relative_to(ROOT).as_posix()}\n" for path in paths]
    (ROOT / CHECKSUMS).write_text("".join(lines), "ascii")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
