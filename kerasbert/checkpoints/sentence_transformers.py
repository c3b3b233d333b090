"""sentence-transformers' folders: the modules behind an encoder, which are pooling, a Dense layer, and normalization."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.checkpoints import pytorch_file, safetensors_file, sentence_keys
from kerasbert.checkpoints.messages import mismatch, short_repr
from kerasbert.checkpoints.sentence_keys import POOLING_FLAGS
from kerasbert.checkpoints.sentence_modules import MODULES_FILE, Module, read_modules, root_folder
from kerasbert.console.strictness import unknown
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.processors.prompts import checked_prompts

KERNEL = "2_Dense.linear.weight"  # the tensors of the Dense module, beside those of the encoder
BIAS = "2_Dense.linear.bias"
MODEL_CONFIG = "config_sentence_transformers.json"
TRANSFORMER_CONFIG = "sentence_bert_config.json"
# Versions before 0.4 named the file after the architecture.
_TRANSFORMER_CONFIGS = (
    TRANSFORMER_CONFIG,
    *(f"sentence_{name}_config.json" for name in ("roberta", "distilbert", "camembert", "albert", "xlm-roberta")),
)
_POOLING_FOLDER, _DENSE_FOLDER = "1_Pooling", "2_Dense"
_CONFIG_FILE, _TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
_KINDS = ("Transformer", "Pooling", "Dense", "Normalize")  # in the order in which a model may have them
_ADVICE = "load another model"


def read_settings(folder: Path, hidden_size: object, longest: int) -> dict[str, Any]:
    """Return the arguments of a sentence encoder that the folder's files define.

    Args:
        folder: The folder of the encoder in a sentence-transformers model, or one without any of its files.
        hidden_size: The width of the encoder.
        longest: The number of tokens that the encoder accepts.

    Raises:
        KerasBertError: When a file is damaged, or the model has modules or settings that are not supported.
    """
    root = root_folder(folder)
    modules = read_modules(root)
    if modules is None:
        pooling = root / _POOLING_FOLDER / _CONFIG_FILE
        return (_read_pooling(pooling) if pooling.is_file() else {}) | read_length(folder, longest, is_complete=False)
    by_kind = _by_kind(modules, root / MODULES_FILE)
    if (place := by_kind.get("Normalize")) is not None and (place / _CONFIG_FILE).is_file():
        sentence_keys.NORMALIZE.check(read_json_object(place / _CONFIG_FILE), place / _CONFIG_FILE)
    settings = {"normalize": "Normalize" in by_kind, **_read_pooling(by_kind["Pooling"] / _CONFIG_FILE)}
    if "Dense" in by_kind:
        settings |= _read_dense(by_kind["Dense"] / _CONFIG_FILE, hidden_size)
    settings |= _read_model(root / MODEL_CONFIG, is_normalized=settings["normalize"])
    return settings | read_length(folder, longest, is_complete=True)


def write_prompts(folder: Path, prompts: Mapping[str, str], default_prompt_name: str | None) -> None:
    """Write the file with the prompts of a model.

    Args:
        folder: The folder of the encoder.
        prompts: Texts by name.
        default_prompt_name: The name of the default prompt, or None.
    """
    _write(folder / MODEL_CONFIG, {"prompts": dict(prompts), "default_prompt_name": default_prompt_name})


def lowercases(folder: Path) -> bool:
    """Return True if texts are lowercased before the tokenizer sees them.

    Args:
        folder: The folder of the encoder.

    Raises:
        KerasBertError: When the file is damaged.
    """
    path, config = _read_transformer_config(folder)
    value = config.get("do_lower_case") or False
    if not isinstance(value, bool):
        raise mismatch(path, "do_lower_case as true or false", short_repr(value), "correct the file")
    return value


def read_dense_tensors(folder: Path) -> dict[str, np.ndarray]:
    """Return the tensors of the model's Dense module under names that begin with `2_Dense.`; none without exactly one such module.

    Raises:
        KerasBertError: When a file is missing or damaged, or has other tensors than the module.
    """
    dense = [module.folder for module in read_modules(root_folder(folder)) or () if module.kind == "Dense"]
    if len(dense) != 1:
        return {}
    for reader in (safetensors_file, pytorch_file):
        if (dense[0] / reader.WEIGHTS_FILE).is_file():
            tensors = {f"{_DENSE_FOLDER}.{name}": values for name, values in reader.read_tensors(dense[0]).items()}
            _check_names(tensors, dense[0])
            return tensors
    files = f"{safetensors_file.WEIGHTS_FILE} or {pytorch_file.WEIGHTS_FILE}"
    raise mismatch(dense[0], f"{files} in it", "neither", "is the folder complete?")


def write_modules(
    folder: Path,
    hidden_size: int,
    sequence_length: int,
    *,
    pooling: str,
    normalize: bool,
    dimensions: int | None = None,
    projection_bias: bool = False,
    projection_activation: str = "identity",
) -> None:
    """Write the files that describe the modules, in a form that all versions of sentence-transformers since 2.0 read.

    Args:
        folder: The folder of the encoder.
        hidden_size: The width of the encoder.
        sequence_length: Tokens in the longest row.
        pooling: A name among `POOLING_FLAGS`.
        normalize: Whether vectors are normalized.
        dimensions: The width of the Dense module; None without one.
        projection_bias: Whether the Dense module has a bias.
        projection_activation: The activation of the Dense module, `identity` or `tanh`.
    """
    kinds = ["Transformer", "Pooling", *["Dense"] * (dimensions is not None), *["Normalize"] * normalize]
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    _write(folder / MODULES_FILE, modules)
    modes = {flag: name == pooling for name, flag in POOLING_FLAGS.items() if name in ("mean", "cls", "max", pooling)}
    _write(folder / _POOLING_FOLDER / _CONFIG_FILE, {"word_embedding_dimension": hidden_size, **modes})
    if dimensions is not None:
        paths = {name: path for path, name in sentence_keys.ACTIVATIONS.items()}
        sizes = {"in_features": hidden_size, "out_features": dimensions}
        options = {"bias": projection_bias, "activation_function": paths[projection_activation]}
        _write(folder / _DENSE_FOLDER / _CONFIG_FILE, {**sizes, **options})
    _write(folder / TRANSFORMER_CONFIG, {"max_seq_length": sequence_length, "do_lower_case": False})


def write_dense_tensors(folder: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write the tensors of the Dense module, under names as `read_dense_tensors` returns them.

    Raises:
        KerasBertError: When the file cannot be written.
    """
    path = folder / _DENSE_FOLDER / safetensors_file.WEIGHTS_FILE
    path.parent.mkdir(exist_ok=True)
    safetensors_file.write_tensors(
        path, {name.removeprefix(f"{_DENSE_FOLDER}."): values for name, values in tensors.items()}
    )


def _by_kind(modules: list[Module], path: Path) -> dict[str, Path]:
    """Return the folder of each kind of module, once the chain of modules is checked. Dropout does nothing in a trained model."""
    kinds = [module.kind for module in modules if module.kind != "Dropout"]
    unknown = next((kind for kind in kinds if kind not in _KINDS), None)
    if unknown is not None:
        expected = f"modules among {', '.join(_KINDS)} and Dropout"
        raise mismatch(path, expected, f"{short_repr(unknown)}, which is not supported", _ADVICE)
    if kinds != [kind for kind in _KINDS if kind in kinds] or kinds[:2] != ["Transformer", "Pooling"]:
        expected = "the modules Transformer, Pooling, at most one Dense, and at most one Normalize, in this order"
        raise mismatch(path, expected, ", ".join(kinds)[:100], _ADVICE)
    return {module.kind: module.folder for module in modules}


def _read_pooling(path: Path) -> dict[str, Any]:
    """Return `pooling`. Flags without any true one are the mean, as in sentence-transformers since 5.4."""
    if not path.is_file():
        raise mismatch(path.parent, f"{path.name} in it", "none", "is the folder complete?")
    config = read_json_object(path)
    sentence_keys.POOLING.check(config, path, _ADVICE)
    modes = config.get("pooling_mode", [name for name, flag in POOLING_FLAGS.items() if config.get(flag)] or ["mean"])
    modes = [modes] if isinstance(modes, str) else modes
    if not isinstance(modes, list) or len(modes) != 1 or modes[0] not in tuple(POOLING_FLAGS):
        expected = f"one pooling mode of {', '.join(POOLING_FLAGS)}"
        received = " and ".join(map(str, modes))[:100] if isinstance(modes, list) and modes else short_repr(modes)
        raise mismatch(path, expected, received, _ADVICE)
    return {"pooling": modes[0]}


def _read_dense(path: Path, hidden_size: object) -> dict[str, Any]:
    """Return width, bias and activation of a Dense module."""
    if not path.is_file():
        raise mismatch(path.parent, f"{path.name} in it", "none", "is the folder complete?")
    module = sentence_keys.DenseModule.from_dict(read_json_object(path), path)
    if module.in_features != hidden_size:
        raise mismatch(path, f"in_features of {hidden_size}", str(module.in_features), "correct the file")
    activation = sentence_keys.ACTIVATIONS[module.activation_function]
    settings = {"dimensions": module.out_features, "projection_bias": module.bias, "projection_activation": activation}
    return {name: value for name, value in settings.items() if value not in (False, "identity")}


def _read_model(path: Path, is_normalized: bool) -> dict[str, Any]:
    """Return `prompts` and `default_prompt_name`, where there are any."""
    if not path.is_file():
        return {}
    model = sentence_keys.SentenceModel.from_dict(read_json_object(path), path)
    similarity = model.similarity_fn_name
    if similarity not in (None, "cosine", "cos_sim") and not (similarity == "dot" and is_normalized):
        unknown(
            path,
            "the similarity function cosine",
            f"similarity_fn_name {similarity!r:.40}; texts are compared by cosine",
        )
    prompts: Any = model.prompts or {}
    if isinstance(prompts, dict):  # null is an empty prompt
        prompts = {name: "" if text is None else text for name, text in prompts.items()}
    try:
        prompts, default = checked_prompts(prompts, model.default_prompt_name)
    except KerasBertError as error:
        raise KerasBertError(f"{path}: {error}") from None
    if not prompts or not any(prompts.values()):  # sentence-transformers writes empty prompts to every folder
        return {}
    return {"prompts": prompts} | ({"default_prompt_name": default} if default else {})


def _check_names(tensors: Mapping[str, np.ndarray], folder: Path) -> None:
    """Check that a Dense module has the tensors that its config describes."""
    has_bias = read_json_object(folder / _CONFIG_FILE).get("bias", True) is not False
    expected = {KERNEL, BIAS} if has_bias else {KERNEL}
    if tensors.keys() != expected:
        names = ", ".join(name.removeprefix(f"{_DENSE_FOLDER}.") for name in sorted(expected))
        received = ", ".join(name.removeprefix(f"{_DENSE_FOLDER}.") for name in sorted(tensors))
        raise mismatch(folder, f"the tensors {names}", received[:100] or "none", "correct its config.json")


def read_length(
    folder: Path,
    longest: int,
    is_complete: bool,
    kind: type[sentence_keys.TransformerModule] = sentence_keys.TransformerModule,
) -> dict[str, Any]:
    """Return `sequence_length` as sentence-transformers finds it: `max_seq_length`, else the tokenizer's `model_max_length`.

    Args:
        folder: The folder of the encoder.
        longest: The number of tokens that the encoder accepts.
        is_complete: Whether the folder is one of sentence-transformers. Its models take as many tokens as they can without a limit.
        kind: The config of the encoder's module.

    Raises:
        KerasBertError: When a file is damaged, or a setting is not supported.
    """
    path, config = _read_transformer_config(folder)
    limits = kind.from_dict(config, path).lengths
    if is_complete and (folder / _TOKENIZER_CONFIG).is_file():
        value = read_json_object(folder / _TOKENIZER_CONFIG).get("model_max_length")
        arguments = {"model_max_length": value}
        limits.append(
            sentence_keys.TokenizerArguments.from_dict(arguments, folder / _TOKENIZER_CONFIG).model_max_length
        )
    if (limit := next((each for each in limits if each is not None), None)) is not None:
        return {"sequence_length": int(min(limit, longest))}
    return {"sequence_length": longest} if is_complete else {}


def _read_transformer_config(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the file with the settings of the encoder's module, and its content; empty without such a file."""
    paths = [folder / name for name in _TRANSFORMER_CONFIGS]
    path = next((path for path in paths if path.is_file()), paths[0])
    return path, read_json_object(path) if path.is_file() else {}


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
