"""Token embeddings of 4 bits: what training computes is what the file computes, in half the bytes of 8 bits."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.compression import POLICIES, quantize
from kerasbert.encoders import AlbertConfig, AlbertEncoder
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.model import decode, operator_kinds
from kerasbert.layers.quantization.fake_quant import row_fake_quant

EXACT = replace(POLICIES["weight_only_wi8"], table_bits=4)  # nothing else depends on the inputs


def make(name: str, tiny):
    if name == "mobilebert":  # its table is narrower than the layers
        return tiny.mobilebert(hidden_act="relu")
    if name == "albert":
        encoder = AlbertEncoder(AlbertConfig(**tiny.sizes, embedding_size=16))
        return kb.TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length)
    return tiny.classifier()


def probabilities(task, texts) -> np.ndarray:
    return np.array([list(each["probabilities"].values()) for each in task.predictions(texts)])


def lookups(content: bytes) -> list:
    """The tables that operators of EMBEDDING_LOOKUP read, a tensor each."""
    model = decode(content)
    kinds = operator_kinds(model)
    return [
        graph.tensors[operator.inputs[1]]
        for graph in model.subgraphs
        for operator in graph.operators
        if kinds[operator.opcodeIndex] == "EMBEDDING_LOOKUP"
    ]


@pytest.mark.long_cases
@pytest.mark.parametrize(("name", "length"), [("bert", (8, 16)), ("albert", 16), ("mobilebert", "resizable")])
def test_a_file_computes_what_the_model_computes(name, length, tiny, tmp_path):
    quantized, texts = quantize(make(name, tiny), EXACT), tiny.rows(6, seed=3)[0]
    file = kb.export.convert(quantized, length=length)
    opened = kb.open(file.save(tmp_path / "m.tflite"))
    np.testing.assert_allclose(probabilities(opened, texts), probabilities(quantized, texts), atol=1e-4)
    tables = lookups(file.content)
    rows, width = quantized.encoder.embeddings.word.table.shape
    assert len(tables) == (2 if length == (8, 16) else 1) and len({table.buffer for table in tables}) == 1
    assert tuple(tables[0].shape) == (rows, width) and len(tables[0].quantization.scale) == rows
    assert len(decode(file.content).buffers[tables[0].buffer].data) == rows * width // 2


def test_a_trained_model_is_saved_with_its_bits(tiny, tmp_path):
    policy, (texts, labels) = replace(POLICIES["dynamic_wi8_afp32"], table_bits=4), tiny.rows(32)
    model = quantize(tiny.classifier(), policy)
    before = model.encoder.embeddings.word.table.numpy()
    model.compile(kb.adamw(1e-3))
    model.fit(texts, labels, epochs=1, batch_size=8, verbose=0)
    assert np.abs(model.encoder.embeddings.word.table.numpy() - before).max() > 0
    model.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    assert loaded.policy == policy
    np.testing.assert_allclose(probabilities(loaded, texts), probabilities(model, texts), atol=1e-5)
    assert len(lookups(kb.export.convert(loaded).content)) == 1


def test_a_tied_decoder_reads_the_same_bytes(tiny):
    model = quantize(kb.MaskedLM(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length), EXACT)
    file = kb.export.convert(model)
    (table,) = lookups(file.content)
    content = decode(file.content)
    kinds, graph = operator_kinds(content), content.subgraphs[0]
    decoders = [
        graph.tensors[each.inputs[1]]
        for each in graph.operators
        if kinds[each.opcodeIndex] == "FULLY_CONNECTED" and graph.tensors[each.inputs[1]].buffer == table.buffer
    ]
    assert len(decoders) == 1
    np.testing.assert_array_equal(decoders[0].quantization.scale, table.quantization.scale)


def test_rows_are_rounded_to_15_values_with_the_scale_of_least_error():
    rows = tf.constant(np.random.default_rng(1).normal(size=(50, 64)), tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(rows)
        rounded = row_fake_quant(rows, 4)
    np.testing.assert_array_equal(tape.gradient(rounded, rows), np.ones((50, 64)))
    for row, values in zip(rows.numpy(), rounded.numpy(), strict=True):
        scale = np.abs(values).max() / 7
        np.testing.assert_allclose(values / scale, np.round(values / scale), atol=1e-4)
        widest = np.abs(row).max() / 7
        assert np.square(values - row).sum() <= np.square(np.round(row / widest) * widest - row).sum() * (1 + 1e-6)
    assert np.abs(rounded).max() < np.abs(rows).max()  # some are clipped
    np.testing.assert_allclose(row_fake_quant(rounded, 4), rounded, rtol=1e-5)
    np.testing.assert_array_equal(row_fake_quant(tf.zeros((2, 8)), 4), np.zeros((2, 8)))


@pytest.mark.parametrize("target", ["gpu", "edge-tpu"])
def test_other_targets_refuse_them(target, tiny):
    model = quantize(tiny.classifier(), replace(POLICIES["dynamic_wi8_afp32"], table_bits=4))
    with pytest.raises(KerasBertError, match="expected the target 'cpu' or 'web' for token embeddings of 4 bits"):
        kb.export.convert(model, target=target)


def test_what_cannot_be_quantized_so_is_refused(tiny):
    with pytest.raises(KerasBertError, match="table_bits=4"):
        quantize(tiny.mobilebert(hidden_act="relu"), replace(kb.compression.INTEGER_ONLY, table_bits=4))
    with pytest.raises(KerasBertError, match="expected table_bits as one of 4, received 2"):
        replace(EXACT, table_bits=2)
    with pytest.raises(KerasBertError, match="expected table_bits as None for tables in float, received 4"):
        replace(EXACT, tables=False)
    with pytest.raises(KerasBertError, match="received --integer-only"):
        kb.compression.QuantizeConfig(table_bits=4, integer_only=True)


def test_an_older_runtime_refuses_the_file(tiny):
    model = quantize(tiny.classifier(), EXACT)
    with pytest.raises(KerasBertError, match="EMBEDDING_LOOKUP"):
        kb.export.convert(model, min_runtime="2.17")


def test_convert_takes_a_float_model(tiny):
    float_task = tiny.classifier()
    (table,) = lookups(kb.export.convert(float_task, "dynamic_wi8_afp32", table_bits=4).content)
    assert len(table.quantization.scale) == float_task.config.vocab_size
    for recipe in ("float32", "float16"):
        with pytest.raises(KerasBertError, match="expected a recipe with integers and floats for `table_bits=`"):
            kb.export.convert(float_task, recipe, table_bits=4)
    with pytest.raises(KerasBertError, match="received an integer-only file"):
        kb.export.convert(float_task, integer_only=True, calibration=["a"], table_bits=4)
    for wrong in (2, "4", True, 4.5):
        with pytest.raises(KerasBertError, match="expected `table_bits=` as 4"):
            kb.export.convert(float_task, table_bits=wrong)
    quantized = quantize(tiny.classifier(), "dynamic_wi8_afp32")
    with pytest.raises(KerasBertError, match="expected a float model for `table_bits=`"):
        kb.export.convert(quantized, table_bits=4)
