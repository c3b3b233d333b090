"""Every architecture, head and recipe: the file computes what the Keras model computes, and a shared block or table is there once.

Weights are random, with biases and norms away from their first values, and static ranges come from calibration: what is compared is the
way to the file, not what a model has learned.
"""

from functools import partial

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.encoders import (
    AlbertConfig,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    MobileBertConfig,
    RobertaConfig,
    encoder_class,
)
from kerasbert.export import inspect
from kerasbert.export.conversion import convert
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite.model import decode, operator_kinds
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.dense import QuantizedDense
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks import MaskedLM, MultipleChoice, QuestionAnswerer, TextClassifier, TokenTagger

_mobilebert = partial(MobileBertConfig, embedding_size=16, intra_bottleneck_size=16)
ARCHITECTURES = {
    "bert-untied": partial(BertConfig, tie_word_embeddings=False),
    "albert": partial(AlbertConfig, embedding_size=16),
    "albert-groups": partial(AlbertConfig, embedding_size=16, num_hidden_groups=2, inner_group_num=2),
    "mobilebert": partial(_mobilebert, num_feedforward_networks=2),
    "mobilebert-layer-norm": partial(
        _mobilebert, num_feedforward_networks=2, normalization_type="layer_norm", hidden_act="gelu"
    ),
    "mobilebert-tiny": partial(
        _mobilebert, num_feedforward_networks=1, use_bottleneck_attention=True, key_query_shared_bottleneck=False
    ),
    "distilbert": DistilBertConfig,
    "electra": partial(ElectraConfig, embedding_size=16),
    "roberta": RobertaConfig,
}
# A head is converted with the architecture that asks most of it: MobileBERT's decoder is in two parts, RoBERTa's positions have an offset.
HEADS = {
    "bert-untied": MaskedLM,
    "mobilebert": MaskedLM,
    "mobilebert-tiny": QuestionAnswerer,
    "distilbert": TokenTagger,
    "electra": MaskedLM,
    "roberta": QuestionAnswerer,
    "albert-groups": MultipleChoice,
}
# Mean error as a share of the deviation among texts. The dynamic policy leaves to the file what activations lose in 8 bits, and random
# weights amplify that; the static one computes it in training too. One wrong range costs 0.75 and more.
TOLERANCES = {"float32": 1e-3, "float16": 0.03, "dynamic_wi8_afp32": 0.3, "static_wi8_ai8": 0.05}
QUANTIZED = ("dynamic_wi8_afp32", "static_wi8_ai8")
LAYERS = {"albert": 2, "albert-groups": 3}  # of one kind one is enough; test_conversion has two


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(24, seed=21)[0]


@pytest.fixture(scope="module")
def models(tiny, texts):
    """Models by architecture and recipe, as in quantization-aware training."""
    made = {}

    def model(name: str, recipe: str):
        if (name, None) not in made:
            made[name, None] = _random(name, tiny)
        if recipe not in QUANTIZED:
            return made[name, None]
        if (name, recipe) not in made:
            made[name, recipe] = kb.compression.quantize(
                made[name, None], recipe, calibration=made[name, None].pack(texts)
            )
        return made[name, recipe]

    return model


@pytest.fixture(scope="module")
def files(models):
    """Bytes of files by architecture and recipe."""
    made = {}

    def content(name: str, recipe: str) -> bytes:
        if (name, recipe) not in made:
            made[name, recipe] = convert(models(name, recipe), recipe=recipe).content
        return made[name, recipe]

    return content


def _random(name: str, tiny):
    import tf_keras as keras

    keras.utils.set_random_seed(5)
    sizes = {**tiny.sizes, "num_hidden_layers": LAYERS.get(name, 1), "initializer_range": 0.3}
    config = ARCHITECTURES[name](**sizes)
    head = HEADS.get(name, TextClassifier)
    labels = {"labels": ("a", "b", "c")} if head.labelled else {}
    encoder = encoder_class(config.model_type)(config)
    model = head(encoder, tiny.tokenizer(), sequence_length=tiny.length, **labels)
    draw = np.random.default_rng(5)
    for path, variable in model.variables_by_path().items():
        if path.endswith(("bias", "gamma", "beta")):
            variable.assign(variable + draw.normal(0, 0.2, variable.shape))
    return model


def run(content: bytes, packed: dict, kernels: str) -> dict[str, np.ndarray]:
    model = open_model(content, kernels=kernels, length=packed["input_ids"].shape[1])
    found = [model.run({k: v[i : i + 1] for k, v in packed.items()}) for i in range(len(packed["input_ids"]))]
    return {name: np.concatenate([outputs[name] for outputs in found]) for name in found[0]}


def differences(content: bytes, model, texts, kernels: str = "xnnpack", length: int | None = None) -> list[float]:
    """Returns the mean error of each output over its standard deviation, on rows of several lengths, without padding."""
    packed = model.pack(texts, length=length)
    mask = packed["attention_mask"] == 1
    assert len(set(mask.sum(1))) > 5
    expected, found = model.serve_numpy(packed), run(content, packed, kernels)
    assert set(found) == set(expected)
    shares = []
    for name, values in expected.items():
        chosen = mask if model.per_token else slice(None)
        spread = values[chosen].std(0).mean()
        assert spread > 0.02  # the rows are not all alike
        shares.append(np.abs(found[name] - values)[chosen].mean() / spread)
    return shares


def agree(content: bytes, model, texts, recipe: str, kernels: str = "xnnpack", length: int | None = None) -> None:
    """Asserts that file and model agree."""
    assert max(differences(content, model, texts, kernels, length)) < TOLERANCES[recipe]


# A conversion takes seconds: what a recipe does to one graph of a kind it does to the others, and a static file that computes what the
# model computes has its graph right in float as well.
CONVERTED = [
    *((name, "float32") for name in ("albert", "mobilebert", "distilbert", "electra", "roberta", "bert-untied")),
    *((name, "static_wi8_ai8") for name in ARCHITECTURES if name not in ("bert-untied", "distilbert")),
    *(("albert", recipe) for recipe in ("float16", "dynamic_wi8_afp32")),
    ("bert-untied", "dynamic_wi8_afp32"),
]


@pytest.mark.long_cases("albert-static", "mobilebert-static", "electra-static", "roberta-float32")
@pytest.mark.parametrize(("name", "recipe"), CONVERTED)
def test_the_file_computes_what_keras_computes(models, files, texts, name, recipe):
    content, model = files(name, recipe), models(name, recipe)
    for kernels in ("xnnpack", "reference"):
        agree(content, model, texts, recipe, kernels)


def test_multiply_accumulates_of_each_part(files):
    """Two layers of ALBERT and one of MobileBERT: width 32, embeddings and bottlenecks 16, feed-forward 64, rows of 16 tokens."""
    albert, mobilebert = (inspect(files(name, "static_wi8_ai8")).macs_by_part for name in ("albert", "mobilebert"))
    del albert["other"], mobilebert["other"]  # pooler and head
    assert albert == {
        "embeddings": 16 * 16 * 32,
        "attention projections": 2 * 4 * 16 * 32 * 32,
        "attention products": 2 * 2 * 16 * 16 * 32,
        "feed-forward": 2 * 2 * 16 * 32 * 64,
    }
    assert mobilebert == {
        "embeddings": 16 * 3 * 16 * 32,
        "attention projections": 16 * (3 * 16 * 16 + 32 * 16),  # values come from the block's input
        "attention products": 2 * 16 * 16 * 16,
        "feed-forward": 2 * 2 * 16 * 16 * 64,
        "bottlenecks": 3 * 16 * 32 * 16,
    }


@pytest.mark.long
def test_a_wrong_range_changes_the_outputs(models, texts):
    """A control for the test above: it fails for a file with one wrong range."""
    model = models("albert", "static_wi8_ai8")
    point = next(point for point in activation_quantizers(model) if point.ranges and point.path.endswith("context"))
    minimum, maximum = point.ranges[-1]
    kept = float(minimum), float(maximum)
    try:
        minimum.assign(kept[0] / 8)
        maximum.assign(kept[1] / 8)
        content = convert(model, recipe="static_wi8_ai8").content
    finally:
        minimum.assign(kept[0])
        maximum.assign(kept[1])
    with pytest.raises(AssertionError):
        agree(content, model, texts, "static_wi8_ai8")


@pytest.mark.long_cases("roberta")
@pytest.mark.parametrize("name", ["mobilebert", "roberta"])
def test_resizable_files_at_two_lengths(models, texts, name):
    model = models(name, "dynamic_wi8_afp32")
    content = convert(model, recipe="dynamic_wi8_afp32", length="resizable").content
    for length in (16, 24):
        agree(content, model, texts, "dynamic_wi8_afp32", length=length)


# -- shared blocks ---------------------------------------------------------------------------------------------------------------------


def stored_kernels(content: bytes) -> list[tuple[int, bytes, np.ndarray]]:
    """Returns buffer, bytes and real values `(out, in)` of the kernel of every FULLY_CONNECTED, in the order of execution."""
    from ai_edge_litert.schema_py_generated import TensorType

    model = decode(content)
    graph, kinds = model.subgraphs[0], operator_kinds(model)
    sources = {
        op.outputs[0]: op.inputs[0] for op in graph.operators if kinds[op.opcodeIndex] == "DEQUANTIZE"
    }  # of a float16 file
    numbers = {TensorType.INT8: np.int8, TensorType.FLOAT32: np.float32, TensorType.FLOAT16: np.float16}
    found = []
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] != "FULLY_CONNECTED":
            continue
        tensor = graph.tensors[sources.get(operator.inputs[1], operator.inputs[1])]
        data = bytes(bytearray(model.buffers[tensor.buffer].data))
        values = np.frombuffer(data, numbers[tensor.type]).reshape(tensor.shape).astype(np.float32)
        if tensor.type == TensorType.INT8:
            values = values * np.reshape(tensor.quantization.scale, (-1, 1))
        found.append((tensor.buffer, data, values))
    return found


def on_grid(dense) -> np.ndarray:
    kernel = dense.served_kernel()
    return (dense.kernel_quantizer(kernel) if isinstance(dense, QuantizedDense) else kernel).numpy()


def keras_kernels(model) -> dict[str, np.ndarray]:
    """Returns kernels `(out, in)` of served Dense layers as a file should store them: the query's with the scale of attention."""
    scales = {attention.query.path: attention.scale for attention in sublayers(model, SelfAttention)}
    return {
        dense.path: on_grid(dense).T * scales.get(dense.path, 1.0)
        for dense in dense_layers(model)
        if dense.path not in model.unserved
    }


@pytest.fixture(scope="module")
def trained_albert(models, texts):
    """An ALBERT with one group of layers, after training with a range for each call of its block."""
    model = kb.compression.quantize(models("albert", "float32"), "static_wi8_ai8", calibration=texts)
    model.compile(kb.adamw(1e-3))
    model.fit(texts, ["a", "b", "c"] * 8, seed=0, verbose=0)
    context = model.encoder.layers[0].attention.context
    assert len({float(maximum) for _, maximum in context.ranges}) == 2
    return model


@pytest.mark.long_cases
@pytest.mark.parametrize(
    ("name", "recipe"),
    [*(("albert", recipe) for recipe in TOLERANCES), ("albert", "trained"), ("albert-groups", "static_wi8_ai8")],
)
def test_a_shared_kernel_is_stored_once(request, models, files, name, recipe):
    if recipe == "trained":
        model = request.getfixturevalue("trained_albert")
        content = convert(model, recipe="static_wi8_ai8").content
    else:
        model, content = models(name, recipe), files(name, recipe)
    kernels, stored = keras_kernels(model), stored_kernels(content)
    calls = {dense.path: dense.input_quantizer.num_calls for dense in dense_layers(model) if dense.path in kernels}
    assert len(stored) == sum(calls.values())
    used = set()
    for path, expected in kernels.items():
        tolerance = 1e-3 * np.abs(expected).max()
        same = [
            (buffer, data)
            for buffer, data, values in stored
            if values.shape == expected.shape and np.allclose(values, expected, rtol=0, atol=tolerance)
        ]
        assert len(same) == calls[path], path
        assert len({buffer for buffer, _ in same}) == 1, f"{path}: one kernel, several buffers"
        used.add(same[0])
    buffers = [bytes(bytearray(b.data)) for b in decode(content).buffers if b.data is not None and len(b.data)]
    assert len(used) == len(kernels)
    for _, data in used:
        assert buffers.count(data) == 1
    shared = [path for path, count in calls.items() if count > 1]
    assert len(shared) >= 6


@pytest.mark.parametrize(
    ("name", "recipe"), [("electra", "float32"), ("electra", "static_wi8_ai8"), ("mobilebert", "static_wi8_ai8")]
)
def test_a_tied_decoder_is_stored_once(models, files, name, recipe):
    model, content = models(name, recipe), decode(files(name, recipe))
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    words = model.config.vocab_size, model.config.embedding_size
    readers = {
        (kinds[operator.opcodeIndex], graph.tensors[index].buffer)
        for operator in graph.operators
        for index in operator.inputs
        if index >= 0 and tuple(graph.tensors[index].shape) == words
    }
    tables = {buffer for kind, buffer in readers if kind == "GATHER"}
    decoders = {buffer for kind, buffer in readers if kind == "FULLY_CONNECTED"}
    assert len(tables) == 1 and tables <= decoders
    assert len(decoders) == (2 if name == "mobilebert" else 1)  # MobileBERT's second part happens to have this shape
    size = model.config.vocab_size * model.config.embedding_size * (4 if recipe == "float32" else 1)
    held = [buffer for buffer in content.buffers if buffer.data is not None and len(buffer.data) == size]
    assert len(held) == len(decoders)
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED" and graph.tensors[operator.inputs[1]].buffer in tables:
            scales = graph.tensors[operator.inputs[1]].quantization
            if recipe != "float32":
                assert len(scales.scale) == words[0] and len(set(scales.scale)) == 1 and not np.any(scales.zeroPoint)
