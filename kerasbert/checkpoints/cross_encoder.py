"""Cross-encoders of sentence-transformers: classifiers of pairs, with one output for the relevance, and an activation on it.

With one label and no `problem_type`, `CrossEncoder` and the pipelines of transformers (4.44 and 5.24) apply a sigmoid by default.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerasbert.checkpoints import sentence_keys
from kerasbert.checkpoints.hugging_face import CONFIG_FILE, label_names
from kerasbert.checkpoints.messages import mismatch, short_repr
from kerasbert.checkpoints.sentence_modules import MODULES_FILE, read_modules, root_folder
from kerasbert.checkpoints.sentence_transformers import MODEL_CONFIG, read_length
from kerasbert.files.json_text import read_json_object
from kerasbert.files.known_keys import KnownKeys

# Hugging Face's `problem_type` -> `problem=`
HUB_PROBLEMS = {
    "single_label_classification": "single_label",
    "multi_label_classification": "multi_label",
    "regression": "regression",
}
ENTRY, OLD_ENTRY = (
    "sentence_transformers",
    "sbert_ce_default_activation_function",
)  # of a config.json: since 4.0, and before
_CLASS = "CrossEncoder"
_ENTRY_KEYS = KnownKeys(used=frozenset({"activation_fn"}), harmless=frozenset({"version"}))
# `activation=` by the paths that sentence-transformers writes. Version 2 wrote some without the module.
_ACTIVATIONS = {
    "torch.nn.modules.activation.Sigmoid": "sigmoid",
    "torch.nn.Sigmoid": "sigmoid",
    "torch.nn.modules.linear.Identity": "identity",
    "torch.nn.Identity": "identity",
}
_PATHS = {name: path for path, name in reversed(_ACTIVATIONS.items())}


def problem_of(config: Mapping[str, Any]) -> str | None:
    """Return the problem of a classifier by its `config.json`: the one that it names, `regression` for one label, or None."""
    named = HUB_PROBLEMS.get(str(config.get("problem_type")))
    return "regression" if _labels(config) == 1 and named != "single_label" else named


def read_classifier(config: Mapping[str, Any], folder: Path, longest: int) -> dict[str, Any]:
    """Return the arguments of a classifier that the files of a cross-encoder define; of another classifier only its problem.

    Args:
        config: The content of `config.json`.
        folder: The folder.
        longest: The number of tokens that the encoder accepts.

    Raises:
        KerasBertError: When a file is damaged, or the model has modules or an activation that are not supported.
    """
    problem = problem_of(config)
    settings: dict[str, Any] = {} if problem is None else {"problem": problem}
    source, path = _activation_path(config, folder)
    is_single = problem == "regression"
    if source is None and not (is_single and config.get("problem_type") != "regression"):
        return settings
    settings |= read_length(folder, longest, is_complete=True, kind=sentence_keys.CrossEncoderTransformer)
    activation = _ACTIVATIONS.get(str(path)) if path is not None else "sigmoid" if is_single else "identity"
    if activation is None:
        expected = f"an activation of {' or '.join(_PATHS.values())}"
        raise mismatch(source, expected, short_repr(path), "load another model")
    if is_single:
        return {**settings, "activation": activation}
    if activation == "sigmoid" and problem is None:
        settings["problem"] = "multi_label"
    elif activation == "sigmoid" and problem == "single_label":
        raise mismatch(source, "no sigmoid for classes that exclude each other", short_repr(path), "load another model")
    return settings


def classifier_entries(problem: str, activation: str) -> dict[str, Any]:
    """Return the entries of a classifier's `config.json`, so that both libraries compute its outputs.

    Args:
        problem: The problem, as a classifier names it.
        activation: The activation of the score of a regression.
    """
    names = {name: hub for hub, name in HUB_PROBLEMS.items()}
    if problem != "regression":
        return {"problem_type": names[problem]}
    # transformers' pipelines apply no activation to a problem that is named regression.
    named = {} if activation == "sigmoid" else {"problem_type": names[problem]}
    return {**named, ENTRY: {"activation_fn": _PATHS[activation]}}


def _labels(config: Mapping[str, Any]) -> int | None:
    return len(label_names(config)) or config.get("num_labels")


def _activation_path(config: Mapping[str, Any], folder: Path) -> tuple[Path | None, Any]:
    """Return the file that makes a model a cross-encoder, and the path of its activation; None for each that is not there."""
    root = root_folder(folder)
    model = root / MODEL_CONFIG
    content = read_json_object(model) if model.is_file() else {}
    if content.get("model_type") == _CLASS:
        sentence_keys.CROSS_ENCODER.check(content, model)
        kinds = [module.kind for module in read_modules(root) or ()]
        if kinds not in ([], ["Transformer"]):
            raise mismatch(
                root / MODULES_FILE, "the module Transformer alone", ", ".join(kinds)[:100], "load another model"
            )
        if content.get("activation_fn") is not None:
            return model, content["activation_fn"]
    where = folder / CONFIG_FILE
    entry = config.get(ENTRY)
    if entry is not None:
        if not isinstance(entry, dict):
            raise mismatch(where, f"{ENTRY} as an object", short_repr(entry), "correct the file")
        _ENTRY_KEYS.check(entry, f"{where}: {ENTRY}")
        return where, entry.get("activation_fn")
    if config.get(OLD_ENTRY) is not None:
        return where, config[OLD_ENTRY]
    return (model, None) if content.get("model_type") == _CLASS else (None, None)
