"""Quantization-aware training: the same task, with tfmot's quantizers at its named points."""

from dataclasses import replace

import numpy as np

from kerasbert.compression.calibration import calibrate
from kerasbert.encoders.base import activation_points
from kerasbert.errors import KerasBertError
from kerasbert.layers.policy import QuantizationPolicy

# Q8BERT (Zafrir et al. 2019): softmax, norms and GELU stay in float; the denses of attention and the pooler are int8 with trained ranges.
# The denses of the feed-forward network find their ranges at run time: one reads the few channels that are 10 to 30 times the median one,
# the other writes them, and one static range for such a tensor leaves the other channels a handful of values. The head's logits decide,
# and cost nothing. An adapter reads what a feed-forward network writes, and what it writes itself is near zero until it is trained.
_STATIC = (
    ("*.feed_forward.input", "dynamic"),
    ("*.feed_forward.intermediate.output", "float"),
    ("*.feed_forward.hidden", "dynamic"),
    ("*.feed_forward.output_dense.output", "float"),
    ("classifier.input", "dynamic"),
    ("classifier.output", "float"),
    ("*adapter.input", "dynamic"),
    ("*adapter.hidden", "dynamic"),
    ("*adapter.*.output", "float"),
    ("*", "static"),
)

# 16 bits hold outliers and the rest alike: every dense of the encoder is static. The head's logits decide, and cost nothing.
_STATIC_WIDE = (
    ("classifier.input", "dynamic"),
    ("classifier.output", "float"),
    ("*adapter.input", "dynamic"),
    ("*adapter.hidden", "dynamic"),
    ("*adapter.*.output", "float"),
    ("*", "static"),
)

# What the first feed-forward dense reads is scaled channel by channel, so that no channel is larger than this many median ones.
_EQUALIZED = ("*.feed_forward.input",)

# Every activation in 8 bits; the sums that blocks add to have outlier channels, which are scaled down.
INTEGER_ONLY = QuantizationPolicy(
    "static_wi8_ai8", activations=(("*", "static"),), equalized=("*stream",), integer_only=True
)

POLICIES = {
    "static_wi8_ai8": QuantizationPolicy("static_wi8_ai8", activations=_STATIC, equalized=_EQUALIZED),
    "static_wi8_ai16": QuantizationPolicy("static_wi8_ai16", activations=_STATIC_WIDE, activation_bits=16),
    "dynamic_wi8_afp32": QuantizationPolicy("dynamic_wi8_afp32"),
    "dynamic_wi4_afp32": QuantizationPolicy("dynamic_wi4_afp32", kernel_bits=4),
    "weight_only_wi8": QuantizationPolicy("weight_only_wi8"),
}


def quantize(
    model,
    recipe: str | QuantizationPolicy = "static_wi8_ai8",
    calibration=None,
    batch_size: int = 32,
    integer_only: bool = False,
    ranges: str = "min-max",
    learned_ranges: bool = False,
    dropout: float | None = 0.0,
):
    """The same class of task, weights copied, whose dense kernels, tables and activations are held in 8 bits while it trains.

    recipe: `static_wi8_ai8`, `static_wi8_ai16`, `dynamic_wi8_afp32`, `dynamic_wi4_afp32` or `weight_only_wi8` (the last three quantize
    weights only while training), or a policy of your own. calibration: texts (or anything `predict`
    takes) that set the first ranges of static points; a few hundred of the training texts will do. Then `compile` and `fit` as usual.
    integer_only: no activation stays in float, for processors that have none: norms, softmax, GELU and sums are in 8 bits too.
    ranges: how calibration finds them, see `calibrate`. learned_ranges: from there on gradients move them while training, with the weights
    (Bhalgat et al. 2020, LSQ+), and not a moving average of what is seen; see `kb.adamw` for their rate.
    dropout: of the training that follows; None: as the model has it. Without, since what is dropped and scaled up has other ranges than
    what the file will see, and a model that learns from its float self has nothing to overfit to.

    Raises KerasBertError for an unknown recipe, one that is not static and yet integer-only, an integer-only policy that leaves something
    in float, learned ranges of a recipe without any or of 16 bits, and when a static recipe gets no calibration data.
    """
    if isinstance(recipe, str):
        recipe = policy_named(recipe, integer_only, learned_ranges)
    elif wanting := [
        name
        for name, asked in (("integer_only", integer_only), ("learned_ranges", learned_ranges))
        if asked and not getattr(recipe, name)
    ]:
        raise KerasBertError(f"expected a policy with {wanting[0]}=True, received one without; say it in the policy")
    quantized = model.with_policy(recipe)
    if dropout is not None:
        quantized = quantized.with_dropout(dropout)
    _check_integer_only(quantized)
    if any(point.kind == "static" for point in activation_points(quantized)):
        if calibration is None or (isinstance(calibration, list | tuple | np.ndarray) and len(calibration) == 0):
            raise KerasBertError(
                f"expected calibration texts for {recipe.recipe!r}, received none: its activation ranges start from data"
            )
        calibrate(quantized, calibration, batch_size, ranges)
    return quantized


def _check_integer_only(model) -> None:
    """Raises KerasBertError for an integer-only policy that contradicts itself."""
    policy = model.policy
    if policy is None or not policy.integer_only or policy == policy.in_float():
        return
    if (policy.kernels, policy.tables, policy.kernel_bits, policy.activation_bits) != (True, True, 8, 8):
        raise KerasBertError(
            "expected kernels, tables and activations of 8 bits in an integer-only policy, received others"
        )
    others = [point.path for point in activation_points(model) if policy.kind(point.path) != "static"]
    if others:
        raise KerasBertError(
            f"expected static points throughout in an integer-only policy, received {len(others)} others: {others[0]} is "
            f"{policy.kind(others[0])}; leave integer_only out, or leave the rule out"
        )


def policy_named(recipe: str, integer_only: bool = False, learned_ranges: bool = False) -> QuantizationPolicy:
    """The policy that prepares for a recipe. Raises KerasBertError for a recipe that has none, or not of that kind."""
    if recipe not in POLICIES:
        raise KerasBertError(f"expected a recipe with a training policy of {sorted(POLICIES)}, received {recipe!r}")
    if learned_ranges:
        policy = policy_named(recipe, integer_only)
        if not policy.activations or policy.activation_bits != 8:
            raise KerasBertError(
                f"expected a recipe with static ranges of 8 bits for learned ranges, received {recipe!r}"
            )
        return replace(policy, learned_ranges=True)
    if not integer_only:
        return POLICIES[recipe]
    if recipe != INTEGER_ONLY.recipe:
        raise KerasBertError(
            f"expected the recipe {INTEGER_ONLY.recipe!r} for an integer-only model, received {recipe!r}"
        )
    return INTEGER_ONLY
