"""`FewShotClassifier`: labels taught by a few examples each, on a sentence encoder."""

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kerasbert.arguments import argument, check_choice, to_list
from kerasbert.data.dataset import Dataset, examples_of, labels_of
from kerasbert.data.duplicates import find_duplicates
from kerasbert.data.fallback import KEEP, check_fallback, check_keep
from kerasbert.data.labels import LabelSet
from kerasbert.errors import KerasBertError
from kerasbert.export.runtime.call_arguments import unit_vectors
from kerasbert.export.runtime.opening import open
from kerasbert.export.runtime.pipeline import Pipeline
from kerasbert.export.tflite.metadata import append
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.few_shot.choice import Choice, choose
from kerasbert.processors.embedding import Embedding
from kerasbert.processors.fallback import threshold_of
from kerasbert.processors.few_shot import METHODS, TRAINED, FewShot
from kerasbert.processors.known_texts import check_known_tokens

if TYPE_CHECKING:
    from kerasbert.tasks.sentence_encoder import SentenceEncoder

AUTO = "auto"
_TASK = "FewShotClassifier"  # in metadata
_LENGTHS = (32, 64)  # of a converted encoder, beside its longest


@dataclass(frozen=True)
class Taught:
    """What `FewShotClassifier.fit` chose.

    Attributes:
        labels: The classes.
        examples: The number of examples of each class.
        method: `centre`, `logistic` or `trained`.
        accuracy: Of each method that was compared, by cross-validation; empty where no class has two examples.
        fallback_below: The probability below which a text belongs to no class; None without `fallback`.

    Example:
        ```python
        few = kb.FewShotClassifier("search").fit(texts, labels)
        few.taught.method, few.taught.accuracy
        ```
    """

    labels: tuple[str, ...]
    examples: tuple[int, ...]
    method: str
    accuracy: dict[str, float]
    fallback_below: float | None


class FewShotClassifier:
    """A classifier of texts that a few examples of each label teach in a second, without training of the encoder.

    A text gets its vector from a sentence encoder, as a `.tflite` file. On the vectors of length 1, `centre` chooses the label whose
    examples have the nearest mean (Snell et al. 2017), and `logistic` is multinomial logistic regression. The file that `save` writes has
    the encoder's graph as it was, and the layer beside it. `trained` also trains the encoder, which takes longer: the layer starts at the
    centres.

    Args:
        model: A sentence encoder: a `.tflite` file, a model of the zoo, or a folder, which is converted (`dynamic_wi8_afp32`). A taught
            file is taught anew.
        method: `centre`, `logistic`, or `auto`, which compares them by cross-validation; or `trained`, for a folder.
        fallback: The label of texts that belong to none of the classes, such as `"oos"`. Rows of this label are examples of such texts.
        fallback_below: The probability below which a text gets it. By default it is chosen by cross-validation: with rows of that label
            for the most right decisions, otherwise so that `keep` of the right predictions stay.
        keep: See `fallback_below`.
        threads: CPU threads of the runtime.

    Raises:
        KerasBertError: When the model is no sentence encoder, or cannot be trained though the method is `trained`, or an argument is out of
            range.

    Example:
        ```python
        few = kb.FewShotClassifier("search")
        few.fit(["wake me at six", "set an alarm", "play some jazz", "next song please"], ["alarm", "alarm", "music", "music"])
        few("turn the music up")["label"]
        few.save("taught.tflite")
        ```
    """

    def __init__(
        self,
        model: str | os.PathLike = "search",
        *,
        method: str = AUTO,
        fallback: str | None = None,
        fallback_below: float | None = None,
        keep: float = KEEP,
        threads: int = 1,
    ) -> None:
        self.method = check_choice(method, "a method of", (AUTO, *METHODS, TRAINED))
        check_fallback(fallback, fallback_below)
        self.fallback, self.fallback_below, self.keep = fallback, fallback_below, check_keep(keep)
        self._folder = tempfile.mkdtemp(prefix="kerasbert-")  # of converted encoders
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._task: SentenceEncoder | None = None
        self._threads = threads
        self._encoder = self._open(model)
        self._fitted: tuple[Taught, Pipeline] | None = None

    @property
    def taught(self) -> Taught:
        """What `fit` chose."""
        return self._result()[0]

    @property
    def model(self) -> Pipeline:
        """The classifier as `kb.open` returns it."""
        return self._result()[1]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that were taught, without the fallback."""
        return self.taught.labels

    def fit(self, x: Any, y: Any = None) -> Self:
        """Teach the labels, in place of those that were taught before.

        Args:
            x: Texts, or a table of `kerasbert.data`.
            y: The label of each text; None takes those of the table.

        Returns:
            The classifier itself; `taught` says what was chosen.

        Raises:
            KerasBertError: When there are fewer than two classes, a text has two labels, or the fallback's probability cannot be chosen.
        """
        texts, labels = self._checked(x, y)
        names = LabelSet.from_values([label for label in labels if label != self.fallback]).names
        encoder, where = self._encoder, str(x.path) if isinstance(x, Dataset) else "the texts"
        features = encoder.processor.features(texts, encoder.tokenizer, encoder.length)
        check_known_tokens(features, encoder.tokenizer, where)
        inside = [text for text, label in zip(texts, labels, strict=True) if label != self.fallback]
        outside = [text for text, label in zip(texts, labels, strict=True) if label == self.fallback]
        classes = np.array([names.index(label) for label in labels if label != self.fallback])
        self._check_fallback(classes)
        if self._task is not None:
            chosen, encoder = self._trained(self._task, inside, classes, len(names))
        else:
            methods = METHODS if self.method == AUTO else (self.method,)
            chosen = choose(methods, unit_vectors(encoder(inside), None), classes, len(names))
        below = self._fallback_below(chosen, unit_vectors(encoder(outside), None) if outside else None)
        examples = tuple(np.bincount(classes, minlength=len(names)).tolist())
        taught = Taught(names, examples, chosen.method, dict(chosen.accuracy), below)
        processor = FewShot(
            labels=names, width=chosen.linear.kernel.shape[1], layer=chosen.linear.to_text(), method=taught.method,
            prompt=encoder.processor.prefix, fallback=self.fallback, fallback_below=below,
        )  # fmt: skip
        metadata = replace(encoder.metadata, task=_TASK, processor=processor, weights="")
        self._fitted = taught, replace(encoder, processor=processor, metadata=metadata)
        return self

    def __call__(self, x: Any, *, top_k: int | None = None) -> Any:
        """Predict, as a model of `kb.open` does.

        Args:
            x: A text, or several.
            top_k: The number of classes that a prediction lists, the likeliest first.

        Returns:
            A dict with `label`, `score` and `probabilities` for a text, a list for several.
        """
        return self.model(x, top_k=top_k)

    def predict(self, texts: Sequence[str]) -> np.ndarray:
        """Predict the probability of each label.

        Args:
            texts: The texts.

        Returns:
            float32 `(texts, labels)`.
        """
        predictions = self.model.predictions(texts)
        return np.array([list(each["probabilities"].values()) for each in predictions], np.float32)

    def score(self, x: Any, y: Any = None) -> dict[str, float]:
        """Compute accuracy and F1 on labelled texts; with `fallback` also on those that belong to no class.

        Args:
            x: Texts, or a table of `kerasbert.data`.
            y: Labels; None takes those of the table.

        Returns:
            The metrics by name; the first is the main one.
        """
        return self.model.score(x, y)

    def save(self, path: str | os.PathLike) -> Path:
        """Write a `.tflite` file with the encoder and the classes, which `kb.open` opens.

        Args:
            path: The file, with the ending `.tflite`.

        Returns:
            The path.

        Raises:
            KerasBertError: When nothing was taught, the ending is another one, or another program's file is there.
        """
        model = self.model
        if Path(path).suffix != ".tflite":
            raise KerasBertError(f"expected a file name ending in .tflite, received {str(path)!r}; rename it")
        content = append(Path(model.name).read_bytes(), model.metadata)
        return ModelFile(content, model.metadata).save(path)

    def _open(self, model: str | os.PathLike) -> Pipeline:
        opened = open(model, threads=self._threads)
        if opened.task is not None and isinstance(opened.processor, Embedding):
            if self.method == TRAINED:
                self._task = opened.task
            opened = self._converted(opened.task, "encoder.tflite")
        if isinstance(opened.processor, FewShot):
            taught = opened.processor
            prompts = {"prompt": taught.prompt} if taught.prompt else None
            embedding = Embedding(
                width=taught.width, prompts=prompts, default_prompt_name="prompt" if prompts else None
            )
            opened = replace(opened, processor=embedding)
        if not isinstance(opened.processor, Embedding):
            raise KerasBertError(
                f"expected a sentence encoder to teach, such as search, received {opened.name} for the task type "
                f"{opened.processor.name!r}; name another model"
            )
        if self.method == TRAINED and self._task is None:
            raise KerasBertError(
                f"expected the folder of a sentence encoder to train, such as mini-en, received the file {opened.name}; name a folder, or "
                f"another {argument('method')}"
            )
        return opened

    def _converted(self, task: "SentenceEncoder", name: str) -> Pipeline:
        from kerasbert.export.conversion import convert

        lengths = [*(length for length in _LENGTHS if length < task.sequence_length), task.sequence_length]
        file = convert(task, "dynamic_wi8_afp32", length=lengths)
        return open(file.save(Path(self._folder) / name), threads=self._threads)

    def _trained(
        self, source: "SentenceEncoder", texts: list[str], classes: np.ndarray, count: int
    ) -> tuple[Choice, Pipeline]:
        """Train a copy of the encoder, so that another `fit` begins where this one did."""
        from kerasbert.few_shot.training import train

        task = source.with_sequence_length(source.sequence_length)  # a copy, with the ranges of a quantized one
        chosen = train(task, texts, classes, count)
        return chosen, self._converted(task, f"trained-{task.fingerprint()}.tflite")

    def _checked(self, x: Any, y: Any) -> tuple[list[str], list[str]]:
        table = x if isinstance(x, Dataset) else None
        y = labels_of(x, y)
        texts = self._encoder.processor.examples(examples_of(x))
        if texts and isinstance(texts[0], tuple):
            raise KerasBertError("expected single texts to teach, received pairs; pass one text for each label")
        labels = [] if y is None else to_list(y, "a label for each text")
        if len(labels) != len(texts):
            received = "none" if y is None else f"{len(labels):,}"
            raise KerasBertError(
                f"expected a label for each of the {len(texts):,} texts, received {received}; pass one each"
            )
        if (missing := next((row for row, label in enumerate(labels) if label is None), None)) is not None:
            raise KerasBertError(f"row {missing}: expected a label, received None; name it, or leave the text out")
        labels = [str(label) for label in labels]
        found = find_duplicates(table if table is not None else Dataset(Path("the texts"), texts, labels))
        if found.contradicting:
            first, second = found.contradicting[0]
            lines = "lines" if table is not None and table.lines else "rows"
            raise KerasBertError(
                f"expected one label for a text, received two for {len(found.contradicting):,} of them, such as in {lines} {first} and "
                f"{second}; correct them"
            )
        return texts, labels

    def _check_fallback(self, classes: np.ndarray) -> None:
        if self.fallback is None or self.fallback_below is not None or np.bincount(classes).max() > 1:
            return
        raise KerasBertError(
            "expected two examples of a class or more to choose the probability of the fallback, received one of each; add some, "
            f"or name {argument('fallback_below')}"
        )

    def _fallback_below(self, chosen: Choice, outside: np.ndarray | None) -> float | None:
        """The probability below which a text gets the fallback. `outside`: vectors of rows with its label."""
        held_out, truth = chosen.held_out, chosen.held_out_classes
        if self.fallback is None or self.fallback_below is not None or held_out is None or truth is None:
            return self.fallback_below  # a class with two examples is checked before
        others = None if outside is None else chosen.linear.probabilities(outside)
        return threshold_of(held_out, truth, others, self.keep)

    def _result(self) -> tuple[Taught, Pipeline]:
        if self._fitted is None:
            raise KerasBertError("expected labels that were taught, received none; call fit(texts, labels) first")
        return self._fitted
