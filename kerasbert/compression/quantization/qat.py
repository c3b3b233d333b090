"""Quantization-aware training: a copy of a task with fake quantizers."""

from typing import Any

import numpy as np

from kerasbert.arguments import argument
from kerasbert.compression.quantization.calibration import calibrate
from kerasbert.compression.quantization.calibration_rows import CALIBRATION_ROWS
from kerasbert.compression.quantization.policies import policy_named
from kerasbert.compression.quantization.policy_checks import check_model, check_recipe
from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.tasks.base import Task, check_task


def quantize(
    model: Task,
    recipe: str | QuantizationPolicy = "static_wi8_ai8",
    calibration: Any = None,
    batch_size: int = 32,
    integer_only: bool = False,
    ranges: str = "min-max",
    learned_ranges: bool = False,
    dropout: float | None = 0.0,
    calibration_rows: int | None = CALIBRATION_ROWS,
) -> Task:
    """Return a copy of a task that trains and predicts with fake-quantized weights and activations.

    The copy has the same class and the same weights. `compile` and `fit` it as usual.

    Args:
        model: The task, in float or quantized for another recipe.
        recipe: `static_wi8_ai8`, `static_wi8_ai16`, `dynamic_wi8_afp32`, `dynamic_wi4_afp32` or `weight_only_wi8`, of which the last three
            quantize weights only while training; or a policy of your own.
        calibration: Texts, or anything that `predict` takes, for the initial ranges. A few hundred training texts are enough. Static
            recipes need them.
        batch_size: Rows in a batch while calibrating.
        integer_only: Whether norms, softmax, GELU and residual sums are in 8 bits too, for processors without float units.
        ranges: The calibration method, see `calibrate`.
        learned_ranges: Whether gradients move the ranges while training (LSQ+, Bhalgat et al. 2020) in place of a moving average.
            `kb.adamw` has their learning rate.
        dropout: Dropout rate of the copy; None keeps the model's. By default 0: dropout scales activations up, so that their ranges differ
            from those in the file.
        calibration_rows: Number of calibration examples to use, sampled evenly; None for all.

    Returns:
        The copy. `compile` and `fit` it, or convert it at once.

    Raises:
        KerasBertError: When the recipe is unknown; when it does not allow `integer_only` or `learned_ranges`; when an integer-only policy
            leaves something in float; when a policy of your own cannot be converted, or one of its patterns matches nothing; and when a
            static recipe has no calibration data.

    Example:
        ```python
        int8 = kb.compression.quantize(task, "static_wi8_ai8", calibration=texts)
        int8.compile(optimizer=kb.adamw(1e-4))
        int8.fit(texts, labels)
        int8.save_pretrained("runs/api-int8")
        ```
    """
    check_task(model)
    policy = _policy(recipe, integer_only, learned_ranges)
    quantized = model.with_policy(policy, dropout)
    check_model(policy, quantized)
    if quantized.head is not None and (parts := quantized.head.float_layers):
        note_once(
            f"note: head {quantized.head_name!r}: in float, as only Dense layers are quantized: {', '.join(parts)}"
        )
    if any(quantizer.kind == "static" for quantizer in activation_quantizers(quantized)):
        if calibration is None or (isinstance(calibration, list | tuple | np.ndarray) and len(calibration) == 0):
            raise KerasBertError(
                f"expected calibration texts for {policy.recipe!r}, received none: its activation ranges start from data; "
                f"give texts as {argument('calibration')}"
            )
        calibrate(quantized, calibration, batch_size, ranges, rows=calibration_rows)
    return quantized


def _policy(recipe: str | QuantizationPolicy, integer_only: bool, learned_ranges: bool) -> QuantizationPolicy:
    if isinstance(recipe, str):
        return policy_named(recipe, integer_only, learned_ranges)
    options = {"integer_only": integer_only, "learned_ranges": learned_ranges}
    if missing := [name for name, requested in options.items() if requested and not getattr(recipe, name)]:
        raise KerasBertError(
            f"expected a policy with {missing[0]}=True, received one without; set {missing[0]} in the policy"
        )
    check_recipe(recipe)
    return recipe
