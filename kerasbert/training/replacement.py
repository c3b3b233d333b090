"""How often a module of the predecessor is replaced by its successor, over the steps of a training (Xu et al. 2020, section 3.2)."""

from dataclasses import dataclass

from kerasbert.errors import KerasBertError
from kerasbert.files.record import Record, setting

REPLACEMENTS = ("linear", "constant")


@dataclass(frozen=True)
class Replacement(Record):
    """The replacement rate p(t) of step t, the first being 0: `rate` for a constant one, min(1, k t + `rate`) for a linear one.

    In the epochs of fine-tuning, the last ones, it is 1.

    Raises:
        KerasBertError: When a value is out of range, or a constant rate has a slope or is 0.

    Example:
        ```python
        from kerasbert.training.distillation import Replacement
        Replacement("linear", rate=0.5).rate_at(step=50, steps=100)  # 0.75
        Replacement("constant", rate=0.5, fine_tune_epochs=2).replacing_epochs(epochs=6)  # 4
        ```
    """

    kind: str = setting(
        "linear", "Replacement rate of modules over the steps: linear or constant.", "NAME", choices=REPLACEMENTS
    )
    rate: float = setting(
        0.5, "Replacement rate of the first step; a constant one keeps it.", "P", at_least=0, at_most=1
    )
    slope: float | None = setting(
        None, "Increase of a linear rate in a step. Default: it reaches 1 where fine-tuning begins.", "K", above=0
    )
    fine_tune_epochs: int | None = setting(
        None, "Number of the last epochs in which all modules are replaced. Default: a third of all.", at_least=0
    )

    def check(self) -> None:
        if self.kind == "constant" and self.slope is not None:
            raise KerasBertError(
                f"expected a linear replacement rate with a slope, received {self.slope:g} with a constant one; leave it out"
            )
        if self.kind == "constant" and self.rate == 0:
            raise KerasBertError(
                "expected a constant replacement rate above 0, received 0: no successor would be trained; name a larger one"
            )

    def replacing_epochs(self, epochs: int) -> int:
        """Return the number of epochs before those of fine-tuning.

        Args:
            epochs: The number of all epochs.

        Raises:
            KerasBertError: When no epoch is left for the replacement, or none for the fine-tuning that a constant rate needs.
        """
        last = self.fine_tune_epochs
        if last is None:
            last = max(1, epochs // 3) if epochs > 1 else 0
        received = f"{epochs} epoch{'s'[: epochs > 1]} in all"
        if last >= epochs:
            raise KerasBertError(
                f"expected more epochs than the {last} of fine-tuning, received {received}; train for {last + 1} or more"
            )
        if self.kind == "constant" and self.rate < 1 and not last:
            raise KerasBertError(
                f"expected an epoch of fine-tuning behind a constant replacement rate of {self.rate:g}, received {received} and none of "
                "fine-tuning; train for more epochs, or choose the linear replacement"
            )
        return epochs - last

    def rate_at(self, step: int, steps: int) -> float:
        """Return p of a step.

        Args:
            step: The step, 0 for the first.
            steps: The number of steps before fine-tuning.
        """
        if step >= steps:
            return 1.0
        return self.rate if self.kind == "constant" else min(1.0, self.slope_over(steps) * step + self.rate)

    def slope_over(self, steps: int) -> float:
        """Return k of a linear rate.

        Args:
            steps: The number of steps before fine-tuning.
        """
        return (1.0 - self.rate) / max(steps, 1) if self.slope is None else self.slope
