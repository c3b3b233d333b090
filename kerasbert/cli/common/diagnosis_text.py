"""What `kerasbert diagnose` prints: the worst tensors, why they lose, and what each costs the task."""

from collections.abc import Sequence
from dataclasses import asdict

from kerasbert.compression.quantization.diagnosis import STORED, PointLoss, is_weight_only
from kerasbert.compression.quantization.output_effects import OutputEffect, OutputEffects
from kerasbert.compression.quantization.signal_to_noise import LOST
from kerasbert.console.tables import Block, Facts, Table

_UNEQUAL = 4.0  # times the median: a channel or row that takes the others' range
_SHARES = ("accuracy", "exact match")  # metrics that are a share of the examples
_CAUSES = 5  # tensors whose loss is explained


def blocks(losses: Sequence[PointLoss], worst: Sequence[PointLoss], effects: OutputEffects) -> list[Block]:
    """A table of the worst tensors, what it shows, and the figures of the whole model, for `kerasbert.console.tables.render`."""
    found: list[Block] = [
        f"{len(losses)} tensors, {effects.rows} rows of data; the {len(worst)} tensors that lose most:",
        "",
        _table(worst, effects),
        "",
        "SNR: signal-to-noise in dB of this tensor alone in 8 bits, the least of all values, the median channel and the median row.",
        f"{_figures(effects)}: the task's output with this tensor alone in 8 bits, against float.",
    ]
    if is_weight_only(losses):
        found.append("Activations stay in float: all that is lost is what kernels and tables cost.")
    causes = [(_name(*loss.key), cause(loss)) for loss in worst if loss.least_signal_to_noise < LOST]
    if causes := [pair for pair in causes if pair[1]][:_CAUSES]:
        found += ["", f"Below {LOST:.0f} dB, because", *(f"  {name}: {why}" for name, why in causes)]
    return [*found, "", Facts(_whole_model(losses, effects))]


def as_json(losses: Sequence[PointLoss], effects: OutputEffects) -> dict:
    """Every tensor in the order of execution, those that were run alone with their effect; and all tensors together."""
    alone = {key: asdict(effect) for key, effect in effects.alone.items()}
    points = [
        {**asdict(loss), "least_signal_to_noise": loss.least_signal_to_noise, "effect": alone.get(loss.key)}
        for loss in losses
    ]
    summary = {"metric": effects.metric, "in_float": effects.in_float, "examples": effects.examples}
    return {"points": points, "effect_of_all": asdict(effects.together), **summary}


def cause(loss: PointLoss) -> str:
    """What takes the range from the rest of a tensor, in a few words; "" where nothing does."""
    if loss.own_signal_to_noise == loss.least_signal_to_noise and loss.clipped_share > 0:
        return f"{loss.clipped_share:.1%} of its values are out of range"
    if loss.row_signal_to_noise < loss.channel_signal_to_noise and loss.row_ratio >= _UNEQUAL:
        row = {"kernel": "input", "table": "word"}.get(loss.kind, "token")
        return f"{row} {loss.largest_row} is {loss.row_ratio:,.0f} times the median one"
    if loss.channel_ratio >= _UNEQUAL:
        return f"channel {loss.largest_channel} is {loss.channel_ratio:,.0f} times the median one"
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
    """The headings, explained where they need it."""
    explained = {"error": "error (root mean square)", "same": "same answers"}
    return ", ".join(explained.get(name, name) for name in _headings(effects))


def _whole_model(losses: Sequence[PointLoss], effects: OutputEffects) -> list[tuple[str, str]]:
    last = [loss for loss in losses if loss.kind not in STORED][-1]
    facts = []
    if effects.alone:
        key = max(effects.alone, key=lambda each: effects.alone[each].error)
        facts.append(("worst for the output", f"{_name(*key)}: {_in_words(effects.alone[key], effects)}"))
    facts.append(("all in 8 bits", _in_words(effects.together, effects)))
    if effects.metric is not None:
        worth = f", one of which is worth {1 / effects.examples:.4f}" if effects.metric in _SHARES else ""
        facts.append(("in float", f"{effects.metric} {effects.in_float:.4f} of {effects.examples} examples{worth}"))
    facts.append(("SNR of the last", f"{last.path} with all in 8 bits: {last.signal_to_noise:.1f} dB"))
    return facts


def _in_words(effect: OutputEffect, effects: OutputEffects) -> str:
    words = [f"error {effect.error:.2%}"]
    words += [f"same answers {effect.agreement:.1%}"] if effect.agreement is not None else []
    words += [f"{effects.metric} {effect.metric:.4f}"] if effect.metric is not None else []
    return ", ".join(words)


def _name(path: str, call: int) -> str:
    return f"{path} (call {call})" if call else path
