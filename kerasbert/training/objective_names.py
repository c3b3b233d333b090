"""What is learned of a teacher, as the command line names it: `soft-labels=1,hidden=0.5`. Without TensorFlow."""

from kerasbert.errors import KerasBertError

NAMES = ("soft-labels", "cosine", "hidden", "patient", "attention", "relations", "features")


def objective_weights(text: str) -> dict[str, float]:
    """The weight of each objective; of a name alone 1.

    Raises KerasBertError for an unknown name, one that comes twice, and a weight that is no number.
    """
    found: dict[str, float] = {}
    for word in text.split(","):
        name, given, weight = (part.strip() for part in word.partition("="))
        if name not in NAMES:
            raise KerasBertError(f"expected objectives of {', '.join(NAMES)}, received {name!r}")
        if name in found:
            raise KerasBertError(f"expected each objective once, received {name} twice")
        try:
            found[name] = float(weight) if given else 1.0
        except ValueError:
            raise KerasBertError(
                f"expected objectives as NAME=WEIGHT, such as soft-labels=0.5, received {word!r}"
            ) from None
    return found
