"""A task to a `.tflite` file."""

import os
from dataclasses import dataclass
from pathlib import Path

from kerasbert import __version__
from kerasbert.errors import KerasBertError
from kerasbert.export import metadata as packed
from kerasbert.export.metadata import Metadata
from kerasbert.export.recipes import Recipe, recipe_named
from kerasbert.export.targets import target_named
from kerasbert.files import atomic_file


@dataclass(frozen=True)
class TFLiteModel:
    """A file's bytes, metadata packed behind them."""

    content: bytes
    metadata: Metadata

    def save(self, path: str | os.PathLike) -> Path:
        """Writes the file, then its card beside it as `<stem>.json`; each whole or not at all."""
        path = Path(path)
        with atomic_file(path) as partial:
            partial.write_bytes(self.content)
        packed.write_sidecar(path, self.metadata)
        return path


def convert(
    task, recipe: str | None = None, target: str = "cpu", length: int | str | None = None, calibration=None
) -> TFLiteModel:
    """Converts a task.

    recipe: `float32`, `float16`, `dynamic_wi8_afp32` or `static_wi8_ai8`; by default the target's. target: who will run it.
    length: tokens in the file's inputs, by default the task's `sequence_length`; "resizable" leaves it to the caller of the file.
    calibration: texts that give the ranges of a static file to a task that was not quantized while training; a task from
    `compression.quantize` brings its own.

    Raises KerasBertError for an unknown recipe or target, a length that the model does not have, and a static recipe without ranges.
    """
    from kerasbert.export.trace import export_twin, float_model

    target, recipe = target_named(target), recipe_named(recipe or target_named(target).default_recipe)
    length = _length(length, task)
    task = _prepared(task, recipe, calibration)
    twin = export_twin(task)
    content = float_model(twin, target, length, half=recipe.name == "float16")
    if recipe.kernels.startswith("int8"):
        content = _quantized(content, task, twin, recipe)
    card = _metadata(task, recipe, target.name, length)
    return TFLiteModel(packed.append(content, card), card)


def _length(length, task) -> int | None:
    longest = task.config.longest
    if length == "resizable":
        return None
    if length is None:
        return task.sequence_length
    if not isinstance(length, int) or not 3 <= length <= longest:
        raise KerasBertError(f"expected a length from 3 to {longest} tokens, or 'resizable', received {length!r}")
    return length


def _prepared(task, recipe: Recipe, calibration):
    """The task under the policy that the recipe stores."""
    from kerasbert.compression import POLICIES, quantize

    trained_for = task.policy.recipe if task.policy else None
    if trained_for == recipe.name or not recipe.kernels.startswith("int8"):
        return task
    if trained_for is not None:
        raise KerasBertError(
            f"expected the recipe {trained_for!r}, which this model was quantized for, received {recipe.name!r}"
        )
    if recipe.trained and calibration is None:
        raise KerasBertError(
            f"expected a model with activation ranges for {recipe.name!r}, received one without. Quantize it first (kerasbert quantize), "
            "or pass calibration texts"
        )
    return quantize(task, POLICIES[recipe.name], calibration=calibration)


def _quantized(content: bytes, task, twin, recipe: Recipe) -> bytes:
    from kerasbert.encoders.base import sublayers
    from kerasbert.export.quantize_file import dense_plans, quantize_file
    from kerasbert.layers.embeddings import EmbeddingTable

    pairs = zip(sublayers(twin, EmbeddingTable), sublayers(task, EmbeddingTable), strict=True)
    tables = [stored.table.numpy() for stored, trained in pairs if trained.quantized]
    return quantize_file(content, dense_plans(task, twin, static=recipe.trained), tables)


def _metadata(task, recipe: Recipe, target: str, length: int | None) -> Metadata:
    tokenizer = dict(task.tokenizer.get_config()) if task.has_tokenizer else {}
    vocabulary = tokenizer.pop("vocabulary", None)
    longest = task.config.longest  # a resizable file tells nowhere else where its position table ends
    tokenizer["model_max_length"] = min(tokenizer.get("model_max_length") or longest, longest)
    return Metadata(
        task=type(task).__name__,
        problem=task.problem,
        sequence_length=length,
        recipe=recipe.name,
        target=target,
        parameters=sum(int(variable.shape.num_elements()) for variable in task.variables_by_path().values()),
        weights=task.fingerprint(),
        vocab_size=task.config.vocab_size,
        tokenizer=tokenizer,
        kerasbert=__version__,
        vocabulary=tuple(vocabulary) if vocabulary else None,
        labels=task.labels,
    )
