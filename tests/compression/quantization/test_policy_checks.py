from dataclasses import replace

import pytest

from kerasbert.compression import INTEGER_ONLY, POLICIES, QuantizationPolicy, quantize
from kerasbert.errors import KerasBertError

STATIC = POLICIES["static_wi8_ai8"]


@pytest.fixture(scope="module")
def model(tiny):
    return tiny.narrow()


def with_rules(*rules: tuple[str, str]) -> QuantizationPolicy:
    return replace(STATIC, activations=(*rules, *STATIC.activations))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            with_rules(("layer.0.atention.input", "float")),
            "received 'layer.0.atention.input'; did you mean 'layers.0.attention.input'",
        ),
        (with_rules(("layers.3.*", "float")), r"matches an activation of the model, received 'layers\.3\.\*'"),
        (with_rules(("zzz", "float")), "received 'zzz'; the first is '"),
        (replace(STATIC, equalized=("*.feed_forward.inptu",)), "did you mean 'layers.0.feed_forward.input'"),
        (
            replace(STATIC, activations=(*STATIC.activations, ("pooler.input", "float"))),
            "behind others that match all of its",
        ),
        (with_rules(("*.attention.masked_scores", "static")), "only integer-only models quantize"),
        (with_rules(("*.query.output", "float")), r"layers\.0\.attention\.query: .*one side"),
    ],
)
@pytest.mark.long_cases
def test_rules_without_effect_are_refused(model, policy, message):
    with pytest.raises(KerasBertError, match=message) as error:
        quantize(model, policy, calibration=["good film", "bad song"])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (QuantizationPolicy("mine"), "static_wi8_ai8.*received 'mine'"),
        (QuantizationPolicy("dynamic_wi8_afp32", kernel_bits=4), "kernels of 8 bits .*received 4"),
        (QuantizationPolicy("dynamic_wi4_afp32"), "kernels of 4 bits .*received 8"),
        (replace(STATIC, activation_bits=16), "activations of 8 bits .*received 16"),
        (
            QuantizationPolicy("dynamic_wi8_afp32", activations=(("*", "static"),)),
            "dynamic or float .*received 'static'",
        ),
        (QuantizationPolicy("weight_only_wi8", activations=(("*", "dynamic"),)), "are float .*received 'dynamic'"),
    ],
)
def test_policies_that_no_file_can_compute_are_refused(model, policy, message):
    with pytest.raises(KerasBertError, match=message):
        quantize(model, policy, calibration=["good film", "bad song"])


@pytest.mark.long
def test_common_rules_may_match_nothing(model):
    """The static policy has rules for adapters, which this model lacks; a rule before them replaces theirs."""
    policy = with_rules(("classifier.input", "static"), ("classifier.output", "static"))
    assert quantize(model, policy, calibration=["good film", "bad song"]).policy == policy
    assert quantize(model, INTEGER_ONLY, calibration=["good film", "bad song"]).policy == INTEGER_ONLY
