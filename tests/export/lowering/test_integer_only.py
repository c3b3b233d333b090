"""Integer-only files: their operators, their outputs, and unsupported options."""

import json
from collections import Counter

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.errors import KerasBertError
from kerasbert.export.conversion import convert
from kerasbert.export.measurement.inspection import inspect
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite import metadata
from kerasbert.export.tflite.model import decode, encode, operator_kinds
from kerasbert.layers.blocks.transformer_block import SelfAttention
from kerasbert.layers.quantization.padding import INTEGER_MASK
from kerasbert.layers.traversal import dense_layers, sublayers

INTEGERS = {"INT8", "INT32"}
LONG = pytest.param("mobilebert_trained", marks=pytest.mark.long)
MADE = ["mobilebert", LONG, "bert_trained"]


def trained_in_integers(tiny, model):
    """Returns the model after integer-only quantization-aware training."""
    texts, labels = tiny.rows(128, seed=1)
    model = kb.compression.quantize(model, "static_wi8_ai8", calibration=texts[:64], integer_only=True)
    model.compile(kb.adamw(1e-3), run_eagerly=True)  # a few steps take less than tracing one
    model.fit(texts, labels, seed=0, verbose=0)
    return model


def with_file(model):
    return model, convert(model)


class Made(dict):
    """Values that functions make when they are first needed."""

    def __init__(self, **makers):
        self.makers = makers

    def __missing__(self, name):
        self[name] = self.makers[name]()
        return self[name]


@pytest.fixture(scope="module")
def calibration(tiny):
    return tiny.rows(64, seed=1)[0]


@pytest.fixture(scope="module")
def made(tiny, learned_mobilebert, trained, calibration):
    """Models and files by name: a calibrated MobileBERT, a trained one, and a trained BERT; each is made when it is first needed."""
    return Made(
        mobilebert=lambda: (
            learned_mobilebert,
            convert(learned_mobilebert, recipe="static_wi8_ai8", integer_only=True, calibration=calibration),
        ),
        mobilebert_trained=lambda: with_file(trained_in_integers(tiny, learned_mobilebert)),
        bert_trained=lambda: with_file(trained_in_integers(tiny, trained)),
    )


@pytest.fixture(scope="module")
def resizable(learned_mobilebert, calibration):
    """A resizable file."""
    return convert(learned_mobilebert, length="resizable", integer_only=True, calibration=calibration).content


@pytest.fixture(scope="module")
def shallow(tiny):
    """An untrained MobileBERT of one layer, for tests that do not depend on depth."""
    return tiny.mobilebert(num_hidden_layers=1, num_feedforward_networks=1)


def run(content: bytes, packed: dict, kernels: str = "xnnpack") -> np.ndarray:
    model = open_model(content, kernels=kernels, length=packed["input_ids"].shape[1])
    rows = range(len(packed["input_ids"]))
    return np.concatenate([model.run({k: v[i : i + 1] for k, v in packed.items()})["probabilities"] for i in rows])


def dtypes(content: bytes) -> list[tuple[str, list[str]]]:
    """Returns the kind and the dtypes of all tensors of each operator."""
    from ai_edge_litert.schema_py_generated import TensorType

    names = {value: name for name, value in vars(TensorType).items()}
    model = decode(content)
    graph, kinds = model.subgraphs[0], operator_kinds(model)
    return [
        (kinds[op.opcodeIndex], [names[graph.tensors[i].type] for i in [*op.inputs, *op.outputs] if i >= 0])
        for op in graph.operators
    ]


@pytest.mark.long_cases
@pytest.mark.parametrize("name", MADE)
def test_no_operator_computes_in_float(made, name):
    content = made[name][1].content
    *between, (last, last_types) = dtypes(content)
    assert [entry for entry in between if not set(entry[1]) <= INTEGERS] == []
    assert (last, last_types) == ("DEQUANTIZE", ["INT8", "FLOAT32"])
    kinds = Counter(kind for kind, _ in between)
    assert kinds["FULLY_CONNECTED"] > 10 and kinds["SOFTMAX"] == 3 and "SQUARED_DIFFERENCE" not in kinds
    model = open_model(content)
    assert {port.dtype.name for port in model.inputs.values()} == {"int32"}
    assert {port.dtype.name for port in model.outputs.values()} == {"float32"}


@pytest.mark.parametrize("kernels", ["xnnpack", "reference"])
@pytest.mark.parametrize("name", MADE)
@pytest.mark.long_cases
def test_predictions_agree_with_the_keras_model(tiny, made, name, kernels):
    model, result = made[name]
    texts, labels = tiny.rows(120, seed=9)
    packed = model.pack(texts)
    expected = model.serve_numpy(packed)["probabilities"]
    decided = np.asarray(labels) == np.asarray(model.labels)[expected.argmax(1)]
    assert (
        decided.mean() > 0.85 and 0.3 < expected.argmax(1).mean() < 0.7
    )  # it has learned something, and predicts both classes
    found = run(result.content, packed, kernels)
    assert (found.argmax(1) == expected.argmax(1)).mean() > 0.95
    assert np.abs(found - expected).mean() < 0.03


@pytest.mark.parametrize("kernels", ["xnnpack", "reference"])
@pytest.mark.parametrize("length", [None, "resizable"])
@pytest.mark.long_cases
def test_padding_does_not_change_outputs(tiny, learned_mobilebert, resizable, made, length, kernels):
    """The padding right after a text stays, because MobileBERT's trigrams include it."""
    content = resizable if length else made["mobilebert"][1].content
    texts = [text for text in tiny.rows(60, seed=4)[0] if len(text.split()) <= 8][:20]
    packed = learned_mobilebert.pack(texts)
    ends = packed["attention_mask"].sum(1, keepdims=True)
    far = np.arange(tiny.length)[None, :] > ends
    ids = tiny.vocabulary.index("awful"), tiny.vocabulary.index("great")
    step = 1 / 256
    plain = run(content, packed, kernels)
    for word in ids:
        noisy = {**packed, "input_ids": np.where(far, word, packed["input_ids"]).astype(np.int32)}
        assert np.abs(run(content, noisy, kernels) - plain).max() <= 2 * step
        attended = {**noisy, "attention_mask": np.ones_like(noisy["attention_mask"])}
        if word == ids[0]:
            assert np.abs(run(content, attended, kernels) - plain).max() > 20 * step


@pytest.mark.parametrize("name", MADE)
def test_xnnpack_multiplies_queries_keys_and_values(made, name):
    content = made[name][1].content
    model = decode(content)
    graph, kinds = model.subgraphs[0], operator_kinds(model)
    products = [operator for operator in graph.operators if kinds[operator.opcodeIndex] == "BATCH_MATMUL"]
    second = [graph.tensors[product.inputs[1]] for product in products]
    # the others sum the squares of norms
    of_heads = [tensor for tensor in second if len(tensor.shape) == 4 and tensor.shape[1] == 4]
    assert len(of_heads) == 4  # two in each of two layers
    assert {int(tensor.quantization.zeroPoint[0]) for tensor in of_heads} == {0}
    assert open_model(content).ops_by_backend["xnnpack"]["BATCH_MATMUL"] == 4


@pytest.mark.parametrize("name", [LONG, "bert_trained"])
def test_tensors_have_the_trained_ranges(made, name):
    model, result = made[name]
    content = decode(result.content)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    found = set()
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED":
            sides = (graph.tensors[i].quantization for i in (operator.inputs[0], operator.outputs[0]))
            found.add(tuple(round(float(side.scale[0]), 7) for side in sides))
    queries = {attention.query.path: attention.scale for attention in sublayers(model, SelfAttention)}
    for dense in dense_layers(model):
        reads, writes = (
            float(dense.input_quantizer.scale),
            float(dense.output_quantizer.scale) * queries.get(dense.path, 1.0),
        )
        assert any(np.isclose(pair, (reads, writes), rtol=1e-3).all() for pair in found), (
            f"{dense.path}: no dense of the file has the steps {reads} and {writes}"
        )


def test_tables_and_kernels_are_symmetric(made):
    content = decode(made["mobilebert"][1].content)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    for operator in graph.operators:
        if kinds[operator.opcodeIndex] == "FULLY_CONNECTED":
            quantization = graph.tensors[operator.inputs[1]].quantization
            assert len(quantization.scale) == graph.tensors[operator.inputs[1]].shape[0]
            assert not np.any(quantization.zeroPoint)
    (word,) = [
        graph.tensors[op.inputs[0]]
        for op in graph.operators
        if kinds[op.opcodeIndex] == "GATHER" and graph.tensors[op.inputs[0]].shape[0] == 40
    ]
    bound = np.abs(made["mobilebert"][0].encoder.embeddings.word.table.numpy()).max()
    assert list(word.quantization.zeroPoint) == [0]
    assert word.quantization.scale[0] == pytest.approx(bound / 127, rel=1e-3)


@pytest.mark.long
def test_rows_without_padding_still_give_the_mask_a_range(shallow):
    """Without a range of the mask, padding would be attended."""
    full = shallow.pack([" ".join([word] * 20) for word in ("film", "book", "song", "end")])
    assert full["attention_mask"].all()
    content = decode(convert(shallow, integer_only=True, calibration=full).content)
    graph, kinds = content.subgraphs[0], operator_kinds(content)
    softmaxes = [op for op in graph.operators if kinds[op.opcodeIndex] == "SOFTMAX"]
    for operator in softmaxes[:-1]:  # the last is the classifier's
        quantization = graph.tensors[operator.inputs[0]].quantization
        lowest = (-128 - int(quantization.zeroPoint[0])) * float(quantization.scale[0])
        assert lowest < 0.9 * INTEGER_MASK


def test_metadata_and_inspection_name_it(made, tmp_path):
    path = made["mobilebert"][1].save(tmp_path / "model.tflite")
    card = metadata.read(path)
    assert card.recipe == "static_wi8_ai8" and card.integer_only is True
    assert json.loads((tmp_path / "model.tflite.json").read_text("utf-8"))["integer_only"] is True
    found = inspect(path)
    assert found.metadata["integer_only"] is True and found.mac_shares["static"] == 1.0
    assert found.quantized_parameter_share > 0.9


@pytest.mark.long
def test_converting_mobilebert_prints_nothing(shallow, calibration, capfd):
    convert(shallow, integer_only=True, calibration=calibration[:4], length=8)
    written = capfd.readouterr()
    assert (
        written.err.startswith("note: calibration on 4 examples") and written.err.count("\n") == 1 and not written.out
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "calibration texts .* received none"),
        ({"calibration": []}, "calibration texts .* received none"),
        ({"recipe": "dynamic_wi8_afp32", "calibration": ["film"]}, "'static_wi8_ai8'.*'dynamic_wi8_afp32'"),
        ({"recipe": "float32", "calibration": ["film"]}, "'static_wi8_ai8'.*'float32'"),
        ({"calibration": "film"}, "list of texts"),
    ],
)
@pytest.mark.long_cases
def test_invalid_arguments_are_refused_in_one_line(trained, arguments, message):
    with pytest.raises(KerasBertError, match=message) as error:
        convert(trained, integer_only=True, **arguments)
    assert "\n" not in str(error.value)


def test_a_model_of_another_policy_is_refused(dynamic_model, calibration):
    with pytest.raises(KerasBertError, match="'dynamic_wi8_afp32'.*'static_wi8_ai8'"):
        convert(dynamic_model, integer_only=True, calibration=calibration)


NARROW = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


@pytest.mark.long
def test_operators_that_stay_in_float_are_named(tiny, calibration):
    task = tiny.sentence_encoder(sizes=NARROW).with_policy(kb.compression.INTEGER_ONLY)
    kb.compression.calibrate(task, calibration[:4])
    with pytest.raises(KerasBertError, match="stay in float: .*RSQRT.*without integer_only"):
        convert(task)


@pytest.mark.long
def test_tasks_without_an_integer_form_are_refused_before_calibration(tiny, calibration):
    refused = [
        (kb.MaskedLM(tiny.encoder(**NARROW), tiny.tokenizer(), sequence_length=16), "word scores of its head"),
        (tiny.sentence_encoder(sizes=NARROW), "mean pooling and vectors of length 1"),
        (tiny.sentence_encoder(sizes=NARROW, pooling="cls"), "with vectors of length 1"),
        (tiny.sentence_encoder(sizes=NARROW, pooling="max", normalize=False), "with max pooling"),
    ]
    for task, part in refused:
        with pytest.raises(KerasBertError, match=f"{part}.*stays in float; quantize without integer_only"):
            kb.compression.quantize(task, calibration=calibration[:4], integer_only=True)
    with pytest.raises(KerasBertError, match="stays in float"):
        convert(refused[0][0], integer_only=True, calibration=calibration[:4])


@pytest.mark.long
def test_vectors_of_the_first_token_convert_to_integers(tiny, calibration):
    task = tiny.sentence_encoder(sizes=NARROW, pooling="cls", normalize=False)
    assert convert(task, integer_only=True, calibration=calibration[:4], length=8).metadata.integer_only


def test_decoding_and_encoding_keeps_the_bytes(made):
    content = made["mobilebert"][1].content
    again = encode(decode(content))
    assert dtypes(again) == dtypes(content) and len(again) <= len(content)


@pytest.mark.long
def test_the_command_converts_to_integers(shallow, tiny, tmp_path, capsys):
    shallow.save_pretrained(tmp_path / "model")
    (tmp_path / "texts.tsv").write_text("text\n" + "\n".join(tiny.rows(30)[0]) + "\n", "utf-8")
    out = tmp_path / "model.tflite"
    command = ["convert", str(tmp_path / "model"), "--integer-only", "-o", str(out)]
    assert main(command) == 2 and not out.exists()
    assert "calibration texts" in capsys.readouterr().err
    code = main([*command, "--calibration", str(tmp_path / "texts.tsv"), "--calibration-rows", "8", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert code == 0 and result["integer_only"] is True and result["recipe"] == "static_wi8_ai8"
    assert metadata.read(out).integer_only
