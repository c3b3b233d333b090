"""Split-K keeps the values, stores every kernel once, and reduces rounding errors in 16 bits."""

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.cli import main
from kerasbert.encoders import AlbertConfig, AlbertEncoder
from kerasbert.export.lowering.targets import target_named
from kerasbert.export.lowering.tracing import export_twin, float_model
from kerasbert.export.passes.context import PassContext
from kerasbert.export.passes.recipes import RECIPES
from kerasbert.export.passes.split_k import split_k_factor, split_k_fully_connected
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite.model import decode, encode, operator_kinds
from kerasbert.tasks import MaskedLM, TextClassifier

MODELS = ("bert", "albert", "mobilebert")


def _model(name: str, tiny):
    if name == "mobilebert":
        return tiny.mobilebert(hidden_act="relu", num_feedforward_networks=2)
    if name == "albert":  # blocks share their kernels
        encoder = AlbertEncoder(AlbertConfig(**tiny.sizes, embedding_size=16))
        return TextClassifier(encoder, tiny.tokenizer(), labels=tiny.labels, sequence_length=tiny.length)
    return tiny.classifier()


def _operators(content: bytes, kind: str) -> list:
    model = decode(content)
    kinds = operator_kinds(model)
    return [
        (model.subgraphs[0], operator)
        for operator in model.subgraphs[0].operators
        if kinds[operator.opcodeIndex] == kind
    ]


def _widths(content: bytes) -> list[int]:
    """Returns the number of products that each FULLY_CONNECTED adds up."""
    return [int(graph.tensors[each.inputs[1]].shape[1]) for graph, each in _operators(content, "FULLY_CONNECTED")]


def _answers(content: bytes, model, texts) -> np.ndarray:
    packed, opened = model.pack(texts), open_model(content, kernels="builtin", length=model.sequence_length)
    rows = [opened.run({name: values[row : row + 1] for name, values in packed.items()}) for row in range(len(texts))]
    return np.concatenate([next(iter(row.values())) for row in rows])


def test_the_factor_divides_channels_in_groups_of_four():
    assert [split_k_factor(channels) for channels in (384, 64, 48, 24, 16, 8, 4, 30)] == [8, 8, 4, 2, 4, 2, 1, 1]


@pytest.mark.long_cases("[bert")
@pytest.mark.parametrize(("name", "recipe"), [("bert", "float32"), ("mobilebert", "float32"), ("albert", "float16")])
def test_split_products_compute_the_same(name, recipe, tiny):
    model, texts = _model(name, tiny), tiny.rows(6, seed=3)[0]
    whole = kb.export.convert(model, recipe=recipe).content
    parts = kb.export.convert(model, recipe=recipe, target="gpu", split_k=True).content
    assert max(_widths(parts)) <= 12 and max(_widths(whole)) >= 32
    np.testing.assert_allclose(_answers(parts, model, texts), _answers(whole, model, texts), atol=2e-6)


@pytest.mark.long_cases("albert")
@pytest.mark.parametrize("name", MODELS)
def test_every_kernel_is_stored_once(name, tiny):
    content = decode(float_model(export_twin(_model(name, tiny)), target_named("gpu"), 8))

    def held() -> int:
        return sum(len(each.data) for each in content.buffers if each.data is not None)

    before = held()
    split_k_fully_connected(content, PassContext(RECIPES["float32"], split_k=True))
    assert before <= held() < 1.01 * before


@pytest.mark.long
def test_activation_and_bias_are_applied_once(tiny):
    model = _model("mobilebert", tiny)
    for path, variable in model.variables_by_path().items():
        if path.endswith("bias"):
            variable.assign_add(0.1 * np.ones(variable.shape))
    content = _gpu(model)
    denses, additions = ([each for _, each in _operators(content, kind)] for kind in ("FULLY_CONNECTED", "ADD"))
    assert not any(each.builtinOptions.fusedActivationFunction for each in denses)
    assert any(each.builtinOptions.fusedActivationFunction for each in additions)
    biased = [each for each in denses if len(each.inputs) > 2 and each.inputs[2] >= 0]
    assert 0 < len(biased) < len(denses) / 2
    np.testing.assert_allclose(*(_answers(each, model, tiny.rows(4)[0]) for each in (content, _cpu(model))), atol=2e-6)


@pytest.mark.long
def test_a_tied_decoder_stays_whole(tiny):
    """Its parts would be a second copy of the embedding table."""
    model = MaskedLM(tiny.encoder(pooler=False), tiny.tokenizer(), sequence_length=tiny.length)
    content = decode(_cpu(model))
    split_k_fully_connected(content, PassContext(RECIPES["float32"], split_k=True))
    shapes = [
        tuple(map(int, graph.tensors[each.inputs[1]].shape))
        for graph, each in _operators(encode(content), "FULLY_CONNECTED")
    ]
    decoder = (len(tiny.vocabulary), tiny.sizes["hidden_size"])
    assert decoder in shapes and max(shape[1] for shape in shapes if shape != decoder) <= 8


@pytest.mark.long
def test_kernels_of_8_bits_stay_whole(tiny):
    model = tiny.classifier()
    whole, parts = (
        kb.export.convert(
            model, calibration=tiny.rows(16)[0], recipe="static_wi8_ai8", target=target, split_k=split
        ).content
        for target, split in (("cpu", False), ("gpu", True))
    )
    assert sorted(_widths(parts)) == sorted(_widths(whole))


@pytest.mark.long
def test_products_are_split_only_on_request(tiny, capsys, tmp_path):
    model = tiny.narrow()
    found = [
        _widths(kb.export.convert(model, recipe="float32", target="gpu", split_k=split).content)
        for split in (False, True)
    ]
    assert found[0] == _widths(_cpu(model)) and len(found[1]) > len(found[0])
    out = tmp_path / "model.tflite"
    assert main(["convert", str(tmp_path / "none"), "--split-k", "-o", str(out)]) == 2
    assert "expected --target gpu for --split-k, received 'cpu'" in capsys.readouterr().err and not out.exists()


def test_split_sums_have_a_smaller_rounding_error():
    """Products are added one after the other in 16 bits, as on the accelerator."""
    draw = np.random.default_rng(0)
    x, kernel = (draw.normal(size=shape).astype(np.float16).astype(np.float32) for shape in ((64, 384), (384, 32)))

    def added(first: int, stop: int) -> np.ndarray:
        total = np.zeros((64, 32), np.float16)
        for place in range(first, stop):
            total = (total + x[:, place : place + 1] * kernel[place]).astype(np.float16)
        return total

    def error(parts: int) -> float:
        sums = [added(first, first + 384 // parts) for first in range(0, 384, 384 // parts)]
        while len(sums) > 1:
            sums = [one + other for one, other in zip(sums[::2], sums[1::2], strict=True)]
        return float(np.abs(sums[0] - x.astype(np.float64) @ kernel).mean())

    assert error(split_k_factor(384)) < 0.5 * error(1)


def _cpu(model) -> bytes:
    return kb.export.convert(model, recipe="float32").content


def _gpu(model) -> bytes:
    return kb.export.convert(model, recipe="float32", target="gpu", split_k=True).content
