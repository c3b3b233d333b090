"""Folders of TensorFlow 1 and keras-nlp for `benchmarks.parity.published_forms`, written with the packages of this environment.

The outputs of a TensorFlow 1 checkpoint are those of the PyTorch model whose weights it has, under Google's names. The outputs of a
keras-nlp preset are those of its own backbone.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

_RENAMED = {
    "cls.predictions.transform.LayerNorm": "cls.predictions.transform.LayerNorm",
    "cls.predictions.bias": "cls.predictions.output_bias",
    "cls.seq_relationship.weight": "cls.seq_relationship.output_weights",
    "cls.seq_relationship.bias": "cls.seq_relationship.output_bias",
}
_AS_STORED = ("embeddings", "output_weights", "output_bias")
_FAMILIES = {"bert": "Bert", "albert": "Albert", "distilbert": "DistilBert", "electra": "Electra", "roberta": "Roberta"}
_PRESET_SIZES = {"num_layers": 2, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 24, "max_sequence_length": 24}


def write_forms(out: Path, written: Path | None) -> list[dict[str, Any]]:
    """Write the folders.

    Args:
        out: The new folder of all forms.
        written: The forms of `published_forms_writer` with the PyTorch models; None leaves TensorFlow 1 out.

    Returns:
        The forms as in its `forms.json`.
    """
    out.mkdir()
    forms = [] if written is None else _write_tf1(out, written)
    return forms + _write_keras_nlp(out)


def _write_tf1(out: Path, written: Path) -> list[dict[str, Any]]:
    """Write Google's downloads: a checkpoint, bert_config.json and vocab.txt. BERT with and without its pretraining heads."""
    forms = []
    for name, call in {"Model": "encoder", "ForPreTraining": "pretrainer"}.items():
        source = written / f"bert {name}"
        folder = out / f"tf1 {name}"
        folder.mkdir()
        _save_checkpoint(folder / "bert_model.ckpt", _google_tensors(source))
        config = json.loads((source / "config.json").read_text())
        keys = (
            "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
            "hidden_dropout_prob", "attention_probs_dropout_prob", "max_position_embeddings", "type_vocab_size", "initializer_range",
        )  # fmt: skip
        (folder / "bert_config.json").write_text(json.dumps({key: config[key] for key in keys}))
        (folder / "vocab.txt").write_bytes((written / "vocab.txt").read_bytes())
        out.joinpath(f"{folder.name}.npz").write_bytes(written.joinpath(f"{source.name}.npz").read_bytes())
        forms.append(_form("TensorFlow 1", f"BERT checkpoint, {name}", folder, call))
    return forms


def _google_tensors(folder: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a Hugging Face folder under Google's names and in TensorFlow's layout."""
    from safetensors.numpy import load_file

    tensors = {}
    for name, values in load_file(folder / "model.safetensors").items():
        if name in ("cls.predictions.decoder.weight", "cls.predictions.decoder.bias") or name.endswith("position_ids"):
            continue
        name = _RENAMED.get(name, name)
        if not name.startswith(("bert.", "cls.")):
            name = f"bert.{name}"
        if "LayerNorm" in name:
            name = (
                name.removesuffix("weight") + "gamma" if name.endswith("weight") else name.removesuffix("bias") + "beta"
            )
        elif name.endswith("_embeddings.weight"):
            name = name.removesuffix(".weight")
        elif name.endswith(".weight") and not name.endswith(_AS_STORED):
            name, values = name.removesuffix("weight") + "kernel", values.T
        tensors[name.replace(".layer.", ".layer_").replace(".", "/")] = values
    return tensors


def _save_checkpoint(path: Path, tensors: dict[str, np.ndarray]) -> None:
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        for name, values in tensors.items():
            v1.get_variable(name, initializer=np.ascontiguousarray(values))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(path), write_meta_graph=False)


def _write_keras_nlp(out: Path) -> list[dict[str, Any]]:
    """Write preset folders of five backbones, with the outputs of the backbones."""
    try:
        import keras_nlp
    except ImportError:
        return []
    forms, draw = [], np.random.default_rng(0)
    for kind, family in _FAMILIES.items():
        sizes = {"vocab_size" if kind == "electra" else "vocabulary_size": 20}
        if kind in ("albert", "electra"):
            sizes["embedding_dim"] = 6
        backbone = getattr(keras_nlp.models, f"{family}Backbone")(**_PRESET_SIZES, **sizes)
        backbone.set_weights([draw.normal(0.1, 0.3, weights.shape) for weights in backbone.weights])
        folder = out / f"keras-nlp {kind}"
        backbone.save_to_preset(str(folder))
        _save_outputs(out / f"{folder.name}.npz", backbone, kind)
        forms.append(_form(f"keras-nlp {keras_nlp.__version__}", f"{family}Backbone preset", folder, "encoder"))
    return forms


def _save_outputs(path: Path, backbone: Any, kind: str) -> None:
    draw, real = np.random.default_rng(1), np.arange(9) < np.array([[9], [5]])
    ids = np.where(real, draw.integers(2, 20, (2, 9)), 1 if kind == "roberta" else 0)
    types = (
        np.where(real, draw.integers(0, 2, (2, 9)), 0) if kind not in ("roberta", "distilbert") else np.zeros_like(ids)
    )
    inputs = {"token_ids": ids, "padding_mask": real.astype(int), "segment_ids": types}
    known = {tensor.name for tensor in backbone.inputs}
    result = backbone({name: value for name, value in inputs.items() if name in known}, training=False)
    result = result if isinstance(result, dict) else {"sequence_output": result}
    # Hugging Face's ELECTRA has no pooler; the load report names keras-nlp's, which is untrained, as unused.
    pooled = (
        {}
        if "pooled_output" not in result or kind == "electra"
        else {"pooler_output": np.asarray(result["pooled_output"])}
    )
    packed = {"input_ids": ids, "attention_mask": real, "token_type_ids": types}
    np.savez(
        path, last_hidden_state=np.asarray(result["sequence_output"]), **pooled,
        **{f"in_{name}": np.asarray(value, np.int32) for name, value in packed.items()},
    )  # fmt: skip


def _form(library: str, name: str, folder: Path, call: str) -> dict[str, Any]:
    return {
        "form": name,
        "library": library,
        "folder": folder.name,
        "call": call,
        "refused": False,
        "refusable": False,
        "texts": [],
    }
