"""4 or 8 bits by the Hessian: against its exact entries, which kernels get 8 bits, and what the file holds."""

from dataclasses import replace

import numpy as np
import pytest
import tensorflow as tf

import kerasbert as kb
from kerasbert.compression import choose_bits, quantize
from kerasbert.compression.quantization.hessian import curvatures
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.model import decode, encode
from kerasbert.export.tflite.model_file import ModelFile
from kerasbert.tasks import SentenceEncoder


@pytest.fixture(scope="module")
def model(tiny):
    """A task whose weights are away from where they start."""
    model, draw = tiny.narrow(), np.random.default_rng(7)
    for variable in model.variables_by_path().values():
        variable.assign(variable + draw.normal(0, 0.3, variable.shape))
    return model


@pytest.fixture(scope="module")
def choice(model, tiny):
    return choose_bits(model, tiny.rows(24), average_bits=6, parts=2)


def exact_hessian(model, texts, labels, kernel) -> np.ndarray:
    """Derivatives of the gradient by differences, one weight after the other."""
    loss, (inputs, targets) = model.default_loss(), next(iter(model.dataset(texts, labels, batch_size=len(texts))))
    first, rows = kernel.numpy(), []

    def slope(values):
        kernel.assign(values.reshape(first.shape))
        with tf.GradientTape() as tape:
            value = loss(targets, model(inputs, training=False))
        return tf.convert_to_tensor(tape.gradient(value, kernel)).numpy().ravel()

    for place in range(first.size):
        step = np.zeros(first.size, np.float32)
        step[place] = 1e-2
        rows.append((slope(first.ravel() + step) - slope(first.ravel() - step)) / 2e-2)
    kernel.assign(first)
    return np.array(rows)


@pytest.mark.long
def test_trace_and_largest_eigenvalue_are_those_of_the_exact_hessian(model, tiny, monkeypatch):
    texts, labels = tiny.rows(6)
    kernel = model.classifier.dense.kernel if hasattr(model.classifier, "dense") else model.classifier.kernel
    hessian = exact_hessian(model, texts, labels, kernel)
    values = np.linalg.eigvalsh((hessian + hessian.T) / 2)
    groups, data = {"classifier": [kernel]}, (texts, labels)
    largest = curvatures(model, groups, data, "eigenvalue", parts=1)["classifier"]
    assert largest.shape == (1,) and largest[0] == pytest.approx(values[np.abs(values).argmax()], rel=0.05)
    monkeypatch.setattr("kerasbert.compression.quantization.hessian._DRAWS", 150)
    trace = curvatures(model, groups, data, parts=1)["classifier"]
    assert trace[0] == pytest.approx(values.mean(), rel=0.15)


def test_sensitive_kernels_have_8_bits_within_the_mean(choice):
    kernels = choice.kernels
    total = sum(kernel.weights for kernel in kernels)
    assert (
        choice.average_bits == pytest.approx(sum(k.bits * k.weights for k in kernels) / total)
        and choice.average_bits <= 6
    )
    order = sorted(kernels, key=lambda kernel: -kernel.cost / kernel.weights)
    assert order[0].bits == 8 and {kernel.bits for kernel in kernels} == {4, 8}
    left = (6 - choice.average_bits) / 4 * total
    assert all(kernel.weights > left for kernel in kernels if kernel.bits == 4)  # nothing more fits
    assert all(k.cost == pytest.approx((abs(k.mean) + k.deviation) * k.error / 2) for k in kernels)


@pytest.mark.long
def test_the_choice_is_repeatable_and_has_both_ends(model, tiny, choice):
    data = tiny.rows(24)
    assert choose_bits(model, data, average_bits=6, parts=2) == choice
    ends = [choose_bits(model, data, bits, parts=1, rows=4).policy.kernel_rules for bits in (4, 8)]
    assert ends[0] is None and len(ends[1]) == len(choice.kernels)


@pytest.mark.long
def test_eigenvalues_are_found_for_whole_layers(model, tiny):
    found = choose_bits(model, tiny.rows(4), 8, "eigenvalue", parts=1, rows=4)
    assert [kernel.path for kernel in found.kernels] == ["layers.0", "pooler", "classifier"]
    assert len(found.policy.kernel_rules) == 8


@pytest.mark.long
def test_training_and_file_have_the_chosen_bits(model, tiny, choice, tmp_path):
    texts = tiny.rows(8)[0]
    mixed = quantize(model, choice.policy)
    mixed.save_pretrained(tmp_path / "m")
    loaded = kb.load_task(tmp_path / "m")
    assert loaded.policy == choice.policy
    bits = {kernel.path: kernel.bits for kernel in choice.kernels}
    for path in ("layers.0.attention.query", "layers.0.feed_forward.output_dense"):
        dense = (
            loaded.encoder.layers[0].attention.query
            if "query" in path
            else loaded.encoder.layers[0].feed_forward.output_dense
        )
        values = dense.kernel_quantizer(dense.kernel).numpy()
        levels = np.abs(values / (np.abs(values).max(axis=0) / (2 ** (bits[path] - 1) - 1)))
        np.testing.assert_allclose(levels, levels.round(), atol=1e-3)
    file = kb.export.convert(loaded)
    stored = [
        t.dtype
        for graph in file.subgraphs
        for t in graph.tensors
        if t.constant and t.dtype in ("int4", "int8") and t.elements > 1
    ]
    assert sorted(stored) == sorted([*("int4" if b == 4 else "int8" for b in bits.values()), "int8"])  # and the table
    path = file.save(tmp_path / "m.tflite")
    found = [list(each["probabilities"].values()) for each in kb.open(path).predictions(texts)]
    expected = [list(each["probabilities"].values()) for each in loaded.predictions(texts)]
    np.testing.assert_allclose(found, expected, atol=0.03)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"average_bits": 3}, "expected a mean of 4 to 8 bits, received 3; choose one of these"),
        ({"average_bits": "6"}, "expected a mean of 4 to 8 bits, received '6'"),
        ({"measure": "norm"}, "expected a measure of .*trace.*, received 'norm'"),
        ({"parts": 0}, "expected parts of at least 1|expected parts .*received 0"),
        ({"parts": 9}, "expected at least an example for each of 9 parts, received 4; give more"),
        ({"data": ["a film"]}, r"expected \(examples, labels\) or a table with labels as `data=`"),
        ({"data": None}, "expected labelled examples: .*`data=`"),
        ({"data": (["a film"] * 4, None)}, "expected labels beside the examples"),
        ({"data": ([" "] * 4, ["negative"] * 4)}, "expected texts in words that the model's tokenizer knows to find the Hessian"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(model, tiny, arguments, message):
    with pytest.raises(KerasBertError, match=message):
        choose_bits(model, **{"data": tiny.rows(4), **arguments})


def test_quantized_and_unlabelled_models_and_wrong_rules_are_refused(model, tiny, choice):
    with pytest.raises(KerasBertError, match="expected a task in float for the Hessian of its loss"):
        choose_bits(quantize(model, choice.policy), tiny.rows(4))
    policy = kb.compression.POLICIES["dynamic_wi4_afp32"]
    with pytest.raises(KerasBertError, match="expected kernel_rules with 4 or 8 bits, received"):
        replace(policy, kernel_rules=(("*", 3),))
    with pytest.raises(
        KerasBertError, match="expected a pattern of kernel_rules that matches a kernel, such as .*'layer.0.*'"
    ):
        quantize(model, replace(policy, kernel_rules=(("layer.0.*", 8),)))
    with pytest.raises(KerasBertError, match="expected kernel_rules in a policy for a recipe with dynamic ranges"):
        quantize(model, replace(kb.compression.POLICIES["static_wi8_ai8"], kernel_rules=(("*", 4),)), calibration=["a"])


@pytest.mark.long
def test_sentence_encoders_are_measured_on_pairs(tiny):
    encoder = SentenceEncoder(tiny.narrow().encoder, tiny.tokenizer(), sequence_length=16)
    texts = tiny.rows(4)[0]
    found = choose_bits(encoder, ((texts, texts[::-1]), [0.1, 0.9, 0.9, 0.1]), parts=1, rows=4)
    assert all(np.isfinite(kernel.cost) for kernel in found.kernels)


def check_damaged_scales_are_refused(path) -> None:
    content = path.read_bytes()
    for values, message in [
        ({"scales": 9999}, "scales in tensor 9999 of"),
        ({"scales": 0}, "scales of .* in blocks of 32"),
        ({"blockSize": 0}, "scales of blocks of 0 values"),
        ({"blockSize": 48}, "scales of blocks of 48 values"),
    ]:
        model = decode(content)
        damaged = next(
            t.quantization.details for t in model.subgraphs[0].tensors if t.quantization and t.quantization.details
        )
        vars(damaged).update(values)
        with pytest.raises(KerasBertError, match=message):
            ModelFile.read(bytes(encode(model)))


@pytest.mark.long
def test_blocks_of_inputs_have_scales_of_their_own_in_training_and_file(tiny, tmp_path):
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    model, texts = tiny.classifier(sizes=sizes), tiny.rows(8)[0]
    policy = replace(
        kb.compression.POLICIES["dynamic_wi4_afp32"], kernel_block=32, kernel_rules=(("pooler.kernel", 8),)
    )
    mixed, whole = quantize(model, policy), quantize(model, "dynamic_wi4_afp32")
    errors = []
    for task in (mixed, whole):
        dense = task.encoder.layers[0].feed_forward.output_dense
        errors.append(float(tf.norm(dense.kernel_quantizer(dense.kernel) - dense.kernel)))
    assert errors[0] < errors[1]  # a channel has two scales
    file = kb.export.convert(mixed)
    blocks = [
        tensor
        for graph in file.subgraphs
        for tensor in graph.tensors
        if tensor.quantization and tensor.quantization.block
    ]
    assert len(blocks) == 7 and {tensor.dtype for tensor in blocks} == {"int4"}
    path = file.save(tmp_path / "m.tflite")
    check_damaged_scales_are_refused(path)
    found = [list(each["probabilities"].values()) for each in kb.open(path).predictions(texts)]
    expected = [list(each["probabilities"].values()) for each in mixed.predictions(texts)]
    np.testing.assert_allclose(found, expected, atol=0.01)
    with pytest.raises(
        KerasBertError, match="expected kernel_block in a policy for dynamic_wi4_afp32, received 'weight_only_wi8'"
    ):
        quantize(model, replace(kb.compression.POLICIES["weight_only_wi8"], kernel_block=32))
    with pytest.raises(KerasBertError, match="expected kernel_block as one of 32, 64, 128, 256, received 16"):
        replace(policy, kernel_block=16)


@pytest.mark.long
def test_long_sentences_that_have_several_rows_count_once(tiny):
    tagger = kb.TokenTagger(tiny.encoder(num_hidden_layers=1), tiny.tokenizer(), labels=["O", "B-X"], sequence_length=8)
    sentences = [(["we", "saw", "it"] * length, ["O", "O", "B-X"] * length) for length in (1, 5, 2, 6)]
    data = [words for words, _ in sentences], [tags for _, tags in sentences]
    kernels = {"head": [tagger.variables_by_path()["token_classifier.kernel"]]}
    found = curvatures(tagger, kernels, data, parts=4, rows=4)["head"]
    assert found.shape == (4,) and np.isfinite(found).all()
    with pytest.raises(KerasBertError, match="each of 5 parts, received 4"):
        curvatures(tagger, kernels, data, parts=5)
