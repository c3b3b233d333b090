"""LoRA folders of PEFT, merged into the weights of their base model.

A folder holds `adapter_config.json` and `adapter_model.safetensors` or `.bin`, with the factors of the changed layers and the whole tensors
of new heads. Source of names and scales: PEFT 0.21 (`tuners/lora`).
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kerasbert.checkpoints import pytorch_file, safetensors_file
from kerasbert.checkpoints.messages import display_name, first_three, mismatch, short_repr
from kerasbert.checkpoints.name_tables import ARCHITECTURES
from kerasbert.files.json_text import read_json_object
from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.record import Record
from kerasbert.model_names import shipped_model

ADAPTER_FILE = "adapter_config.json"
_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
_PREFIX = "base_model.model."
_PLAIN = re.compile(r"[\w.]{1,200}", re.ASCII)
_ENDINGS = {
    "SEQ_CLS": "ForSequenceClassification",
    "TOKEN_CLS": "ForTokenClassification",
    "QUESTION_ANS": "ForQuestionAnswering",
    "FEATURE_EXTRACTION": "Model",
}
_LABEL_KEYS = ("id2label", "label2id", "problem_type", "num_labels")
_NO = (False, None)
_OTHERS = KnownKeys(
    harmless=frozenset(
        """
        auto_mapping bias ensure_weight_tying eva_config exclude_modules inference_mode layers_pattern layers_to_transform lora_dropout
        megatron_core modules_to_save peft_version qalora_group_size r rank_pattern revision runtime_config target_modules
        """.split()
    ),
    only={
        "peft_type": ("LORA",),
        "task_type": (*_ENDINGS, None),
        # Other ways to begin change the base model's weights too.
        "init_lora_weights": (True, False, "gaussian", "orthogonal", "eva"),
        "loftq_config": ({}, None),
        **dict.fromkeys(("fan_in_fan_out", "lora_bias", "use_bdlora", "use_dora", "use_qalora"), _NO),
        **dict.fromkeys(
            """
            alora_invocation_tokens arrow_config corda_config kasa_config layer_replication lora_ga_config megatron_config
            monteclora_config target_parameters trainable_token_indices velora_config
            """.split(),
            (None,),
        ),
    },
)


@dataclass(frozen=True)
class _Settings(Record):
    """The settings of adapter_config.json that change the merged weights."""

    others: ClassVar[KnownKeys | None] = _OTHERS
    advice: ClassVar[str] = "correct it, or merge it with PEFT's merge_and_unload first"

    base_model_name_or_path: object = None
    lora_alpha: float | None = None
    alpha_pattern: dict[str, float] | None = None
    use_rslora: bool | None = None

    def check(self) -> None:
        plain = all(map(_PLAIN.fullmatch, self.alpha_pattern or ()))
        self.expect(plain, "alpha_pattern", "with names without wildcards")

    def alpha(self, module: str) -> float | None:
        """Return a layer's `lora_alpha`: the first pattern that is the end of its name decides."""
        patterns = self.alpha_pattern or {}
        found = (value for name, value in patterns.items() if f".{module}".endswith(f".{name}"))
        return next(found, self.lora_alpha)


def is_adapter(folder: str | os.PathLike) -> bool:
    """Return True if a folder holds an adapter of PEFT, which needs a base model."""
    return Path(folder, ADAPTER_FILE).is_file()


def base_folder(folder: str | os.PathLike, base: str | os.PathLike | None = None) -> Path:
    """Return the folder of an adapter's base model.

    Args:
        folder: The adapter's folder.
        base: The base model's folder, or a name in the zoo; by default the one that `adapter_config.json` names.

    Raises:
        KerasBertError: When there is no such folder, or the file is damaged.
    """
    folder = Path(folder)
    name = base if base is not None else _read_settings(folder).get("base_model_name_or_path")
    if isinstance(name, str | os.PathLike) and os.fspath(name) and "\0" not in os.fspath(name):
        text = os.path.expanduser(os.fspath(name))
        for path in (Path(text), folder / text, folder.parent / text, shipped_model(text)):
            if path is not None and path.is_dir() and path.resolve() != folder.resolve():
                return path
    expected = "the folder of the base model that this adapter of PEFT changes"
    advice = "pass base=, or write the folder into base_model_name_or_path"
    raise mismatch(folder / ADAPTER_FILE, expected, f"{short_repr(name)}, which is no folder here", advice)


def adapted_config(base: Mapping[str, Any], folder: str | os.PathLike) -> dict[str, Any]:
    """Return the config of a base model with an adapter: the class is that of the adapter's task, if it names one.

    Args:
        base: The base model's config.
        folder: The adapter's folder.

    Raises:
        KerasBertError: When the adapter is of another kind than LoRA, or has settings that are not supported.
    """
    path = Path(folder, ADAPTER_FILE)
    settings = _read_settings(Path(folder))
    _Settings.from_dict({"peft_type": None, **settings}, path)
    ending = _ENDINGS.get(str(settings.get("task_type")))
    if ending is None:
        return dict(base)
    name = f"{str(base['model_type']).capitalize()}{ending}"
    if [str(each).lower() for each in base.get("architectures") or ()] == [name.lower()]:
        return dict(base)
    return {**{key: value for key, value in base.items() if key not in _LABEL_KEYS}, "architectures": [name]}


def adapted_tensors(
    base: Mapping[str, np.ndarray], folder: str | os.PathLike, model_type: str
) -> dict[str, np.ndarray]:
    """Return the tensors of a base model, changed by an adapter.

    Args:
        base: The base model's tensors by name.
        folder: The adapter's folder, whose config was checked by `adapted_config`.
        model_type: The base model's type.

    Raises:
        KerasBertError: When the adapter has tensors that are unknown, or do not fit the base model.
    """
    folder = Path(folder)
    settings = _Settings.from_dict(_read_settings(folder), folder / ADAPTER_FILE)
    path, tensors = _read_weights(folder)
    merged, prefix = dict(base), ARCHITECTURES[model_type].prefix
    factors: dict[str, dict[str, np.ndarray]] = {}
    for source, tensor in tensors.items():
        if ".original_module." in source:  # what a saved module replaces
            continue
        name = source.removeprefix(_PREFIX).replace(".base_layer.", ".").replace(".modules_to_save.", ".")
        module, _, factor = name.rpartition(".lora_")
        if not module and "lora_" not in name:
            merged[_known_name(name, base, prefix)] = tensor
        elif factor in ("A.weight", "B.weight"):
            factors.setdefault(module, {})[factor[0]] = tensor
        else:
            raise mismatch(path, "factors of Dense layers", display_name(source), "merge it with PEFT first")
    for module, pair in factors.items():
        kernel = _known_name(f"{module}.weight", base, prefix)
        change = _change(path, module, pair, settings)
        if kernel not in base or base[kernel].shape != change.shape:
            received = f"shape {base[kernel].shape}" if kernel in base else "none"
            expected = f"{display_name(kernel)} of shape {change.shape} in the base model"
            raise mismatch(path, expected, received, "is this its base model?")
        merged[kernel] = (base[kernel].astype(np.float64) + change).astype(np.float32)
    return merged


def _change(path: Path, module: str, pair: Mapping[str, np.ndarray], settings: _Settings) -> np.ndarray:
    """Return what the factors add to a kernel, `(out, in)`."""
    down, up = pair.get("A"), pair.get("B")
    if down is None or up is None or down.ndim != 2 or up.ndim != 2 or down.shape[0] != up.shape[1] or not len(down):
        received = ", ".join(f"{name} {factor.shape}" for name, factor in sorted(pair.items()))
        raise mismatch(path, f"two factors that fit, of {display_name(module)}", received, "get the adapter again")
    rank = down.shape[0]
    alpha = settings.alpha(module)
    if alpha is None:
        raise mismatch(path.with_name(ADAPTER_FILE), "lora_alpha", "none", "add it")
    scale = alpha / (rank**0.5 if settings.use_rslora else rank)
    return scale * (up.astype(np.float64) @ down.astype(np.float64))


def _known_name(name: str, base: Mapping[str, Any], prefix: str) -> str:
    """Return the name under which the base model has a tensor: it may have no head, and no prefix then."""
    candidates = (name, name.removeprefix(prefix), prefix + name)
    return next((each for each in candidates if each in base), name)


def _read_settings(folder: Path) -> dict[str, Any]:
    return read_json_object(folder / ADAPTER_FILE)


def _read_weights(folder: Path) -> tuple[Path, dict[str, np.ndarray]]:
    for name, reader in zip(_WEIGHTS, (safetensors_file, pytorch_file), strict=True):
        if (folder / name).is_file():
            return folder / name, reader.read_file(folder / name)
    raise mismatch(folder, f"{' or '.join(_WEIGHTS)} in it", first_three(sorted(os.listdir(folder))), "get it again")
