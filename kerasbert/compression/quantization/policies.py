"""The quantization policies of the recipes, without TensorFlow."""

from dataclasses import replace

from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.policy import QuantizationPolicy

# Q8BERT (Zafrir et al. 2019): softmax, norms and GELU stay in float; the Dense layers of attention and the pooler are int8
# with trained ranges.
# The Dense layers of the feed-forward network use dynamic ranges. Some channels of their inputs and outputs are 10 to 30 times the median.
# A static range that holds these leaves few grid values for the other channels. The classifier is dynamic because it decides and costs
# nothing. Adapters are dynamic because they read feed-forward outputs, and their own outputs are near zero until they are trained.
_STATIC = (
    ("*.feed_forward.input", "dynamic"),
    ("*.feed_forward.intermediate.output", "float"),
    ("*.feed_forward.gate.output", "float"),
    ("*.feed_forward.hidden", "dynamic"),
    ("*.feed_forward.output_dense.output", "float"),
    ("classifier.input", "dynamic"),
    ("classifier.output", "float"),
    ("*adapter.input", "dynamic"),
    ("*adapter.hidden", "dynamic"),
    ("*adapter.*.output", "float"),
    ("*", "static"),
)

# 16 bits represent outliers and all other values: every Dense layer of the encoder is static.
_STATIC_WIDE = (
    ("classifier.input", "dynamic"),
    ("classifier.output", "float"),
    ("*adapter.input", "dynamic"),
    ("*adapter.hidden", "dynamic"),
    ("*adapter.*.output", "float"),
    ("*", "static"),
)

# The input of the first feed-forward Dense layer is equalized, so that its outlier channels are at most a few times the median.
_EQUALIZED = ("*.feed_forward.input",)

# Every activation in 8 bits; residual streams have outlier channels, so they are equalized.
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
    """Return the policy that trains for an export recipe.

    Args:
        recipe: A name among `POLICIES`.
        integer_only: Whether no activation stays in float; `static_wi8_ai8` only.
        learned_ranges: Whether gradients move the ranges; recipes with static 8-bit ranges only.

    Returns:
        The policy.

    Raises:
        KerasBertError: When the recipe has no policy, or none with these options.

    Example:
        ```python
        from kerasbert.compression import policy_named
        policy = policy_named("static_wi8_ai8", learned_ranges=True)
        ```
    """
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
