"""Files of every recipe and task compute what the Keras model computes, and have the expected structure."""

import json
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.export.conversion import convert
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.embedding_table import EmbeddingTable
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.traversal import dense_layers, sublayers

FLOAT = {"trained": "probabilities", "vectors": "embedding"}
QUANTIZED = {
    "dynamic_model": "dynamic_wi8_afp32",
    "dynamic_vectors": "dynamic_wi8_afp32",
    "static_model": "static_wi8_ai8",
    "static_vectors": "static_wi8_ai8",
}

# A recipe changes a resizable graph in the same way under every head.
FIXED_AND_RESIZABLE = [
    *((name, None) for name in QUANTIZED),
    ("dynamic_model", "resizable"),
    ("static_model", "resizable"),
]


@pytest.fixture(scope="session")
def dynamic_vectors(vectors):
    return kb.compression.quantize(vectors, "dynamic_wi8_afp32")


@pytest.fixture(scope="module")
def converted(request):
    """Converts by model, recipe and length, each once."""
    made = {}

    def make(name: str, recipe: str, length=None):
        if (name, recipe, length) not in made:
            made[name, recipe, length] = convert(request.getfixturevalue(name), recipe=recipe, length=length)
        return made[name, recipe, length]

    return make


def run(content: bytes, packed: dict, kernels: str = "xnnpack") -> np.ndarray:
    """Returns the output of a file with one output, for every row."""
    model = open_model(content, kernels=kernels, length=packed["input_ids"].shape[1])
    (name,) = model.outputs
    rows = range(len(packed["input_ids"]))
    return np.concatenate([model.run({k: v[i : i + 1] for k, v in packed.items()})[name] for i in rows])


def serve(model, packed: dict) -> np.ndarray:
    return model.serve_numpy(packed)[model.output_name]


@pytest.fixture(scope="module")
def packed(tiny, trained):
    """60 padded rows."""
    return trained.pack(tiny.rows(60, seed=11)[0])


# -- the same numbers ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "recipe", "tolerance"),
    [("trained", "float32", 1e-5), ("vectors", "float32", 1e-5), ("trained", "float16", 1e-3)],
)
@pytest.mark.long_cases
def test_float_files_compute_what_keras_computes(request, converted, packed, name, recipe, tolerance):
    model = request.getfixturevalue(name)
    exact = serve(model, packed)
    assert np.ptp(exact, axis=0).max() > 0.2  # the rows are not all alike
    np.testing.assert_allclose(run(converted(name, recipe).content, packed), exact, atol=tolerance, rtol=0)


@pytest.mark.long_cases
@pytest.mark.parametrize("kernels", ["xnnpack", "builtin", "reference"])
@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_files_compute_what_training_emulated(request, converted, packed, name, kernels):
    model = request.getfixturevalue(name)
    emulated = serve(model, packed)
    difference = np.abs(run(converted(name, QUANTIZED[name]).content, packed, kernels) - emulated)
    # XNNPACK rounds a static file as the emulation does. Other kernels, and ranges found at run time, may round a value between two LSBs
    # the other way.
    exact = kernels == "xnnpack" and name.startswith("static")
    assert difference.mean() < (5e-5 if exact else 1e-3)
    assert difference.max() < (3e-3 if exact else 0.01)
    if name.endswith("model"):
        sure = np.abs(emulated[:, 0] - 0.5) > 0.01
        assert sure.mean() > 0.95 and np.abs(emulated[sure, 0] - 0.5).min() > difference.max()


@pytest.mark.long
def test_quantized_files_differ_from_float(converted, packed, trained):
    # Otherwise the test above would pass for a file in which nothing is quantized.
    for name in ("dynamic_model", "static_model"):
        assert np.abs(run(converted(name, QUANTIZED[name]).content, packed) - serve(trained, packed)).max() > 1e-4


@pytest.mark.long
def test_a_float_model_gets_the_default_recipe_without_output(packed, trained, dynamic_model, capfd):
    tf.constant(0)
    capfd.readouterr()
    result = convert(trained)
    written = capfd.readouterr()
    assert "%|" not in written.err + written.out and written.out == ""
    assert result.metadata.recipe == "dynamic_wi8_afp32" and result.metadata.target == "cpu"
    assert np.abs(run(result.content, packed) - serve(dynamic_model, packed)).mean() < 1e-3


@pytest.mark.long
def test_calibration_texts_make_a_static_file(tiny, trained, packed):
    content = convert(trained, recipe="static_wi8_ai8", length=16, calibration=tiny.rows(64, seed=1)[0]).content
    assert np.mean(run(content, packed).argmax(1) == serve(trained, packed).argmax(1)) > 0.95


@pytest.mark.parametrize("problem", ["multi_label", "regression"])
@pytest.mark.long_cases
def test_other_classification_tasks_convert(tiny, problem):
    model = tiny.narrow(problem=problem, labels=("a", "b", "c") if problem == "multi_label" else None)
    model.classifier.bias.assign(np.linspace(0.5, 1.5, len(model.labels)))
    result = convert(model, recipe="float32", length=16)
    inputs = model.pack(tiny.rows(3)[0])
    np.testing.assert_allclose(run(result.content, inputs), serve(model, inputs), atol=1e-5)
    assert result.metadata.processor.name == problem and result.metadata.labels == model.labels


@pytest.mark.long_cases("settings0", "settings3")
@pytest.mark.parametrize(
    "settings",
    [
        {"pooling": "max", "normalize": False},
        {"pooling": "cls"},
        {"pooling": "lasttoken", "dimensions": 4, "projection_bias": True, "projection_activation": "tanh"},
        {"pooling": "weightedmean", "normalize": False},
        {"pooling": "mean_sqrt_len_tokens", "normalize": False},
    ],
)
def test_other_poolings_convert(tiny, settings):
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = tiny.sentence_encoder(sizes=sizes, **settings)
    inputs = model.pack(tiny.rows(5)[0])
    np.testing.assert_allclose(run(convert(model, recipe="float32").content, inputs), serve(model, inputs), atol=1e-5)


# -- masks and lengths ---------------------------------------------------------------------------------------------------------------


@pytest.mark.long_cases("static")
@pytest.mark.parametrize(
    ("name", "recipe"),
    [*((n, "float32") for n in FLOAT), ("static_model", "static_wi8_ai8")],
)
def test_padding_does_not_change_outputs(converted, name, recipe, tiny, trained):
    """TensorFlow 2.21's converter can turn `scores - c * (1 - mask)` into a sum: then padding gets all the attention."""
    text = ["the film was very good"]
    exact = trained.pack(text, length=7)
    assert exact["attention_mask"].all()
    padded = {key: np.pad(value, ((0, 0), (0, 9))) for key, value in exact.items()}
    noisy = {**padded, "input_ids": np.where(padded["attention_mask"] == 1, padded["input_ids"], 13).astype(np.int32)}
    fixed, resizable = converted(name, recipe).content, converted(name, recipe, "resizable").content
    short = run(resizable, exact)
    tolerance = 1e-5 if recipe == "float32" else 1e-3
    for content in (fixed, resizable):
        np.testing.assert_allclose(run(content, padded), short, atol=tolerance)
        np.testing.assert_allclose(run(content, noisy), short, atol=tolerance)
    attended = {**noisy, "attention_mask": np.ones_like(noisy["attention_mask"])}
    assert np.abs(run(fixed, attended) - short).max() > 10 * tolerance


@pytest.mark.parametrize("name", ["static_model", "dynamic_model", "trained"])
@pytest.mark.long_cases
def test_a_resizable_file_is_the_fixed_one_at_every_length(converted, trained, tiny, name):
    recipe = QUANTIZED.get(name, "float32")
    fixed, resizable = converted(name, recipe).content, converted(name, recipe, "resizable").content
    texts = [text for text in tiny.rows(30, seed=12)[0] if len(text.split()) <= 6][:6]
    assert len(texts) >= 4
    expected = run(fixed, trained.pack(texts))
    for length in (8, 11, 16, 32):
        tolerance = 1e-5 if name == "trained" else 2e-3
        np.testing.assert_allclose(run(resizable, trained.pack(texts, length=length)), expected, atol=tolerance)


def test_a_file_has_the_requested_length(converted, trained, packed):
    content = converted("trained", "float32", 9).content
    shapes = {port.shape for port in open_model(content).inputs.values()}
    assert shapes == {(1, 9)}
    short = trained.pack(["bad film", "good book"], length=9)
    np.testing.assert_allclose(run(content, short), serve(trained, short), atol=1e-5)


# -- how the files are built ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "length"), FIXED_AND_RESIZABLE)
@pytest.mark.long_cases
def test_xnnpack_runs_the_graph_in_one_partition(converted, name, length):
    model = open_model(converted(name, QUANTIZED[name], length).content, length=16)
    assert model.partitions == 1, model.ops_by_backend
    outside = set(model.ops_by_backend["builtin"])
    assert not outside & {"FULLY_CONNECTED", "BATCH_MATMUL", "SOFTMAX", "GELU", "QUANTIZE", "DEQUANTIZE"}


@pytest.mark.parametrize(
    ("name", "recipe"), [*((n, "float32") for n in FLOAT), ("trained", "float16"), *QUANTIZED.items()]
)
def test_files_have_builtin_operators_one_signature_and_three_inputs(converted, name, recipe):
    file = ModelFile.read(converted(name, recipe).content)
    operators = [operator for graph in file.subgraphs for operator in graph.operators]
    assert operators and not [operator.name for operator in operators if operator.custom]
    (signature,) = file.signatures
    assert signature.name == "serve" and set(signature.inputs) == set(INPUT_NAMES)
    assert list(signature.outputs) == ["embedding" if "vectors" in name else "probabilities"]
    for index in signature.inputs.values():
        tensor = file.subgraphs[0].tensors[index]
        assert (tensor.dtype, tensor.shape) == ("int32", (1, 16))
    assert len(file.subgraphs) == 1


@pytest.mark.parametrize("recipe", ["float32", "static_wi8_ai8"])
def test_a_resizable_file_leaves_the_length_open(converted, recipe):
    name = "trained" if recipe == "float32" else "static_model"
    file = ModelFile.read(converted(name, recipe, "resizable").content)
    assert all(file.subgraphs[0].tensors[i].shape == (1, -1) for i in file.signatures[0].inputs.values())


class Graph:
    """Operators and tensors of a file with their quantization, read with the schema."""

    def __init__(self, content: bytes):
        from ai_edge_litert import schema_py_generated as schema

        self.names = {value: key for key, value in vars(schema.BuiltinOperator).items()}
        self.types = {value: key for key, value in vars(schema.TensorType).items()}
        self.model = schema.ModelT.InitFromPackedBuf(content, 0)
        self.graph = self.model.subgraphs[0]

    def operators(self, kind: str) -> list:
        def name(operator):
            code = self.model.operatorCodes[operator.opcodeIndex]
            return self.names[max(code.builtinCode, code.deprecatedBuiltinCode)]

        return [operator for operator in self.graph.operators if name(operator) == kind]

    def dtype(self, index: int) -> str:
        return self.types[self.graph.tensors[index].type]

    def scale(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        quantization = self.graph.tensors[index].quantization
        return np.asarray(quantization.scale), np.asarray(quantization.zeroPoint)

    def values(self, index: int) -> np.ndarray:
        """Returns the real values of an int8 constant."""
        tensor = self.graph.tensors[index]
        stored = np.frombuffer(np.asarray(self.model.buffers[tensor.buffer].data, np.uint8).tobytes(), np.int8)
        scale, zero = self.scale(index)
        axis = [1] * len(tensor.shape)
        axis[tensor.quantization.quantizedDimension] = -1
        return (stored.reshape(tensor.shape).astype(np.float64) - zero.reshape(axis)) * scale.reshape(axis)


def grid(model, dense) -> np.ndarray:
    """Returns a kernel `(out, in)` as training emulated it; the query's has the scale of attention."""
    scales = {attention.query.path: attention.scale for attention in sublayers(model, SelfAttention)}
    return dense.kernel_quantizer(dense.served_kernel()).numpy().T * scales.get(dense.path, 1.0)


def _on_one_grid(steps: np.ndarray) -> bool:
    """Returns whether differences in LSBs are rounding alone: a weight in the middle may be rounded either way."""
    return steps.max() < 1.001 and (steps > 1e-3).sum() <= 2


def matched(model, graph: Graph) -> list:
    """Pairs every served Dense layer with the operator that has its kernel."""
    operators = {operator: graph.values(operator.inputs[1]) for operator in graph.operators("FULLY_CONNECTED")}
    pairs = []
    for dense in dense_layers(model):
        if dense.path in model.unserved:
            continue
        expected = grid(model, dense)
        step = np.abs(expected).max() / 127
        near = [
            operator
            for operator, values in operators.items()
            if values.shape == expected.shape and _on_one_grid(np.abs(values - expected) / step)
        ]
        assert len(near) == 1, dense.path
        pairs.append((dense, near[0]))
        del operators[near[0]]
    assert not operators
    return pairs


@pytest.mark.parametrize("name", QUANTIZED)
def test_kernels_have_the_scales_of_training(request, converted, name):
    model, graph = request.getfixturevalue(name), Graph(converted(name, QUANTIZED[name]).content)
    for dense, operator in matched(model, graph):
        scale, zero = graph.scale(operator.inputs[1])
        assert graph.dtype(operator.inputs[1]) == "INT8" and len(scale) == dense.units and not zero.any()


@pytest.mark.parametrize(("name", "length"), [case for case in FIXED_AND_RESIZABLE if case[0].startswith("static")])
def test_activations_have_the_trained_ranges(request, converted, name, length):
    model, graph = request.getfixturevalue(name), Graph(converted(name, "static_wi8_ai8", length).content)
    scales = {attention.query.path: attention.scale for attention in sublayers(model, SelfAttention)}
    static = 0
    for dense, operator in matched(model, graph):
        for point, tensor, factor in (
            (dense.input_quantizer, operator.inputs[0], 1.0),
            (dense.output_quantizer, operator.outputs[0], scales.get(dense.path, 1.0)),
        ):
            if dense.input_quantizer.kind != "static":
                assert graph.dtype(tensor) == "FLOAT32", dense.path
                continue
            static += 1
            step = float(point.scale) * factor
            (scale,), (zero,) = graph.scale(tensor)
            assert graph.dtype(tensor) == "INT8", dense.path
            assert scale == pytest.approx(step, rel=1e-4), dense.path
            assert zero == np.clip(-128 - np.round(float(point.minimum) * factor / step), -128, 127), dense.path
    assert static >= 2 * 4 * 2


@pytest.mark.parametrize("name", ["dynamic_model", "dynamic_vectors"])
def test_dynamic_dense_layers_have_float_inputs_and_outputs(converted, name):
    graph = Graph(converted(name, "dynamic_wi8_afp32").content)
    for operator in graph.operators("FULLY_CONNECTED"):
        assert graph.dtype(operator.inputs[0]) == graph.dtype(operator.outputs[0]) == "FLOAT32"
        assert graph.dtype(operator.inputs[1]) == "INT8"


@pytest.mark.parametrize(("name", "length"), FIXED_AND_RESIZABLE)
def test_token_embeddings_are_symmetric_int8_and_other_tables_float(request, converted, name, length):
    model, graph = request.getfixturevalue(name), Graph(converted(name, QUANTIZED[name], length).content)
    expected = {table.table.shape[0]: table for table in sublayers(model, EmbeddingTable)}
    found = {graph.graph.tensors[op.inputs[0]].shape[0]: op.inputs[0] for op in graph.operators("GATHER")}
    assert len(found) == (3 if length else 2)  # a file of fixed length holds its positions as a constant
    for rows, tensor in found.items():
        table = expected[rows]
        assert graph.dtype(tensor) == ("INT8" if table.quantized else "FLOAT32"), table.path
        if table.quantized:
            scale, zero = graph.scale(tensor)
            assert len(scale) == 1 and list(zero) == [0]
            np.testing.assert_allclose(graph.values(tensor), table.served_table(), atol=1e-3 * scale[0])
    assert model.encoder.embeddings.word.quantized


@pytest.mark.long
def test_files_with_fewer_bits_are_smaller(converted):
    sizes = [len(converted("trained", recipe).content) for recipe in ("float32", "float16", "dynamic_wi8_afp32")]
    assert sizes == sorted(sizes, reverse=True)


# -- metadata and saving ----------------------------------------------------------------------------------------------------------------


def test_metadata_is_in_the_file_and_in_the_sidecar(converted, static_model, tmp_path):
    result = converted("static_model", "static_wi8_ai8")
    path = result.save(tmp_path / "model.tflite")
    card = metadata.read(path)
    assert card == result.metadata and path.read_bytes() == result.content
    assert (card.task, card.recipe, card.target, card.sequence_length) == (
        "TextClassifier",
        "static_wi8_ai8",
        "cpu",
        16,
    )
    assert card.labels == static_model.labels and card.vocabulary == static_model.tokenizer.vocabulary
    assert card.parameters == sum(int(np.prod(v.shape)) for v in static_model.trainable_variables)
    from kerasbert.text import WordPiece

    tokenizer = WordPiece.from_config({**card.tokenizer, "vocabulary": list(card.vocabulary)})
    text = ["The film was GOOD, lovely!"]
    assert tokenizer.encode(text, max_length=16).input_ids == static_model.encode(text).input_ids
    sidecar = json.loads((tmp_path / "model.tflite.json").read_text("utf-8"))
    assert sidecar["labels"] == list(static_model.labels) and sidecar["file"]["bytes"] == len(result.content)
    assert metadata.read(converted("static_model", "static_wi8_ai8", "resizable").content).sequence_length is None


def test_a_failed_save_leaves_no_half_written_file(converted, tmp_path, monkeypatch):
    result, write = converted("trained", "float32"), Path.write_bytes

    def full_disk(path, data):
        write(path, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    earlier = converted("trained", "float16").content
    (tmp_path / "old.tflite").write_bytes(earlier)
    monkeypatch.setattr(Path, "write_bytes", full_disk)
    for name in ("old", "new"):
        with pytest.raises(OSError, match="No space"):
            result.save(tmp_path / f"{name}.tflite")
    assert [path.name for path in tmp_path.iterdir()] == ["old.tflite"]
    assert (tmp_path / "old.tflite").read_bytes() == earlier


@pytest.mark.parametrize("name", ["model.tflite", "model.tflite.json"])
def test_files_of_other_programs_are_not_replaced(converted, tmp_path, name):
    result = converted("trained", "float32")
    (tmp_path / "model.json").write_text("my questions")
    (tmp_path / name).write_text("my questions")
    with pytest.raises(KerasBertError, match=f"one that kerasbert wrote, received .*{name}'"):
        result.save(tmp_path / "model.tflite")
    assert len(list(tmp_path.iterdir())) == 2 and (tmp_path / name).read_text() == "my questions"
    (tmp_path / name).unlink()
    for _ in range(2):  # it replaces its own files
        result.save(tmp_path / "model.tflite")
    assert (tmp_path / "model.json").read_text() == "my questions"


@pytest.mark.long
def test_converting_does_not_change_the_model(static_model, converted, packed):
    before = serve(static_model, packed)
    weights = [v.numpy().copy() for v in static_model.variables]
    converted("static_model", "static_wi8_ai8")
    assert all(np.array_equal(a, b) for a, b in zip(weights, static_model.variables, strict=True))
    np.testing.assert_array_equal(serve(static_model, packed), before)
    assert not any(point.observer for point in activation_quantizers(static_model))


# -- invalid arguments ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("trained", {"recipe": "int4"}, "float32.*'int4'"),
        ("trained", {"target": "tpu"}, "cpu.*'tpu'"),
        ("trained", {"recipe": "float32", "length": 33}, "3 to 32.*33"),
        ("trained", {"recipe": "float32", "length": 2}, "3 to 32.*2"),
        ("trained", {"recipe": "float32", "length": "long"}, "resizable.*'long'"),
        ("trained", {"recipe": "float32", "length": 8.0}, "8.0"),
        ("trained", {"recipe": "static_wi8_ai8"}, "ranges.*calibration"),
        ("static_model", {"recipe": "dynamic_wi8_afp32"}, "'static_wi8_ai8'.*'dynamic_wi8_afp32'"),
        ("dynamic_model", {"recipe": "static_wi8_ai8"}, "'dynamic_wi8_afp32'.*'static_wi8_ai8'"),
    ],
)
def test_invalid_arguments_are_refused_in_one_line(request, name, arguments, message):
    with pytest.raises(KerasBertError, match=message) as error:
        convert(request.getfixturevalue(name), **arguments)
    assert "\n" not in str(error.value)
