"""Options that add layers to an encoder: adapters and a mix of its hidden states."""

import tf_keras as keras

from kerasbert.encoders.ranks import first_factors
from kerasbert.errors import KerasBertError
from kerasbert.layers.blocks.adapters import Adapter, insert_adapters
from kerasbert.layers.quantization.policy import integer_part
from kerasbert.layers.scalar_mix import ScalarMix
from kerasbert.layers.traversal import sublayers

_LAYERS = {"adapters": Adapter, "layer_mix": ScalarMix}


def extend_encoder(encoder: keras.layers.Layer, adapters: int | None, layer_mix: bool) -> None:
    """Add adapters and a mix of hidden states to an encoder whose blocks are made.

    Args:
        encoder: the encoder to extend.
        adapters: the size of the adapters, or None.
        layer_mix: whether the sequence output is a mix of all hidden states.

    Raises:
        KerasBertError: when `adapters` is below 1, or the policy is integer-only.
    """
    if integer_part(encoder.policy) is not None:
        extension = "adapters" if adapters else "a mix of layers"
        raise KerasBertError(
            f"expected a model without {extension} for an integer-only policy, received one with them; quantize without integer_only"
        )
    if adapters is not None:
        insert_adapters(encoder, adapters)
    if layer_mix:
        encoder.layer_mix = ScalarMix(1 + len(encoder.stack()))


def added_variables(encoder: keras.layers.Layer) -> dict[str, list[str]]:
    """Return the paths of the variables that no Hugging Face checkpoint has, by the option that added them."""
    paths = {id(variable): path for path, variable in encoder.variables_by_path().items()}
    layers = {option: sublayers(encoder, kind) for option, kind in _LAYERS.items() if option in encoder.options}
    if factors := first_factors(encoder):
        layers["ranks"] = factors
    added = {option: [id(variable) for layer in each for variable in layer.weights] for option, each in layers.items()}
    return {option: [paths[key] for key in keys if key in paths] for option, keys in added.items()}
