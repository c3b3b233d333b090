"""The zoo's models by name: encoders in folders, and files for one task each."""

import hashlib
import importlib.util
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
GOLDEN, RECIPE = "golden.json", "recipe.toml"
OWN_PACKAGE, SECOND_PACKAGE = "kerasbert", "kerasbert-zoo"
_SECOND_MODULE = "kerasbert_zoo"
_DOCUMENTS = (".md", ".toml")


@dataclass(frozen=True)
class ZooModel(Record):
    """A model of the zoo.

    Attributes:
        name: Its name, for `load` and for every command that takes a model.
        package: The package that has the weights, `kerasbert` or `kerasbert-zoo`.
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
    package: str = OWN_PACKAGE
    fine_tuning: tuple[tuple[str, str, str], ...] = ()

    @property
    def root(self) -> Path:
        """The folder of the package that has the weights.

        Raises:
            KerasBertError: When it is `kerasbert-zoo`, and that is not installed.
        """
        return ROOT if self.package == OWN_PACKAGE else _second_root(self.name)

    @property
    def path(self) -> Path:
        """The encoder's folder, or the file. Raises as `root`."""
        return self.root / self._place

    @property
    def is_installed(self) -> bool:
        """Whether the package that has the weights is installed."""
        return self.package == OWN_PACKAGE or _second_folder() is not None

    @property
    def golden(self) -> Path:
        """The file of golden inputs and outputs."""
        return self._document(GOLDEN)

    @property
    def card(self) -> Path:
        """The model card."""
        return self._document("README.md" if self.kind == ENCODER else "md")

    @property
    def recipe(self) -> Path:
        """How it was built."""
        return self._document(RECIPE if self.kind == ENCODER else "toml")

    @property
    def _place(self) -> str:
        """The path below `root`."""
        return self.name if self.kind == ENCODER else f"files/{self.name}.tflite"

    @property
    def _recorded_root(self) -> str:
        """What the names of its files in `SHA256SUMS` begin with."""
        return "" if self.package == OWN_PACKAGE else f"{self.package}/"

    def _document(self, name: str) -> Path:
        return ROOT / (f"{self.name}/{name}" if self.kind == ENCODER else f"files/{self.name}.{name}")

    def parts(self) -> dict[str, Path]:
        """Return every file of the model by its name in `SHA256SUMS`: what is loaded, not the documents beside it."""
        files = [self.path] if self.kind == FILE else sorted(filter(_is_loaded, self.path.rglob("*")))
        return {
            f"{self._recorded_root}{path.relative_to(self.root).as_posix()}": path for path in files if path.is_file()
        }

    def recorded(self) -> dict[str, str]:
        """Return the recorded SHA-256 of every file of the model by its name in `SHA256SUMS`."""
        prefix = f"{self._recorded_root}{self._place}" + ("/" if self.kind == ENCODER else "")
        return {name: digest for name, digest in checksums().items() if name.startswith(prefix)}


def _is_loaded(path: Path) -> bool:
    return path.suffix not in _DOCUMENTS and path.name != GOLDEN


def _second_folder() -> Path | None:
    found = importlib.util.find_spec(_SECOND_MODULE)
    return Path(found.origin).parent if found and found.origin else None


def _second_root(name: str) -> Path:
    if folder := _second_folder():
        return folder
    raise KerasBertError(
        f"{name}: expected the package {SECOND_PACKAGE}, which has this model, received none; pip install {SECOND_PACKAGE}"
    )


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
    expected, received = model.recorded(), model.parts()
    for name in sorted(expected.keys() | received.keys()):
        if name not in received:
            raise KerasBertError(
                f"{model.root}: expected {name}, a file of {model.name}, received none; install {model.package} again"
            )
        digest = sha256(received[name])
        if digest != expected.get(name):
            raise KerasBertError(
                f"{received[name]}: expected SHA-256 {expected.get(name, 'none, as it is no file of the model')}, received {digest}: the "
                f"file is damaged, was edited, or is of another version; install {model.package} again, or copy the model to a folder "
                "of your own to change it"
            )


@cache
def checksums() -> dict[str, str]:
    """Return the recorded SHA-256 of each file, by its path below the zoo's folder; files of `kerasbert-zoo` begin with that name."""
    lines = (ROOT / CHECKSUMS).read_text("ascii").splitlines()
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def write_checksums() -> None:
    """Record the SHA-256 of every file of every model."""
    lines = [f"{sha256(path)}  {name}\n" for model in models() for name, path in model.parts().items()]
    (ROOT / CHECKSUMS).write_text("".join(lines), "ascii")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
