"""The quantization policies of recipes, without TensorFlow."""

from dataclasses import replace

from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.policy import QuantizationPolicy

# Q8BERT (Zafrir et al. 2019): softmax, norms and GELU stay in float; the Dense layers of attention and the pooler are int8
# with trained ranges.
# The Dense layers of the feed-forward network find their ranges at run time: one reads the few channels that are 10 to 30 times the median,
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
