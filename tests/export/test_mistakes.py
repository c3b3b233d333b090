"""Mistakes made on purpose, in files that a CPU runs well: each is caught by the backend that it would break, and named.

GELU in a body for an Edge TPU: `test_split_file`."""

import tempfile
from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.export.lowering import targets
from kerasbert.export.tflite.model import decode, encode
from kerasbert.export.validator import validate

pytestmark = pytest.mark.one_layer

LENGTH, WIDTH = 8, 16


def found(file, backends, against, data):
    report = validate(file, against=against, data=data, on=backends)
    return {check.name: check for check in report.checks}


def on_a_device(checks, name):
    if checks[name].status == "not run":
        pytest.skip(checks[name].reason)
    return checks[name]


@pytest.fixture
def graph_file(tmp_path, helpers):
    """Converts a function of gathered embeddings `(1, S, H)`, or of table and ids, to a file with probabilities."""

    def make(function, name="graph"):
        draw = np.random.default_rng(0)
        table, head = (tf.constant(draw.normal(size=shape), tf.float32) for shape in ((30, WIDTH), (WIDTH, 3)))

        def serve(input_ids, attention_mask, token_type_ids):
            used = 1.0 + 0.0 * tf.cast(tf.reduce_sum(attention_mask + token_type_ids), tf.float32)
            return {"probabilities": tf.nn.softmax(tf.matmul(function(table, input_ids), head) * used)}

        specs = [
            tf.TensorSpec((1, LENGTH), tf.int32, name=n) for n in ("input_ids", "attention_mask", "token_type_ids")
        ]
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(tf.Module(), folder, signatures={"serve": tf.function(serve, input_signature=specs)})
            content = tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=["serve"]).convert()
        file = tmp_path / f"{name}.tflite"
        file.write_bytes(content)
        return file

    return make


@pytest.mark.environment
def test_a_mask_that_overflows_float16_is_found(monkeypatch, trained, tiny, tmp_path):
    gpu = targets.TARGETS["gpu"]
    large = replace(gpu, fixed=replace(gpu.fixed, mask_constant=-1e9))
    monkeypatch.setitem(targets.TARGETS, "gpu", large)
    file = kb.export.convert(trained, recipe="float32", target="gpu").save(tmp_path / "mask.tflite")
    checks = found(file, ["cpu", "gpu"], trained, tiny.rows(8, seed=4))
    assert checks["cpu-xnnpack"].status == "passed"
    half = on_a_device(checks, "gpu-half")
    assert half.status == "failed", half.reason


@pytest.fixture
def with_an_outlier(tiny):
    """A classifier whose feed-forward networks add 400 to one channel, as MiniLM's first one does: squared, it overflows float16."""
    model = tiny.classifier()
    biases = [each for each in model.encoder.weights if each.name.endswith("feed_forward_output_dense/bias:0")]
    assert biases
    for bias in biases:
        bias.assign([400.0, *bias.numpy()[1:]])
    return model


def largest_intermediate(file, rows):
    """The largest value that an operator of a file computes in float, without the delegate of XNNPACK, which keeps none."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    runtime = Interpreter(str(file), experimental_op_resolver_type=plain, experimental_preserve_all_tensors=True)
    runtime.allocate_tensors()
    for each in runtime.get_input_details():
        name = each["name"].removeprefix("serve_").partition(":")[0]
        runtime.set_tensor(each["index"], rows[name][:1].reshape(each["shape"]).astype(each["dtype"]))
    runtime.invoke()
    (graph,) = decode(file.read_bytes()).subgraphs
    computed = [runtime.get_tensor(index) for operator in graph.operators for index in operator.outputs]
    return max(float(np.abs(values).max()) for values in computed if values.dtype == np.float32)


@pytest.mark.environment
@pytest.mark.parametrize(
    ("target", "half_range", "status"),
    [("gpu", False, "failed"), ("gpu", True, "passed"), ("cpu", False, "failed"), ("cpu", True, "passed")],
)
def test_a_norm_that_overflows_float16_is_found(
    monkeypatch, with_an_outlier, tiny, tmp_path, target, half_range, status
):
    chosen = targets.TARGETS[target]
    assert chosen.fixed.half_range
    monkeypatch.setitem(targets.TARGETS, target, replace(chosen, fixed=replace(chosen.fixed, half_range=half_range)))
    file = kb.export.convert(with_an_outlier, recipe="float32", target=target).save(tmp_path / "norm.tflite")
    checks = found(file, ["cpu", "gpu"], with_an_outlier, tiny.rows(8, seed=4))
    assert checks["cpu-xnnpack"].status == "passed"
    half = on_a_device(checks, "gpu-half")
    assert half.status == status, half.reason


LARGEST_HALF = float(np.finfo(np.float16).max)


@pytest.mark.long
@pytest.mark.parametrize("recipe", ["float32", "float16", "dynamic_wi8_afp32"])
def test_no_value_of_a_file_overflows_float16(monkeypatch, with_an_outlier, tiny, helpers, tmp_path, recipe):
    rows = {name: np.resize(values, (1, tiny.length)) for name, values in helpers.packed_rows(1).items()}

    def largest(target):
        file = kb.export.convert(with_an_outlier, recipe=recipe, target=target).save(tmp_path / f"{target}.tflite")
        return largest_intermediate(file, rows)

    assert max(map(largest, ("cpu", "gpu", "web"))) < LARGEST_HALF
    cpu = targets.TARGETS["cpu"]
    monkeypatch.setitem(targets.TARGETS, "cpu", replace(cpu, fixed=replace(cpu.fixed, half_range=False)))
    assert largest("cpu") > LARGEST_HALF


@pytest.mark.long
def test_no_value_of_a_head_overflows_float16(tiny, helpers, tmp_path):
    """The norm of the masked language model head, and the normalization of sentence vectors, stay in range too."""
    rows = {name: np.resize(values, (1, tiny.length)) for name, values in helpers.packed_rows(1).items()}
    language_model = kb.MaskedLM(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length)
    (bias,) = (each for each in language_model.masked_lm.transform.weights if "bias" in each.name)
    bias.assign([400.0, *bias.numpy()[1:]])
    vectors = tiny.sentence_encoder(normalize=True, pooling="cls")
    beta = vectors.encoder.layers[-1].feed_forward_norm.beta
    beta.assign([400.0] * beta.shape[0])
    for name, task in {"words": language_model, "vectors": vectors}.items():
        file = kb.export.convert(task, recipe="float32").save(tmp_path / f"{name}.tflite")
        assert largest_intermediate(file, rows) < LARGEST_HALF


@pytest.mark.environment
def test_a_gather_with_rank_2_ids_is_found(graph_file, helpers):
    """The accelerator adds row 0 of the constant everywhere, and reports that it ran all operators."""
    positions = tf.constant(np.random.default_rng(1).normal(size=(LENGTH, WIDTH)), tf.float32)

    def summed(table, ids):
        return tf.reduce_mean(tf.gather(table, tf.reshape(ids, (-1,))) + positions, axis=0, keepdims=True)

    file = graph_file(summed)
    checks = found(file, ["cpu", "gpu"], file, helpers.packed_rows(6))
    assert checks["cpu-xnnpack"].status == "passed"
    strict = on_a_device(checks, "gpu-strict")
    assert strict.status == "failed" and "off by up to" in strict.reason


@pytest.mark.environment
def test_a_slice_that_drops_an_axis_is_found(graph_file, helpers):
    file = graph_file(lambda table, ids: (tf.gather(table, ids) * 1.5)[:, 0])
    checks = found(file, ["cpu", "gpu", "gpu-opencl"], file, helpers.packed_rows(6))
    assert checks["cpu-xnnpack"].status == "passed"
    assert checks["gpu-opencl rules"].status == "failed" and "STRIDED_SLICE" in checks["gpu-opencl rules"].reason
    strict = on_a_device(checks, "gpu-strict")
    assert strict.status == "failed" and "shrink_axis_mask" in strict.reason


def test_swapped_inputs_are_found(float_file, helpers, tmp_path):
    content = decode(float_file.read_bytes())
    ends = {bytes(each.name): each for each in content.signatureDefs[0].inputs}
    mask, types = ends[b"attention_mask"], ends[b"token_type_ids"]
    mask.tensorIndex, types.tensorIndex = types.tensorIndex, mask.tensorIndex
    file = tmp_path / "swapped.tflite"
    file.write_bytes(encode(content))
    check = found(file, ["cpu"], float_file, helpers.packed_rows(8))["cpu-xnnpack"]
    assert check.status == "failed" and "'probabilities'" in check.reason  # a row of zeros as its mask has no mean


def test_float_operators_in_an_integer_body_are_found(int8_file, helpers):
    check = found(int8_file, ["edge-tpu"], int8_file, helpers.packed_rows(4))["edge-tpu forecast"]
    assert check.status == "failed" and "works on float32" in check.reason
