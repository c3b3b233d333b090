"""Objectives by their names on the command line."""

from typing import Any

from kerasbert.errors import KerasBertError
from kerasbert.training.distillation.attention import AttentionRelations, Attentions
from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.objective import LayerObjective, Objective
from kerasbert.training.distillation.outputs import Logits, SoftLabels
from kerasbert.training.distillation.states import CosineHidden, FeatureMaps, HiddenStates, PatientStates
from kerasbert.training.objective_names import objective_weights

OBJECTIVES: dict[str, type[Objective]] = {
    kind.name.replace("_", "-"): kind
    for kind in (
        SoftLabels,
        Logits,
        CosineHidden,
        HiddenStates,
        PatientStates,
        Attentions,
        AttentionRelations,
        FeatureMaps,
    )
}


def parse_objectives(text: str, temperature: float | None = 1.0, layers: LayerMap | None = None) -> list[Objective]:
    """Parse objectives such as `soft-labels=1,hidden=0.5`; the weight of a name alone is 1.

    Args:
        text: Names, with or without weights, separated by commas.
        temperature: Temperature of soft labels.
        layers: Layer map of the objectives that are sums over layers; None keeps their defaults.

    Returns:
        The objectives, in the order of the text.

    Raises:
        KerasBertError: When a name is unknown or occurs twice, a weight is not a number, or no objective uses `layers`.

    Example:
        ```python
        from kerasbert.training.distillation import parse_objectives
        parse_objectives("soft-labels=1,hidden=0.5", temperature=2.0)
        ```
    """
    objectives = {
        name: _make(OBJECTIVES[name], weight, temperature, layers) for name, weight in objective_weights(text).items()
    }
    if layers is not None and not any(isinstance(objective, LayerObjective) for objective in objectives.values()):
        raise KerasBertError(
            f"expected an objective of layers with the layer map {layers!r}, received {', '.join(objectives)}; "
            "add one, such as hidden or attention"
        )
    return list(objectives.values())


def _make(kind: type[Objective], weight: float, temperature: float | None, layers: LayerMap | None) -> Objective:
    settings: dict[str, Any] = {"weight": weight}
    if kind is SoftLabels:
        settings["temperature"] = temperature
    if issubclass(kind, LayerObjective) and layers is not None:
        settings["layers"] = layers
    return kind(**settings)
