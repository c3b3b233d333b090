"""Parsing of `--layers`, and checks of it and of `--top-layers` against a model's config, before TensorFlow is loaded."""

from collections.abc import Mapping, Sequence
from typing import Any

from kerasbert.errors import KerasBertError


def parse_layers(text: str) -> int | list[int]:
    """Parse `--layers`: a number of layers, or their indices.

    Args:
        text: The option's value.

    Raises:
        KerasBertError: When it is neither.
    """
    try:
        numbers = [int(word) for word in text.split(",")]
    except ValueError:
        raise KerasBertError(
            f"expected --layers as a number, or indices separated by commas, received {text!r}; 4 and 0,3,5 are examples"
        ) from None
    return numbers if "," in text else numbers[0]


def layer_count(config: Mapping[str, Any]) -> int:
    """Return the number of layers; 0 for static vectors.

    Args:
        config: What `read_config` returns.
    """
    return config.get("num_hidden_layers") or config.get("n_layers") or 0


def check_layer_count(folder: str, layers: int | Sequence[int], fewer: bool = False, option: str = "--layers") -> None:
    """Check that a model has the requested layers.

    Args:
        folder: The model's folder or hub name.
        layers: A number of layers, or their indices from 0.
        fewer: Whether the number must be below the number of layers of the model.
        option: The option, for messages.

    Raises:
        KerasBertError: When the model lacks the layers, or the folder is not a checkpoint.
    """
    from kerasbert.checkpoints.hugging_face import read_config, resolve

    config = read_config(resolve(folder))
    count = layer_count(config)
    if not count:
        raise KerasBertError(
            f"expected a model with layers for {option}, received {folder}, which has none; leave {option} out"
        )
    if isinstance(layers, int):
        largest = count - 1 if fewer else count
        if not 1 <= layers <= largest:
            reason = f"{folder} has {count} layers" + (", and pruning must leave fewer" if fewer else "")
            raise KerasBertError(f"expected {option} from 1 to {largest}, received {layers}; {reason}")
        return
    if invalid := [number for number in layers if not 0 <= number < count]:
        raise KerasBertError(
            f"expected layer indices from 0 to {count - 1} in {option}, received {invalid[0]}; {folder} has {count} layers"
        )
    if fewer and not 0 < len(set(layers)) == len(layers) < count:
        raise KerasBertError(
            f"expected different layer indices in {option}, fewer than the {count} layers of {folder}, received "
            f"{','.join(map(str, layers))}; pruning must leave fewer"
        )
