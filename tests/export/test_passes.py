"""A conversion decodes a file once, runs the passes of its target over one model, and encodes it once."""

from dataclasses import replace

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.export.lowering import targets
from kerasbert.export.runtime.interpreters import open_model
from kerasbert.export.tflite import model as tflite_model


@pytest.fixture
def counts(monkeypatch):
    """Counts how often any module decodes and encodes files."""
    from kerasbert.export import conversion
    from kerasbert.export.lowering import lowered_model
    from kerasbert.export.passes import quantize

    seen = {"decode": 0, "encode": 0}

    def counted(name):
        original = getattr(tflite_model, name)

        def call(*arguments):
            seen[name] += 1
            return original(*arguments)

        return call

    for name in seen:
        call = counted(name)
        for module in (tflite_model, conversion, lowered_model, quantize):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, call)
    return seen


@pytest.mark.long_cases("static")
@pytest.mark.parametrize(
    ("recipe", "options", "expected"),
    [
        ("float32", {}, 1),
        ("float16", {"target": "gpu", "split_k": True}, 1),
        ("dynamic_wi8_afp32", {}, 2),  # ai-edge-quantizer takes and gives bytes
        ("static_wi8_ai8", {}, 2),
    ],
)
def test_a_conversion_decodes_and_encodes_once_around_the_quantizer(counts, tiny, recipe, options, expected):
    kb.export.convert(tiny.narrow(), recipe=recipe, calibration=tiny.rows(8)[0], **options)
    assert counts == {"decode": expected, "encode": expected}


@pytest.mark.long
def test_a_target_is_one_entry_with_its_own_passes(monkeypatch, tiny):
    ran = []
    mine = replace(
        targets.TARGETS["cpu"],
        name="mine",
        default_recipe="float32",
        passes=(lambda model, context: ran.append(context),),
    )
    monkeypatch.setitem(targets.TARGETS, "mine", mine)
    task, texts = tiny.narrow(), tiny.rows(1)[0]
    model = kb.export.convert(task, target="mine")
    assert model.metadata.target == "mine" and [context.recipe.name for context in ran] == ["float32"]
    runner = open_model(model.content, length=task.sequence_length)
    np.testing.assert_allclose(runner.run(task.pack(texts))["probabilities"], task.predict(texts), atol=1e-5)
