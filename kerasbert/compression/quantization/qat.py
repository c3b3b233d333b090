"""Quantization-aware training: the same task, with tfmot's quantizers at its named points."""

import numpy as np

from kerasbert.compression.quantization.calibration import calibrate
from kerasbert.compression.quantization.policies import policy_named
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.policy import QuantizationPolicy


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
    quantized = model.with_policy(recipe, dropout)
    _check_integer_only(quantized)
    if any(point.kind == "static" for point in activation_quantizers(quantized)):
        if calibration is None or (isinstance(calibration, list | tuple | np.ndarray) and len(calibration) == 0):
            raise KerasBertError(
                f"expected calibration texts for {recipe.recipe!r}, received none: its activation ranges start from data; "
                "give texts as `calibration=`"
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
    others = [point.path for point in activation_quantizers(model) if policy.kind(point.path) != "static"]
    if others:
        raise KerasBertError(
            f"expected static points throughout in an integer-only policy, received {len(others)} others: {others[0]} is "
            f"{policy.kind(others[0])}; leave integer_only out, or leave the rule out"
        )
