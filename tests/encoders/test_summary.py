"""`summary()` shows what a functional Keras model's shows."""

import re

import pytest

from kerasbert.compression import policy_named
from kerasbert.tasks import MaskedLM, MultipleChoice


def summary(model, **options) -> list[str]:
    lines = []
    model.summary(print_fn=lines.append, **options)
    return lines


def rows(lines: list[str]) -> dict[str, tuple[str, int]]:
    """Layer (type) -> output shape, parameters."""
    first = next(i for i, line in enumerate(lines) if line.startswith("---")) + 1
    cells = [re.split(r" {2,}", line.strip()) for line in lines[first : lines.index("", first)]]
    return {name: (shape, int(count.replace(",", ""))) for name, shape, count, *_ in cells}


def totals(lines: list[str]) -> list[int]:
    return [int(line.split()[-3].replace(",", "")) for line in lines if " params: " in line.lower()]


@pytest.fixture(scope="module")
def task(tiny):
    return tiny.narrow()


def test_shapes_and_parameters_are_the_layers_own(task):
    lines = summary(task)
    assert lines[0] == f'Model: "{task.name}"'
    found = rows(lines)
    assert found == {
        "encoder (BertEncoder)": ("(None, None, 8), (None, 8)", task.encoder.count_params()),
        "dropout (Dropout)": ("(None, 8)", 0),
        "classifier (Dense)": ("(None, 2)", 18),
    }
    assert totals(lines) == [task.count_params(), task.count_params(), 0]
    assert not re.search(r"unused|multiple", "\n".join(lines))


def test_an_encoder_has_a_summary(task):
    found = rows(summary(task.encoder))
    assert list(found) == ["embeddings (Embeddings)", "layers.0 (TransformerBlock)", "pooler (Dense)"]
    assert found["embeddings (Embeddings)"][0] == "(None, None, 8)"
    assert sum(count for _, count in found.values()) == task.encoder.count_params()


@pytest.mark.long
def test_a_quantized_model_counts_its_ranges(tiny):
    quantized = tiny.narrow(policy=policy_named("static_wi8_ai8"))
    lines = summary(quantized)
    total, trainable, fixed = totals(lines)
    assert sum(count for _, count in rows(lines).values()) == total == trainable + fixed and fixed > 0
    nested = summary(quantized, expand_nested=True)
    assert any("(StaticFakeQuant)" in line for line in nested)
    assert not re.search(r"unused|multiple", "\n".join(nested))


@pytest.mark.long
def test_options_are_those_of_keras(task):
    lines = summary(task, expand_nested=True, show_trainable=True)
    assert "    attention (SelfAttention)" in "\n".join(lines)
    assert all(line.endswith("yes") for line in lines if "(Dense)" in line)
    assert list(rows(summary(task, layer_range=["dropout", "classifier"]))) == [
        "dropout (Dropout)",
        "classifier (Dense)",
    ]
    assert max(map(len, summary(task, line_length=40))) <= 40


def test_a_summary_does_not_change_the_model(task):
    before = task.fingerprint(), set(vars(task.encoder)), task.dropout.state.numpy().tolist()
    summary(task)
    assert (task.fingerprint(), set(vars(task.encoder)), task.dropout.state.numpy().tolist()) == before


@pytest.mark.long
def test_summaries_of_other_inputs(tiny):
    assert (
        rows(summary(MultipleChoice(tiny.encoder(), sequence_length=16)))["choice_classifier (Dense)"][0] == "(None, 1)"
    )
    words = rows(summary(MaskedLM(tiny.encoder(pooler=False), sequence_length=16)))
    assert words["masked_lm (MaskedLMHead)"][0] == f"(None, None, {tiny.encoder().config.vocab_size})"


def test_a_model_is_shown_in_one_line(tiny, dynamic_model):
    task = tiny.narrow()
    assert repr(task.encoder) == "BertEncoder(1 layer, hidden size 8, 40 tokens)"
    count = f"{task.count_params():,}"
    assert (
        repr(task)
        == str(task)
        == (f"TextClassifier({task.encoder!r}; labels ['negative', 'positive']; 16 tokens a row; {count} parameters)")
    )
    assert "40 tokens, dynamic_wi8_afp32); labels" in repr(dynamic_model)
    many = tiny.narrow(labels=[f"label {number}" for number in range(9)])
    assert "; 9 labels; " in repr(many)
