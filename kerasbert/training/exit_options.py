"""The option of early exits, and the choice of their threshold behind a training."""

from typing import TYPE_CHECKING, Any

from kerasbert.errors import KerasBertError

if TYPE_CHECKING:
    from kerasbert.processors.exits import ExitChoice

NONE = "none"


def parse_exits(text: str | None) -> list[int] | None:
    """Return the layers of `--exits`; none for `none`, which removes exits, and None where the option is not given.

    Raises:
        KerasBertError: When it is no list of numbers.
    """
    if text is None:
        return None
    words = [] if text.strip().lower() == NONE else text.split(",")
    if not all(word.strip().isdecimal() and len(word) < 9 for word in words):
        raise KerasBertError(
            f"expected --exits as numbers of layers separated by commas, or none, received {text[:60]!r}; write --exits 2,4"
        )
    return [int(word) for word in words]


def choose_threshold(task: Any, dev: Any, keep: float | None) -> str:
    """Choose the threshold of a task with exits on dev data, and describe it in a line; empty for a task without exits.

    Args:
        task: The task.
        dev: The dev data, or None.
        keep: The share of the score to keep; None for the default.
    """
    if not getattr(task, "exit_layers", ()):
        return ""
    if dev is None:
        return "exits: no --dev to choose a threshold on, so every text runs through all layers"
    return describe(task.tune_exits(dev, **({} if keep is None else {"keep": keep})))


def describe(choice: "ExitChoice") -> str:
    """Describe a threshold and what it does on dev data."""
    exits = ", ".join(f"{each.layer}: {each.score:.4f} ({each.share:.0%} of the rows)" for each in choice.exits)
    return (
        f"exits: {choice.metric} behind layer {exits}; with the threshold {choice.threshold:.4f} {choice.score:.4f} of {choice.whole:.4f}, "
        f"{choice.layers:.2f} of {choice.exits[-1].layer} layers a row"
    )
