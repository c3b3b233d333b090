"""Files of models with adapters and scalar mixes compute what Keras computes, in one XNNPACK partition."""

from functools import partial

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.encoders import AlbertConfig, BertConfig, MobileBertConfig, encoder_class
from kerasbert.export.conversion import convert
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite.model import decode, operator_kinds
from kerasbert.layers.blocks.adapters import Adapter
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import dense_layers, sublayers
from kerasbert.tasks import TextClassifier

SIZE, LENGTH = 8, 16
ARCHITECTURES = {
    "bert": BertConfig,
    "albert": partial(AlbertConfig, embedding_size=16),
    "mobilebert": partial(MobileBertConfig, embedding_size=16, intra_bottleneck_size=16, num_feedforward_networks=2),
}
# Mean error as a share of the deviation among texts, as in test_architectures.
TOLERANCES = {"dynamic_wi8_afp32": 0.3, "static_wi8_ai8": 0.1}
CONVERTED = [
    ("bert", "dynamic_wi8_afp32"),
    *((name, "static_wi8_ai8") for name in ARCHITECTURES),
]


@pytest.fixture(scope="module")
def texts(tiny):
    return tiny.rows(24, seed=21)[0]


@pytest.fixture(scope="module")
def models(tiny, texts):
    """Quantized models by architecture and recipe, with every weight moved from its initial value."""
    import tf_keras as keras

    made = {}

    def model(name: str, recipe: str):
        if (name, recipe) not in made:
            keras.utils.set_random_seed(5)
            config = ARCHITECTURES[name](**{**tiny.sizes, "initializer_range": 0.3})
            encoder = encoder_class(config.model_type)(config, adapters=SIZE, layer_mix=True)
            task = TextClassifier(encoder, tiny.tokenizer(), labels=("a", "b", "c"), sequence_length=LENGTH)
            draw = np.random.default_rng(5)
            for path, variable in sorted(task.variables_by_path().items()):
                if path.endswith(("bias", "gamma", "beta", "scores")) or "adapter" in path:
                    variable.assign(variable + draw.normal(0, 0.2, variable.shape))
            made[name, recipe] = kb.compression.quantize(task, recipe, calibration=texts)
        return made[name, recipe]

    return model


@pytest.fixture(scope="module")
def files(models):
    made = {}

    def content(name: str, recipe: str) -> bytes:
        if (name, recipe) not in made:
            made[name, recipe] = convert(models(name, recipe), recipe=recipe).content
        return made[name, recipe]

    return content


@pytest.mark.long_cases("albert")
@pytest.mark.parametrize(("name", "recipe"), CONVERTED)
def test_the_file_computes_what_keras_computes(models, files, texts, name, recipe):
    model = models(name, recipe)
    packed = model.pack(texts)
    expected = model.serve_numpy(packed)["probabilities"]
    spread = expected.std(0).mean()
    assert spread > 0.02
    for kernels in ("xnnpack", "reference"):
        runner = open_model(files(name, recipe), kernels=kernels, length=LENGTH)
        rows = [runner.run({k: v[i : i + 1] for k, v in packed.items()})["probabilities"] for i in range(len(texts))]
        assert np.abs(np.concatenate(rows) - expected).mean() < TOLERANCES[recipe] * spread
        if kernels == "xnnpack":
            assert runner.partitions == 1, runner.ops_by_backend


@pytest.mark.parametrize(("name", "recipe"), CONVERTED)
@pytest.mark.long_cases("albert-static")
def test_every_dense_layer_is_int8_and_none_is_added(models, files, name, recipe):
    from ai_edge_litert.schema_py_generated import TensorType

    model, content = models(name, recipe), decode(files(name, recipe))
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    found = [operator for operator in graph.operators if kinds[operator.opcodeIndex] == "FULLY_CONNECTED"]
    assert len(found) == sum(dense.input_quantizer.num_calls for dense in dense_layers(model))
    assert {graph.tensors[operator.inputs[1]].type for operator in found} == {TensorType.INT8}
    # Every FULLY_CONNECTED keeps its own bias, because training measured the range of its output with the bias.
    assert all(len(operator.inputs) == 3 and operator.inputs[2] >= 0 for operator in found)


def test_adapters_find_their_ranges_at_run_time(models):
    adapters = models("bert", "static_wi8_ai8").encoder.layers[0]
    kinds = {
        point.path.removeprefix("layers.0."): point.kind
        for adapter in (adapters.attention_adapter, adapters.feed_forward_adapter)
        for point in activation_quantizers(adapter)
    }
    parts = {"input": "dynamic", "down.output": "float", "hidden": "dynamic", "up.output": "float"}
    assert kinds == {
        f"{where}_adapter.{part}": kind for where in ("attention", "feed_forward") for part, kind in parts.items()
    }


@pytest.mark.long
def test_new_adapters_can_be_calibrated_and_trained(tiny, texts):
    """An untrained adapter outputs nearly zeros, from which no static range can be estimated."""
    encoder = tiny.encoder(num_hidden_layers=1)
    task = TextClassifier(
        type(encoder)(encoder.config, adapters=SIZE), tiny.tokenizer(), labels=tiny.labels, sequence_length=LENGTH
    )
    for adapter in sublayers(task, Adapter):
        adapter.up.kernel.assign(0 * adapter.up.kernel)
    model = kb.compression.quantize(task, "static_wi8_ai8", calibration=texts)
    before = model.encoder.layers[0].attention_adapter.up.kernel.numpy()
    model.compile(kb.adamw(1e-2), run_eagerly=True)
    model.fit(*tiny.rows(16), verbose=0)
    assert np.abs(model.encoder.layers[0].attention_adapter.up.kernel - before).max() > 1e-3
