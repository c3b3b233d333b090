"""One layer after the other: MobileBERT's progressive knowledge transfer (Sun et al. 2020, section 3.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

from kerasbert.errors import KerasBertError
from kerasbert.optimizers.parameter_groups import depths, parts_of
from kerasbert.training.distillation.objective import LayerObjective


@dataclass(frozen=True)
class Stage:
    """layer: the student's layer that is trained. rates: of its parts, for `kb.adamw(rates=...)`."""

    layer: int
    rates: dict[str, float]


def progressive_stages(distiller, rate: float, lower_rate: float = 0.0) -> Iterator[Stage]:
    """A stage for each layer of the student that its objectives map, from the bottom up; only this layer's losses count in it.

    The layer learns at `rate`, the embeddings with the lowest one; what lies below at `lower_rate` (0: frozen; the paper's soft freezing is
    a small one), what lies above stands still. Labels, and objectives that are not sums over layers, are paused and need no data. Compile
    in each stage; when the stages are over, everything counts again from the next `compile` on:

        for stage in progressive_stages(distiller, rate=5e-4, lower_rate=5e-5):
            distiller.compile(kb.adamw(5e-4, 0.1, steps, rates=stage.rates))
            distiller.fit(texts, epochs=1)

    Raises:
        KerasBertError: no objective that is a sum over layers, a rate that is not above 0, and layers that share weights.
    """
    if not rate > 0 or not 0 <= lower_rate <= rate:
        raise KerasBertError(
            f"expected a rate above 0 and a lower_rate from 0 up to it, received {rate} and {lower_rate}"
        )
    if not any(objective.weight for objective in _of_layers(distiller)):
        received = ", ".join(type(objective).__name__ for objective in distiller.objectives)
        raise KerasBertError(
            f"expected an objective of layers with a weight above 0 for progressive stages, received {received}; "
            "add one, such as HiddenStates or Attentions"
        )
    depths(distiller.student, "progressive stages")  # refuses shared layers
    return _stages(distiller, rate, lower_rate)


def _of_layers(distiller) -> list[LayerObjective]:
    return [objective for objective in distiller.objectives if isinstance(objective, LayerObjective)]


def _stages(distiller, rate: float, lower_rate: float) -> Iterator[Stage]:
    chosen = [objective for objective in _of_layers(distiller) if objective.weight]
    others = [objective for objective in distiller.objectives if objective not in chosen]
    layers = sorted({layer for objective in chosen for layer in objective.pairs})
    try:
        distiller.labels_paused = True
        for objective in others:
            objective.paused = True
        for number, layer in enumerate(layers):
            for objective in chosen:
                objective.active = {layer}
            lowest = layers[number - 1] + 1 if number else 0
            yield Stage(layer, _rates(distiller, lowest, layer, rate, lower_rate))
    finally:
        distiller.labels_paused = False
        for objective in others:
            objective.paused = False
        for objective in chosen:
            objective.active = None


def _rates(distiller, lowest: int, layer: int, rate: float, lower_rate: float) -> dict[str, float]:
    """Between two mapped layers there may be others, `lowest` and up, which are trained with the upper one."""
    rates = {}
    for part in parts_of(distiller.student):
        if part == "embeddings":
            rates[part] = lower_rate if lowest else rate
        elif part.startswith("layers."):
            number = int(part.removeprefix("layers."))
            rates[part] = 0.0 if number > layer else rate if number >= lowest else lower_rate
        else:
            rates[part] = 0.0
    # A projection counts as head; of several entries that fit the last one decides.
    return {**rates, "projections.*": rate} if distiller.projections else rates
