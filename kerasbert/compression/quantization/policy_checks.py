"""Checks of a quantization policy against its recipe and the model, before anything is calibrated or trained."""

import fnmatch
from collections.abc import Mapping, Sequence

import tensorflow as tf

from kerasbert.compression.quantization.policies import INTEGER_ONLY, POLICIES
from kerasbert.errors import KerasBertError
from kerasbert.heads.checks import reached
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.dense import Dense
from kerasbert.layers.quantization.activation_quantizers import ActivationFakeQuant, activation_quantizers
from kerasbert.layers.quantization.policy import KINDS, QuantizationPolicy
from kerasbert.layers.traversal import dense_layers
from kerasbert.suggestions import nearest
from kerasbert.tasks.base import Task

# The kinds of activations that the files of a recipe compute.
_KINDS = {
    "static_wi8_ai8": KINDS,
    "static_wi8_ai16": KINDS,
    "dynamic_wi8_afp32": ("dynamic", "float"),
    "dynamic_wi4_afp32": ("dynamic", "float"),
    "weight_only_wi8": ("float",),
}
# These rules are for every model: those of a head or an option that a model does not have match nothing.
_COMMON_PATTERNS = {
    pattern
    for policy in (*POLICIES.values(), INTEGER_ONLY)
    for pattern in (*(pattern for pattern, _ in policy.activations), *policy.equalized)
}


def check_recipe(policy: QuantizationPolicy) -> None:
    """Check that the files of a policy's recipe can compute what the policy trains.

    Raises:
        KerasBertError: When there is no such recipe, or its files have other bits or kinds of activations.
    """
    if policy.recipe not in POLICIES:
        raise KerasBertError(
            f"expected a policy for a recipe of {', '.join(POLICIES)}, received {policy.recipe!r}, to which nothing can be converted; name "
            "one of these"
        )
    common, kinds = POLICIES[policy.recipe], _KINDS[policy.recipe]
    used = {kind for _, kind in policy.activations}
    if policy.integer_only:
        return  # see `_check_integer_only`
    if policy.kernels and policy.kernel_bits != common.kernel_bits:
        raise KerasBertError(
            f"expected kernels of {common.kernel_bits} bits in a policy for {policy.recipe!r}, received {policy.kernel_bits}; change the "
            "recipe or the bits"
        )
    if policy.kernel_block is not None and common.kernel_bits != 4:
        raise KerasBertError(
            f"expected kernel_block in a policy for dynamic_wi4_afp32, received {policy.recipe!r}, which has one scale per channel; change "
            "the recipe"
        )
    if policy.kernel_rules and "static" in kinds:
        raise KerasBertError(
            f"expected kernel_rules in a policy for a recipe with dynamic ranges, received {policy.recipe!r}; name dynamic_wi4_afp32 or "
            "dynamic_wi8_afp32"
        )
    if "static" in used & set(kinds) and policy.activation_bits != common.activation_bits:
        raise KerasBertError(
            f"expected activations of {common.activation_bits} bits in a policy for {policy.recipe!r}, received {policy.activation_bits}; "
            "change the recipe or the bits"
        )
    if others := sorted(used - set(kinds)):
        raise KerasBertError(
            f"expected activations that are {' or '.join(kinds)} in a policy for {policy.recipe!r}, as in its files, received "
            f"{others[0]!r}; change the recipe or the rule"
        )


def check_model(policy: QuantizationPolicy, model: Task) -> None:
    """Check that a model under a policy can be converted, and that every rule of the user's own has an effect.

    Args:
        policy: The policy.
        model: The task with the policy's quantizers.

    Raises:
        KerasBertError: When it cannot, or a rule has none.
    """
    quantizers = {quantizer.path: quantizer for quantizer in activation_quantizers(model)}
    _check_rules(policy.activations, quantizers)
    for pattern in policy.equalized:
        if pattern not in _COMMON_PATTERNS:
            _check_effect(pattern, [quantizers[path].equalized for path in _matches(pattern, quantizers)], quantizers)
    if policy.integer_only and policy != policy.in_float():
        _check_integer_only(policy, model)
    _check_kernel_rules(policy, model)
    unserved = unserved_layers(model)
    for dense in dense_layers(model):
        if dense.path not in unserved:
            check_both_sides(dense)


def _check_kernel_rules(policy: QuantizationPolicy, model: Task) -> None:
    paths = [f"{dense.path}.kernel" for dense in dense_layers(model)]
    for pattern, _ in policy.kernel_rules or ():
        if not fnmatch.filter(paths, pattern):
            raise KerasBertError(
                f"expected a pattern of kernel_rules that matches a kernel, such as {paths[0]}, received {pattern!r}; correct it"
            )


def unserved_layers(task: Task) -> set[str]:
    """Return the paths of the Dense layers that `serve` does not use."""
    if task.head is None:
        unserved = {*task.unserved, *(() if task.pools else ("pooler",))}
        return unserved | {f"{path}.factor" for path in unserved}
    specs = {name: tf.TensorSpec((1, None), tf.int32) for name in INPUT_NAMES}
    traced = tf.function(lambda inputs: task.serve(inputs), autograph=False).get_concrete_function(specs)
    read = {id(handle) for handle in reached(traced)[1]}
    return {dense.path for dense in dense_layers(task) if id(dense.kernel.handle) not in read}


def check_both_sides(dense: Dense) -> None:
    """Check that both sides of a quantized Dense layer have static ranges, or neither.

    Raises:
        KerasBertError: When one side has one.
    """
    if (dense.input_quantizer.kind == "static") != (dense.output_quantizer.kind == "static"):
        raise KerasBertError(
            f"{dense.path}: expected a policy with static ranges for a Dense layer's input and output, or for neither, received one "
            "for one side; change the policy"
        )


def _check_rules(rules: Sequence[tuple[str, str]], quantizers: Mapping[str, ActivationFakeQuant]) -> None:
    undecided = set(quantizers)
    for pattern, kind in rules:
        matched = _matches(pattern, quantizers)
        decided = [quantizers[path] for path in matched if path in undecided]
        undecided.difference_update(matched)
        if pattern in _COMMON_PATTERNS:
            continue
        if matched and not decided:
            raise KerasBertError(
                f"expected rules of a policy that have an effect, received {pattern!r} ({kind}) behind others that match all of its "
                "activations; put it before them"
            )
        _check_effect(pattern, [kind == "float" or quantizer.kind == kind for quantizer in decided], quantizers)


def _check_effect(pattern: str, effects: Sequence[bool], paths: Mapping[str, ActivationFakeQuant]) -> None:
    """Check that a pattern matches an activation of the model that can be quantized. `effects`: of each match, whether it can."""
    if not effects:
        suggestion = nearest(pattern, paths)
        advice = f"did you mean {suggestion!r}?" if suggestion else f"the first is {next(iter(paths), 'none')!r}"
        raise KerasBertError(
            f"expected a pattern of a policy that matches an activation of the model, received {pattern!r}; {advice}"
        )
    if not any(effects):
        raise KerasBertError(
            f"expected a pattern of activations that this policy can quantize, received {pattern!r}, which only integer-only models "
            "quantize; remove the rule, or set integer_only"
        )


def _matches(pattern: str, paths: Mapping[str, ActivationFakeQuant]) -> list[str]:
    return [path for path in paths if fnmatch.fnmatchcase(path, pattern)]


def _check_integer_only(policy: QuantizationPolicy, model: Task) -> None:
    """Check that an integer-only policy leaves nothing in float."""
    bits = (policy.kernels, policy.tables, policy.kernel_bits, policy.activation_bits, policy.table_bits)
    if bits != (True, True, 8, 8, None):
        raise KerasBertError(
            "expected kernels, tables and activations of 8 bits in an integer-only policy, received "
            "kernels={}, tables={}, kernel_bits={}, activation_bits={}, table_bits={}".format(*bits)
        )
    others = [point.path for point in activation_quantizers(model) if policy.kind(point.path) != "static"]
    if others:
        raise KerasBertError(
            f"expected static activations throughout in an integer-only policy, received {len(others)} others: {others[0]} is "
            f"{policy.kind(others[0])}; remove integer_only, or remove the rule"
        )
    if parts := model.float_parts:
        raise KerasBertError(
            f"expected a task that integers can compute for an integer-only model, received {type(model).__name__} with {parts}, which "
            "stays in float; quantize without integer_only"
        )
