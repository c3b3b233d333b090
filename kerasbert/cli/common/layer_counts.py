"""`--layers` of a model that has fewer: refused before TensorFlow is loaded."""

from collections.abc import Sequence

from kerasbert.errors import KerasBertError


def check_layer_count(folder: str, wanted: int | Sequence[int], fewer: bool = False, option: str = "--layers") -> None:
    """Checks how many layers, or which, are asked of a model.

    Args:
        folder: the model's folder or hub name.
        wanted: a number of layers, or their numbers from 0 on.
        fewer: whether the model must keep fewer than it has.

    Raises:
        KerasBertError: layers that the model does not have; a folder that is no checkpoint.
    """
    from kerasbert.checkpoints.hugging_face import read_config, resolve

    config = read_config(resolve(folder))
    count = config.get("num_hidden_layers") or config["n_layers"]
    has = f"{folder} has {count} layers"
    if isinstance(wanted, int):
        most = count - 1 if fewer else count
        if not 1 <= wanted <= most:
            why = f"{has}, and pruning leaves fewer" if fewer else has
            raise KerasBertError(f"expected {option} from 1 to {most}, received {wanted}: {why}; ask for fewer")
        return
    if wrong := [number for number in wanted if not 0 <= number < count]:
        raise KerasBertError(
            f"expected the numbers of layers in {option} from 0 to {count - 1}, received {wrong[0]}: {has}; the lowest is 0"
        )
