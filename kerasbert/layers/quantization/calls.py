"""One layer called several times: the same weights, an activation range for each call."""

from kerasbert.layers.quantization.quantizers import ActivationPoint


def share(layer, calls: int) -> None:
    """Prepares every activation point below `layer` for so many calls."""
    for point in _points(layer):
        point.share(calls)


def take_turn(layer, call: int) -> None:
    """Says which of its calls the next one is."""
    for point in _points(layer):
        point.turn = call


def _points(layer) -> list[ActivationPoint]:
    return [item for item in layer._flatten_layers() if isinstance(item, ActivationPoint)]
