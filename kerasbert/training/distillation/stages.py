"""Progressive knowledge transfer of MobileBERT: one layer after the other (Sun et al. 2020, section 3.5)."""

from collections.abc import Iterator
from dataclasses import dataclass

from kerasbert.errors import KerasBertError
from kerasbert.optimizers.parameter_groups import depths, group_names
from kerasbert.training.distillation.distiller import Distiller
from kerasbert.training.distillation.objective import LayerObjective


@dataclass(frozen=True)
class Stage:
    """A stage of the training, for one layer.

    Attributes:
        layer: The student layer that is trained.
        rates: Learning rates of the parts, for `kb.adamw(rates=...)`.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, HiddenStates, progressive_stages, student_from
        distiller = Distiller(student_from(task, layers=2), task, [HiddenStates()])
        [stage.layer for stage in progressive_stages(distiller, rate=5e-4)]  # [0, 1]
        ```
    """

    layer: int
    rates: dict[str, float]


def progressive_stages(distiller: Distiller, rate: float, lower_rate: float = 0.0) -> Iterator[Stage]:
    """Yield a stage for each student layer that an objective maps, from the bottom up (Sun et al. 2020, "MobileBERT").

    Only this layer's losses count in a stage. Labels, and objectives that are not sums over layers, are paused and need no data. Compile in
    each stage; after the last one everything counts again from the next `compile` on.

    Args:
        distiller: The distiller.
        rate: Learning rate of the stage's layer, and of the embeddings in the first stage.
        lower_rate: Learning rate of everything below; 0 freezes it, a small one is the paper's soft freezing. Layers above are frozen.

    Yields:
        The stages, one for each layer.

    Raises:
        KerasBertError: When no objective is a sum over layers, `rate` is not above 0, or layers share weights.

    Example:
        ```python
        from kerasbert.training.distillation import Distiller, HiddenStates, progressive_stages, student_from
        distiller = Distiller(student_from(task, layers=2), task, [HiddenStates()])
        for stage in progressive_stages(distiller, rate=5e-4, lower_rate=5e-5):
            distiller.compile(kb.adamw(5e-4, rates=stage.rates))
            distiller.fit(texts, epochs=1)
        ```
    """
    if not rate > 0 or not 0 <= lower_rate <= rate:
        raise KerasBertError(
            f"expected a rate above 0 and a lower_rate from 0 up to it, received {rate} and {lower_rate}"
        )
    if not any(objective.weight for objective in _layer_objectives(distiller)):
        received = ", ".join(type(objective).__name__ for objective in distiller.objectives)
        raise KerasBertError(
            f"expected an objective of layers with a weight above 0 for progressive stages, received {received}; "
            "add one, such as HiddenStates or Attentions"
        )
    depths(distiller.student, "progressive stages")  # raises an error for shared layers
    return _stages(distiller, rate, lower_rate)


def _layer_objectives(distiller: Distiller) -> list[LayerObjective]:
    return [objective for objective in distiller.objectives if isinstance(objective, LayerObjective)]


def _stages(distiller: Distiller, rate: float, lower_rate: float) -> Iterator[Stage]:
    trained = [objective for objective in _layer_objectives(distiller) if objective.weight]
    others = [objective for objective in distiller.objectives if objective not in trained]
    layers = sorted({layer for objective in trained for layer in objective.pairs})
    try:
        distiller.labels_paused = True
        for objective in others:
            objective.paused = True
        for index, layer in enumerate(layers):
            for objective in trained:
                objective.active = {layer}
            lowest = layers[index - 1] + 1 if index else 0
            yield Stage(layer, _rates(distiller, lowest, layer, rate, lower_rate))
    finally:
        distiller.labels_paused = False
        for objective in others:
            objective.paused = False
        for objective in trained:
            objective.active = None


def _rates(distiller: Distiller, lowest: int, layer: int, rate: float, lower_rate: float) -> dict[str, float]:
    """The learning rate of each part. Unmapped layers from `lowest` on are trained with the next mapped one."""
    rates = {}
    for part in group_names(distiller.student):
        if part == "embeddings":
            rates[part] = lower_rate if lowest else rate
        elif part.startswith("layers."):
            index = int(part.removeprefix("layers."))
            rates[part] = 0.0 if index > layer else rate if index >= lowest else lower_rate
        else:
            rates[part] = 0.0
    # A projection is a part of the head; the last entry that matches decides.
    return {**rates, "projections.*": rate} if distiller.projections else rates
