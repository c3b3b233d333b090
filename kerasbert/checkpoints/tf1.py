"""Google's TensorFlow 1 checkpoints of BERT, ALBERT and MobileBERT, read under Hugging Face's names.

A folder holds `bert_config.json` (or `albert_config.json`, ...) and `bert_model.ckpt.index` with its `.data-*` files. Sources of names and
defaults: `modeling.py`, `run_pretraining.py`, `run_classifier.py` and `run_squad.py` of google-research/bert, google-research/albert and
google-research/google-research/mobilebert. Source of Hugging Face's names: transformers' conversion scripts for the three.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.checkpoints.messages import first_three, mismatch, one_line, short_repr
from kerasbert.checkpoints.tensorflow_names import MODEL_TYPES, hugging_face_tensor, is_training_state
from kerasbert.errors import KerasBertError

_KNOWN_PREFIXES = ("bert_model.ckpt", "model.ckpt-best", "mobilebert_variables.ckpt")
# Other libraries' files that match _CONFIG_PATTERNS.
_OTHER_CONFIGS = {
    *("adapter_config.json", "generation_config.json", "preprocessor_config.json", "processor_config.json"),
    *("sentence_bert_config.json", "tokenizer_config.json"),
}
# MobileBERT's repository names its configs by their sizes, such as uncased_L-24_H-128_B-512_A-4_F-4_OPT.json.
_CONFIG_PATTERNS = ("*_config.json", "*cased_L-*.json")
_COMMON_DEFAULTS = {
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 512,
    "type_vocab_size": 16,
    "initializer_range": 0.02,
    "layer_norm_eps": 1e-12,  # tf.contrib.layers.layer_norm
    "pad_token_id": 0,
}
_ALBERT_DEFAULTS = {
    "embedding_size": 128,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "type_vocab_size": 2,
    "inner_group_num": 1,
    "num_hidden_groups": 1,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
_MOBILEBERT_DEFAULTS = {  # Google's; Hugging Face's are those of the published model
    "trigram_input": False,
    "use_bottleneck": False,
    "use_bottleneck_attention": False,
    "key_query_shared_bottleneck": False,
    "num_feedforward_networks": 1,
    "normalization_type": "layer_norm",
    "classifier_activation": True,
}


def find_config(folder: str | os.PathLike) -> Path | None:
    """Return the path of Google's config in a folder, or None where there is none.

    Raises:
        KerasBertError: when there are several.
    """
    folder = Path(folder)
    matches = sorted({path for pattern in _CONFIG_PATTERNS for path in folder.glob(pattern)})
    configs = [path for path in matches if path.name not in _OTHER_CONFIGS]
    if len(configs) > 1:
        raise mismatch(folder, "one *_config.json", first_three(path.name for path in configs), "leave the one to read")
    return configs[0] if configs else None


def find_checkpoint(folder: str | os.PathLike) -> Path | None:
    """Return the path prefix of a folder's checkpoint files, such as `bert_model.ckpt`, or None where there are none.

    Raises:
        KerasBertError: when there are several checkpoints, and none has one of Google's names.
    """
    folder = Path(folder)
    candidates = sorted(path.with_suffix("") for path in folder.glob("*.index"))
    prefixes = [prefix for prefix in candidates if any(folder.glob(f"{_escape_glob(prefix.name)}.data-*-of-*"))]
    known = [prefix for name in _KNOWN_PREFIXES for prefix in prefixes if prefix.name == name]
    if len(prefixes) > 1 and not known:
        advice = f"leave the one to read, or name it {_KNOWN_PREFIXES[0]}"
        raise mismatch(folder, "one TensorFlow checkpoint", first_three(path.name for path in prefixes), advice)
    return (known or prefixes or [None])[0]


def convert_config(config: dict[str, Any]) -> dict[str, Any]:
    """Convert Google's config to Hugging Face's keys, with Google's defaults filled in. Keys that only Google has stay.

    The keys determine the model type: only MobileBERT has trigram inputs and bottlenecks, only ALBERT has groups and a smaller
    embedding. BERT's "gelu" stays the exact one, as in its first release and in transformers' conversion. ALBERT's and MobileBERT's
    is the tanh approximation, "gelu_new".
    """
    if {"trigram_input", "use_bottleneck", "intra_bottleneck_size"} & config.keys():
        return _mobilebert_config(config)
    if {"num_hidden_groups", "inner_group_num", "embedding_size"} & config.keys():
        defaults = {**_COMMON_DEFAULTS, **_ALBERT_DEFAULTS}
        return _tanh_gelu({**defaults, **config, "model_type": "albert", "architectures": ["AlbertForPreTraining"]})
    return {**_COMMON_DEFAULTS, **config, "model_type": "bert", "architectures": ["BertForPreTraining"]}


def read_tensors(folder: str | os.PathLike, model_type: str) -> dict[str, np.ndarray]:
    """Read every tensor of a folder's checkpoint.

    The training state, `global_step` and the optimizer's slots, is skipped. A tensor with an unknown name keeps it, so that a load
    report shows it as unused.

    Args:
        folder: the checkpoint folder.
        model_type: "bert", "albert" or "mobilebert", as in the result of `convert_config`.

    Returns:
        Arrays by Hugging Face's names, in PyTorch's layout: Dense kernels are `(out, in)`.

    Raises:
        KerasBertError: when the checkpoint is missing or damaged, or two tensors have the same name at Hugging Face.
    """
    prefix = find_checkpoint(folder)
    if prefix is None:
        raise mismatch(folder, f"{_KNOWN_PREFIXES[0]}.index and its .data file", "none", "is this a checkpoint folder?")
    if model_type not in MODEL_TYPES:
        raise mismatch(
            prefix,
            f"a model_type of {', '.join(MODEL_TYPES)}",
            short_repr(model_type),
            "check the model_type in the config",
        )
    tensors: dict[str, np.ndarray] = {}
    source_of: dict[str, str] = {}  # Hugging Face's name -> TensorFlow's
    for name, array in _read(prefix):
        target, transpose = hugging_face_tensor(name, model_type) or (name, False)
        if target in tensors:
            raise mismatch(
                prefix,
                f"one tensor for {target}",
                f"{short_repr(source_of[target])} and {short_repr(name)}",
                "the checkpoint is not supported",
            )
        tensors[target] = array.T if transpose and array.ndim == 2 else array
        source_of[target] = name
    return tensors


def _read(prefix: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Names and arrays without the training state; floating-point ones as float32."""
    import tensorflow as tf

    try:
        reader = tf.train.load_checkpoint(str(prefix))
        shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
        _check_size(prefix, shapes, dtypes)
        for name in sorted(shapes):
            if not is_training_state(name):
                array = np.asarray(reader.get_tensor(name))
                floating = dtypes[name].is_floating
                yield name, array.astype(np.float32, copy=False) if floating else array
    except KerasBertError:
        raise
    except Exception as error:  # TensorFlow raises many classes for a damaged file, IndexError among them
        raise mismatch(
            prefix, "a TensorFlow checkpoint", one_line(error), "check that the download is complete"
        ) from error


def _check_size(prefix: Path, shapes: Mapping[str, Any], dtypes: Mapping[str, Any]) -> None:
    """TensorFlow allocates the sizes in the index before it reads the data."""
    expected = sum(int(np.prod(shape, dtype=object)) * dtypes[name].size for name, shape in shapes.items())
    received = sum(path.stat().st_size for path in prefix.parent.glob(f"{_escape_glob(prefix.name)}.data-*-of-*"))
    if expected > received:
        raise mismatch(prefix, f"{expected} bytes of data", str(received), "the .data file is truncated")


def _escape_glob(name: str) -> str:
    """Escape the wildcards of a glob pattern."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _mobilebert_config(config: dict[str, Any]) -> dict[str, Any]:
    explicit = {name: value for name, value in config.items() if value is not None}
    hidden_size = explicit.get("hidden_size")
    sizes = {"embedding_size": hidden_size, "intra_bottleneck_size": hidden_size}
    converted = {**_COMMON_DEFAULTS, **_MOBILEBERT_DEFAULTS, **sizes, **explicit}
    if converted["normalization_type"] == "manual_layer_norm":
        converted |= {"normalization_type": "layer_norm", "layer_norm_eps": 1e-6}
    return _tanh_gelu({**converted, "model_type": "mobilebert", "architectures": ["MobileBertForPreTraining"]})


def _tanh_gelu(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "hidden_act": "gelu_new" if config["hidden_act"] == "gelu" else config["hidden_act"]}
