"""Objectives by the names that the command line has for them."""

from kerasbert.errors import KerasBertError
from kerasbert.training.distillation.attention import AttentionRelations, Attentions
from kerasbert.training.distillation.layer_maps import LayerMap
from kerasbert.training.distillation.objective import LayerObjective, Objective
from kerasbert.training.distillation.outputs import SoftLabels
from kerasbert.training.distillation.states import CosineHidden, FeatureMaps, HiddenStates, PatientStates
from kerasbert.training.objective_names import objective_weights

OBJECTIVES: dict[str, type[Objective]] = {
    kind.name.replace("_", "-"): kind
    for kind in (SoftLabels, CosineHidden, HiddenStates, PatientStates, Attentions, AttentionRelations, FeatureMaps)
}


def objectives_named(text: str, temperature: float | None = 1.0, layers: LayerMap | None = None) -> list[Objective]:
    """`soft-labels=1,hidden=0.5` as objectives with these weights (a name alone: 1).

    temperature: of soft labels. layers: of those objectives that are sums over layers; None: their own default.

    Raises KerasBertError for an unknown name, one that comes twice, a weight that is no number, and layers that no objective asks for.
    """
    found = {
        name: _made(OBJECTIVES[name], weight, temperature, layers) for name, weight in objective_weights(text).items()
    }
    if layers is not None and not any(isinstance(objective, LayerObjective) for objective in found.values()):
        raise KerasBertError(
            f"expected an objective of layers with the layer map {layers!r}, received {', '.join(found)}"
        )
    return list(found.values())


def _made(kind: type[Objective], weight: float, temperature: float | None, layers: LayerMap | None) -> Objective:
    settings: dict = {"weight": weight}
    if kind is SoftLabels:
        settings["temperature"] = temperature
    if issubclass(kind, LayerObjective) and layers is not None:
        settings["layers"] = layers
    return kind(**settings)
