"""Variables that options such as adapters add to an encoder."""

from kerasbert.encoders.base import Encoder
from kerasbert.layers.adapters import Adapter
from kerasbert.layers.scalar_mix import ScalarMix
from kerasbert.layers.traversal import sublayers

_LAYERS = {"adapters": Adapter, "layer_mix": ScalarMix}


def added_variables(encoder: Encoder) -> dict[str, list[str]]:
    """Paths of the variables that no checkpoint of Hugging Face's has, by the option that added them."""
    paths = {id(variable): path for path, variable in encoder.variables_by_path().items()}
    added = {
        option: [id(variable) for layer in sublayers(encoder, kind) for variable in layer.weights]
        for option, kind in _LAYERS.items()
        if option in encoder.options
    }
    return {option: [paths[key] for key in keys if key in paths] for option, keys in added.items()}
