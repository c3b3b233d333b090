"""Backbones of keras-nlp (keras-hub), and the folders that its `save_to_preset` writes, as Hugging Face configs and tensors."""

import functools
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kerasbert.checkpoints.messages import first_three, mismatch, one_line, short_repr
from kerasbert.checkpoints.name_tables import ALBERT_BLOCK, BERT_BLOCK, DISTILBERT_BLOCK
from kerasbert.console.output import note
from kerasbert.errors import KerasBertError
from kerasbert.files.json_text import read_json_object
from kerasbert.optional import import_optional
from kerasbert.text.preset_tokenizer import is_keras_nlp_config

_CONFIG_FILE, _WEIGHTS_FILE, _TASK_FILE = "config.json", "model.weights.h5", "task.json"

_BLOCK = {  # names inside a keras-nlp TransformerEncoder -> ours
    "self_attention_layer/query": "attention.query",
    "self_attention_layer/key": "attention.key",
    "self_attention_layer/value": "attention.value",
    "self_attention_layer/attention_output": "attention.output_dense",
    "self_attention_layer_norm": "attention_norm",
    "feedforward_intermediate_dense": "feed_forward.intermediate",
    "feedforward_output_dense": "feed_forward.output_dense",
    "feedforward_layer_norm": "feed_forward_norm",
}
_EMBEDDINGS = {
    "token_embedding": "embeddings.word_embeddings",
    "position_embedding": "embeddings.position_embeddings",
    "segment_embedding": "embeddings.token_type_embeddings",
    "embeddings_layer_norm": "embeddings.LayerNorm",
}
_OUTSIDE_BLOCKS = {
    "bert": {**_EMBEDDINGS, "pooled_dense": "pooler.dense"},
    "albert": {
        **_EMBEDDINGS,
        "embedding_projection": "encoder.embedding_hidden_mapping_in",
        "pooled_dense": "pooler",
    },
    # Hugging Face's ELECTRA has no pooler, and keras-nlp's is untrained. Under this name, a load report lists it as unused.
    "electra": {**_EMBEDDINGS, "embeddings_projection": "embeddings_project", "pooled_dense": "pooled_dense"},
    "distilbert": {
        "token_and_position_embedding/token_embedding": "embeddings.word_embeddings",
        "token_and_position_embedding/position_embedding": "embeddings.position_embeddings",
        "embeddings_layer_norm": "embeddings.LayerNorm",
    },
    "roberta": {
        "embeddings/token_embedding": "embeddings.word_embeddings",
        "embeddings/position_embedding": "embeddings.position_embeddings",
        "embeddings_layer_norm": "embeddings.LayerNorm",
    },
}
_BLOCKS = {  # a block's path as a pattern, its name at Hugging Face, and the names inside it
    "albert": (r"group_(\d+)_inner_layer_(\d+)", r"encoder.albert_layer_groups.\1.albert_layers.\2", ALBERT_BLOCK),
    "distilbert": (r"transformer_layer_(\d+)", r"transformer.layer.\1", DISTILBERT_BLOCK),
    **dict.fromkeys(("bert", "electra", "roberta"), (r"transformer_layer_(\d+)", r"encoder.layer.\1", BERT_BLOCK)),
}
_LEAVES = {
    **{"kernel": "weight", "bias": "bias", "gamma": "weight", "beta": "bias", "embeddings": "weight"},
    "position_embeddings": "weight",
}
_MODEL_TYPES = {
    "BertBackbone": "bert",
    "AlbertBackbone": "albert",
    "DistilBertBackbone": "distilbert",
    "ElectraBackbone": "electra",
    "RobertaBackbone": "roberta",
}
_ACTIVATIONS = {"gelu": "gelu", "gelu_approximate": "gelu_new", "relu": "relu"}
# RoBERTa's positions start after its padding id, 1; keras-nlp's embedding table omits the unused first rows.
_ROBERTA_FIRST_POSITION = 2


def is_preset(folder: str | os.PathLike) -> bool:
    """Return True if keras-nlp wrote the folder: its `config.json` names a keras-nlp class, and its weights file exists."""
    folder = Path(folder)
    if not (folder / _WEIGHTS_FILE).is_file() or not (folder / _CONFIG_FILE).is_file():
        return False
    try:
        return is_keras_nlp_config(read_json_object(folder / _CONFIG_FILE))
    except KerasBertError:
        return False


def read_preset(folder: str | os.PathLike) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read the config and the tensors of the folder's backbone, without a task's head.

    Raises:
        KerasBertError: as `from_keras_nlp`.
    """
    folder = Path(folder).resolve()
    config, tensors = _read(str(folder), (folder / _WEIGHTS_FILE).stat().st_mtime_ns)
    return dict(config), dict(tensors)


@functools.lru_cache(1)  # callers ask for the config and then for the tensors
def _read(folder: str, modified_ns: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    if (Path(folder) / _TASK_FILE).is_file():
        note(f"note: {folder}: the backbone is read; the head of keras-nlp's task ({_TASK_FILE}) is not")
    return from_keras_nlp(folder)


def from_keras_nlp(backbone_or_preset: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Convert a keras-nlp backbone to Hugging Face's config and tensors.

    keras-nlp's RoBERTa has no token types and no position embeddings for padding. Both are added as zeros, as Hugging Face has them.

    Args:
        backbone_or_preset: a Bert-, Albert-, DistilBert-, Electra- or RobertaBackbone, a preset's name, or a preset's folder.

    Returns:
        The config, and float32 tensors by name; Dense kernels are `(out, in)`.

    Raises:
        KerasBertError: when keras-nlp is not installed, the preset cannot be loaded, or the backbone's class or a weight is unknown.
    """
    if isinstance(backbone_or_preset, str | os.PathLike):
        backbone_or_preset = _load_preset(os.fspath(backbone_or_preset))
    model_type = _model_type(backbone_or_preset)
    tensors = {}
    for weight in backbone_or_preset.weights:
        name = _name(weight.path, model_type)
        if name is None or name in tensors:
            raise mismatch(
                "keras-nlp backbone",
                "weights that Hugging Face's has too",
                short_repr(weight.path),
                "remove adapters and layers of your own from the backbone",
            )
        tensors[name] = _in_pytorch_layout(weight)
    config = _config(backbone_or_preset, model_type)
    if model_type == "roberta":
        _complete_roberta(config, tensors)
    return config, tensors


def _load_preset(name: str) -> Any:
    _check_sizes(Path(name))
    keras_nlp = import_optional("keras_nlp", "presets of keras-nlp")
    # Exception, because the classes of a failed download depend on the hub behind the preset.
    try:
        return keras_nlp.models.Backbone.from_preset(name)
    except Exception as error:
        advice = "without a network pass a preset's folder or a backbone"
        raise mismatch(
            f"keras-nlp preset {short_repr(name)}", "a preset that can be loaded", one_line(error), advice
        ) from error


def _check_sizes(folder: Path) -> None:
    """Check that a folder's weights file can hold the parameters of its config, before keras-nlp allocates them.

    Raises:
        KerasBertError: When the config declares more parameters than the file has bytes, or is damaged.
    """
    path, weights = folder / _CONFIG_FILE, folder / _WEIGHTS_FILE
    if not path.is_file() or not weights.is_file():
        return
    config = read_json_object(path).get("config")
    sizes = {key: value for key, value in config.items() if type(value) is int} if isinstance(config, dict) else {}
    hidden, layers = sizes.get("hidden_dim", 0), sizes.get("num_groups", sizes.get("num_layers", 0))
    rows = sizes.get("vocabulary_size", sizes.get("vocab_size", 0))
    parameters = {
        "vocabulary_size": rows * sizes.get("embedding_dim", hidden),
        "max_sequence_length": sizes.get("max_sequence_length", 0) * sizes.get("embedding_dim", hidden),
        "hidden_dim": layers * 4 * hidden**2,
        "intermediate_dim": layers * 2 * hidden * sizes.get("intermediate_dim", 0),
    }
    size = weights.stat().st_size
    largest = max(parameters, key=parameters.__getitem__)
    if sum(parameters.values()) > size:
        raise mismatch(
            f"{path}: {largest}",
            f"at most {size:,} parameters, as {weights.name} has {size:,} bytes",
            f"{sum(parameters.values()):,}",
            "copy both files of the preset again",
        )


def _model_type(backbone: Any) -> str:
    for kind in type(backbone).__mro__:
        if kind.__name__ in _MODEL_TYPES and kind.__module__.startswith(("keras_nlp.", "keras_hub.")):
            return _MODEL_TYPES[kind.__name__]
    expected = f"a keras-nlp backbone of {', '.join(_MODEL_TYPES)}, a preset's name or folder"
    raise mismatch("from_keras_nlp", expected, type(backbone).__name__, "pass one of these")


def _name(path: str, model_type: str) -> str | None:
    """A weight's name at Hugging Face, or None for an unknown path."""
    layer, _, leaf = path.rpartition("/")
    if leaf not in _LEAVES:
        return None
    if layer in _OUTSIDE_BLOCKS[model_type]:
        return f"{model_type}.{_OUTSIDE_BLOCKS[model_type][layer]}.{_LEAVES[leaf]}"
    pattern, block_name, parts = _BLOCKS[model_type]
    block, _, part = layer.partition("/")
    match = re.fullmatch(pattern, block)
    if match is None or part not in _BLOCK:
        return None
    return f"{model_type}.{match.expand(block_name)}.{parts[_BLOCK[part]]}.{_LEAVES[leaf]}"


def _in_pytorch_layout(weight: Any) -> np.ndarray:
    """Kernels (in, out) become (out, in); in attention layers, the axes of heads and head size are merged."""
    import keras

    array = np.asarray(keras.ops.convert_to_numpy(keras.ops.cast(weight, "float32")))
    layer, _, leaf = weight.path.rpartition("/")
    if leaf == "bias":
        return array.reshape(-1)
    if leaf != "kernel":
        return array
    inputs = int(np.prod(array.shape[:-1])) if layer.endswith("/attention_output") else array.shape[0]
    return np.ascontiguousarray(array.reshape(inputs, -1).T)


def _config(backbone: Any, model_type: str) -> dict[str, Any]:
    source, activation, epsilon = backbone.get_config(), *_block_settings(backbone)
    convert = _distilbert_config if model_type == "distilbert" else _bert_config
    config = convert(source, activation)
    if model_type in ("albert", "electra"):
        config["embedding_size"] = source["embedding_dim"]
    if model_type == "albert":
        config |= {"num_hidden_groups": source["num_groups"], "inner_group_num": source["num_inner_repetitions"]}
        config |= {"bos_token_id": 2, "eos_token_id": 3}
    family = type(backbone).__name__.removesuffix("Backbone")
    return {**config, "model_type": model_type, "architectures": [f"{family}Model"], "layer_norm_eps": epsilon}


def _bert_config(source: Mapping[str, Any], activation: str) -> dict[str, Any]:
    return {
        # ELECTRA's argument is called vocab_size.
        "vocab_size": source["vocabulary_size"] if "vocabulary_size" in source else source["vocab_size"],
        "hidden_size": source["hidden_dim"],
        "num_hidden_layers": source["num_layers"],
        "num_attention_heads": source["num_heads"],
        "intermediate_size": source["intermediate_dim"],
        "hidden_act": activation,
        "hidden_dropout_prob": source["dropout"],
        "attention_probs_dropout_prob": source["dropout"],
        "max_position_embeddings": source["max_sequence_length"],
        "type_vocab_size": source.get("num_segments", 1),
        "pad_token_id": 0,
    }


def _distilbert_config(source: Mapping[str, Any], activation: str) -> dict[str, Any]:
    return {
        "vocab_size": source["vocabulary_size"],
        "dim": source["hidden_dim"],
        "n_layers": source["num_layers"],
        "n_heads": source["num_heads"],
        "hidden_dim": source["intermediate_dim"],
        "activation": activation,
        "dropout": source["dropout"],
        "attention_dropout": source["dropout"],
        "max_position_embeddings": source["max_sequence_length"],
        "sinusoidal_pos_embds": False,
        "pad_token_id": 0,
    }


def _block_settings(backbone: Any) -> tuple[str, float]:
    """The blocks' activation by Hugging Face's name, and the epsilon of the layer norms."""
    groups = [item if isinstance(item, list | tuple) else [item] for item in backbone.transformer_layers]
    blocks = [block for group in groups for block in group]
    activations = {block.activation.__name__ for block in blocks}
    epsilons = {backbone.embeddings_layer_norm.epsilon, *(block.layer_norm_epsilon for block in blocks)}
    if len(activations) != 1 or not activations <= _ACTIVATIONS.keys():
        raise mismatch(
            "keras-nlp backbone",
            f"one activation of {', '.join(_ACTIVATIONS)}",
            first_three(activations),
            "take another backbone",
        )
    if len(epsilons) != 1:
        raise mismatch(
            "keras-nlp backbone",
            "one epsilon in all layer norms",
            short_repr(sorted(epsilons)),
            "take another backbone",
        )
    return _ACTIVATIONS[activations.pop()], float(epsilons.pop())


def _complete_roberta(config: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
    config |= {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    config["max_position_embeddings"] += _ROBERTA_FIRST_POSITION
    positions = tensors["roberta.embeddings.position_embeddings.weight"]
    unused = np.zeros((_ROBERTA_FIRST_POSITION, positions.shape[1]), np.float32)
    tensors["roberta.embeddings.position_embeddings.weight"] = np.concatenate([unused, positions])
    tensors["roberta.embeddings.token_type_embeddings.weight"] = np.zeros((1, positions.shape[1]), np.float32)
