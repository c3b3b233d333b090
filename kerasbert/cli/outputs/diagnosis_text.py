"""Output of `kerasbert diagnose`: the worst tensors, the causes of their losses, and their effects on the task."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kerasbert.compression.quantization.diagnosis import STORED, PointLoss, is_weight_only
from kerasbert.compression.quantization.output_effects import OutputEffect, OutputEffects
from kerasbert.compression.quantization.signal_to_noise import LOST
from kerasbert.console.tables import Block, Facts, Table

_UNEQUAL = 4.0  # times the median: a channel or row that determines the range of all
_FRACTIONS = ("accuracy", "exact match")  # metrics that are a fraction of the examples
_MAX_CAUSES = 5  # tensors with an explanation


def format_diagnosis(losses: Sequence[PointLoss], worst: Sequence[PointLoss], effects: OutputEffects) -> list[Block]:
    """Return a table of the worst tensors, a legend, and the figures of the whole model.

    Args:
        losses: The losses of all tensors in the order of execution.
        worst: The tensors to show.
        effects: The effects of the worst tensors on the output.
    """
    blocks: list[Block] = [
        f"{len(losses)} tensors, {effects.rows} rows of data; the {len(worst)} tensors with the largest losses:",
        "",
        _table(worst, effects),
        "",
        "SNR: signal-to-noise ratio in dB with only this tensor quantized: the least of all values, the median channel and the median row.",
        f"{_figures(effects)}: the task's output with only this tensor quantized, compared with float.",
    ]
    if is_weight_only(losses):
        blocks.append("Activations stay in float: only kernels and tables lose precision.")
    causes = [(_name(*loss.key), explain_loss(loss)) for loss in worst if loss.least_signal_to_noise < LOST]
    if causes := [pair for pair in causes if pair[1]][:_MAX_CAUSES]:
        blocks += ["", f"Causes of an SNR below {LOST:.0f} dB:", *(f"  {name}: {cause}" for name, cause in causes)]
    return [*blocks, "", Facts(_whole_model(losses, effects))]


def diagnosis_data(losses: Sequence[PointLoss], effects: OutputEffects) -> dict[str, Any]:
    """Return the content of `--json`: every tensor in the order of execution, with its effect if measured, and the effect of all.

    Args:
        losses: The losses of all tensors in the order of execution.
        effects: The measured effects on the output.
    """
    alone = {key: asdict(effect) for key, effect in effects.alone.items()}
    points = [
        {**asdict(loss), "least_signal_to_noise": loss.least_signal_to_noise, "effect": alone.get(loss.key)}
        for loss in losses
    ]
    summary = {"metric": effects.metric, "in_float": effects.in_float, "examples": effects.examples}
    return {"points": points, "effect_of_all": asdict(effects.together), **summary}


def explain_loss(loss: PointLoss) -> str:
    """Return the cause of a tensor's low signal-to-noise ratio, or "" if none is known.

    Args:
        loss: The losses of the tensor.
    """
    if loss.own_signal_to_noise == loss.least_signal_to_noise and loss.clipped_share > 0:
        return f"{loss.clipped_share:.1%} of its values are clipped"
    if loss.row_signal_to_noise < loss.channel_signal_to_noise and loss.row_ratio >= _UNEQUAL:
        row = {"kernel": "input", "table": "token"}.get(loss.kind, "token")
        return f"{row} {loss.largest_row} is {loss.row_ratio:,.0f} times the median"
    if loss.channel_ratio >= _UNEQUAL:
        return f"channel {loss.largest_channel} is {loss.channel_ratio:,.0f} times the median"
    return ""


def _table(worst: Sequence[PointLoss], effects: OutputEffects) -> Table:
    rows = []
    for loss in worst:
        effect = effects.alone[loss.key]
        row = [_name(*loss.key), f"{loss.least_signal_to_noise:.1f}", f"{effect.error:.2%}"]
        row += [f"{effect.agreement:.1%}"] if effect.agreement is not None else []
        row += [f"{effect.metric:.4f}"] if effect.metric is not None else []
        rows.append(row)
    return Table(("tensor", "SNR", *_headings(effects)), rows)


def _headings(effects: OutputEffects) -> list[str]:
    same = ["same"] if effects.together.agreement is not None else []
    return ["error", *same, *([effects.metric] if effects.metric is not None else [])]


def _figures(effects: OutputEffects) -> str:
    """Return the headings with explanations."""
    explained = {"error": "error (root mean square)", "same": "same predictions"}
    return ", ".join(explained.get(name, name) for name in _headings(effects))


def _whole_model(losses: Sequence[PointLoss], effects: OutputEffects) -> list[tuple[str, str]]:
    last = [loss for loss in losses if loss.kind not in STORED][-1]
    facts = []
    if effects.alone:
        key = max(effects.alone, key=lambda each: effects.alone[each].error)
        facts.append(("worst for the output", f"{_name(*key)}: {_format_effect(effects.alone[key], effects)}"))
    facts.append(("all quantized", _format_effect(effects.together, effects)))
    if effects.metric is not None:
        resolution = f" (one example: {1 / effects.examples:.4f})" if effects.metric in _FRACTIONS else ""
        facts.append(("float", f"{effects.metric} {effects.in_float:.4f} on {effects.examples} examples{resolution}"))
    facts.append(("SNR of the last", f"{last.path} with all quantized: {last.signal_to_noise:.1f} dB"))
    return facts


def _format_effect(effect: OutputEffect, effects: OutputEffects) -> str:
    words = [f"error {effect.error:.2%}"]
    words += [f"same predictions {effect.agreement:.1%}"] if effect.agreement is not None else []
    words += [f"{effects.metric} {effect.metric:.4f}"] if effect.metric is not None else []
    return ", ".join(words)


def _name(path: str, call: int) -> str:
    return f"{path} (call {call})" if call else path
