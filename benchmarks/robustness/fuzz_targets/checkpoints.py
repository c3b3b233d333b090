"""Readers of published checkpoints: settings of an encoder, tensors of each format, presets."""

import functools
import io
import json
import pickle
import tempfile
import zipfile
from pathlib import Path

import numpy as np

from benchmarks.robustness.fuzz_targets.samples import BERT, tensors
from benchmarks.robustness.fuzz_targets.target import Target


def _config(folder: Path) -> None:
    from kerasbert.checkpoints.hugging_face import max_sequence_length, read_config
    from kerasbert.encoders import encoder_class

    config = read_config(folder)
    max_sequence_length(config)
    encoder_class(config["model_type"]).config_class.from_dict(config)


def _weights(folder: Path) -> None:
    from kerasbert.checkpoints.readers import read_tensors

    for tensor in read_tensors(folder).values():
        np.isfinite(tensor).all()


def _google(folder: Path) -> None:
    from kerasbert.checkpoints.tf1 import read_tensors

    read_tensors(folder, "bert")


def _preset(folder: Path) -> None:
    from kerasbert.checkpoints.keras_nlp import from_keras_nlp

    from_keras_nlp(str(folder))


def _configs() -> list[dict[str, bytes]]:
    albert = {**BERT, "model_type": "albert", "embedding_size": 4, "num_hidden_groups": 1, "inner_group_num": 1}
    mobile = {
        **BERT, "model_type": "mobilebert", "embedding_size": 4, "intra_bottleneck_size": 4, "use_bottleneck": True, "trigram_input": True,
        "key_query_shared_bottleneck": True, "num_feedforward_networks": 2, "normalization_type": "no_norm", "classifier_activation": False,
    }  # fmt: skip
    distil = {
        "model_type": "distilbert", "vocab_size": 20, "dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 16, "activation": "gelu",
        "dropout": 0.1, "attention_dropout": 0.1, "max_position_embeddings": 16, "sinusoidal_pos_embds": False,
    }  # fmt: skip
    others = [
        {**BERT, "model_type": "electra", "embedding_size": 4},
        {**BERT, "model_type": "roberta", "pad_token_id": 1},
    ]
    google = {
        name: value
        for name, value in BERT.items()
        if name not in ("model_type", "architectures", "id2label", "label2id")
    }
    files = [{"config.json": json.dumps(value).encode()} for value in (BERT, albert, mobile, distil, *others)]
    return [*files, {"bert_config.json": json.dumps(google).encode()}]


def safetensors_files() -> list[dict[str, bytes]]:
    """Make a file of tensors."""
    import safetensors.numpy

    return [{"model.safetensors": safetensors.numpy.save(tensors(), {"format": "pt"})}]


def _shards() -> list[dict[str, bytes]]:
    import safetensors.numpy

    parts = {"m-1.safetensors": {"a": tensors()["a"]}, "m-2.safetensors": {"b": tensors()["b"]}}
    index = {"metadata": {"total_size": 28}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}
    files = {name: safetensors.numpy.save(part) for name, part in parts.items()}
    return [{"model.safetensors.index.json": json.dumps(index).encode(), **files}]


def _torch_description(legacy: bool) -> bytes:
    """Build the pickle of torch.save for `{"a": 2 x 3 float32, "b": 2 float16}`, instruction by instruction."""

    def text(value: str) -> bytes:
        return b"X" + len(value).to_bytes(4, "little") + value.encode()

    def tensor(key: str, kind: str, count: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
        def numbers(values):
            return b"(" + b"".join(b"K" + bytes([value]) for value in values) + b"t"

        storage = (
            b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text("cpu") + b"K" + bytes([count])
        )
        storage += (b"N" if legacy else b"") + b"tQ"
        hooks = b"ccollections\nOrderedDict\n)R"
        arguments = b"(" + storage + b"K\0" + numbers(shape) + numbers(strides) + b"\x89" + hooks + b"t"
        return b"ctorch._utils\n_rebuild_tensor_v2\n" + arguments + b"R"

    entries = (
        text("a")
        + tensor("0", "FloatStorage", 6, (2, 3), (3, 1))
        + text("b")
        + tensor("1", "HalfStorage", 2, (2,), (1,))
    )
    return b"\x80\x02}q\x00(" + entries + b"u."


def _torch_zip() -> list[dict[str, bytes]]:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("m/data.pkl", _torch_description(False))
        archive.writestr("m/byteorder", "little")
        archive.writestr("m/data/0", np.arange(6, dtype="<f4").tobytes())
        archive.writestr("m/data/1", np.ones(2, "<f2").tobytes())
    return [{"pytorch_model.bin": stream.getvalue()}]


def _torch_legacy() -> list[dict[str, bytes]]:
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 8}}
    start = b"".join(pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, system))
    keys = pickle.dumps(["0", "1"], 2)
    data = (
        (6).to_bytes(8, "little")
        + np.arange(6, dtype="<f4").tobytes()
        + (2).to_bytes(8, "little")
        + np.ones(2, "<f2").tobytes()
    )
    return [{"pytorch_model.bin": start + _torch_description(True) + keys + data}]


@functools.cache
def _tf1() -> list[dict[str, bytes]]:
    import tensorflow as tf

    names = {"bert/embeddings/word_embeddings": (4, 2), "bert/pooler/dense/kernel": (2, 2), "global_step": ()}
    with tempfile.TemporaryDirectory() as folder:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            for name, shape in names.items():
                tf.compat.v1.get_variable(name, initializer=np.ones(shape, np.float32))
            session.run(tf.compat.v1.global_variables_initializer())
            tf.compat.v1.train.Saver().save(session, f"{folder}/bert_model.ckpt", write_meta_graph=False)
        files = {path.name: path.read_bytes() for path in Path(folder).glob("bert_model.ckpt.*")}
    return [files]


@functools.cache
def _presets() -> list[dict[str, bytes]]:
    import keras_nlp

    sizes = {"num_layers": 1, "num_heads": 2, "hidden_dim": 4, "intermediate_dim": 4, "max_sequence_length": 4}
    backbone = keras_nlp.models.BertBackbone(vocabulary_size=5, **sizes)
    with tempfile.TemporaryDirectory() as folder:
        backbone.save_to_preset(folder)
        return [{path.name: path.read_bytes() for path in Path(folder).iterdir()}]


TARGETS = [
    Target("config.json", _config, _configs),
    Target("safetensors", _weights, safetensors_files),
    Target("safetensors index", _weights, _shards, ("model.safetensors.index.json",)),
    Target("PyTorch zip", _weights, _torch_zip),
    Target("PyTorch legacy", _weights, _torch_legacy),
    Target("TensorFlow 1 checkpoint", _google, _tf1),
    Target("keras-nlp preset", _preset, _presets, slow=True),
]
