"""Options that encoders without attention do not have."""

from kerasbert.errors import KerasBertError
from kerasbert.layers.quantization.policy import QuantizationPolicy, integer_part


def refuse_transformer_options(
    received: str, adapters: object, layer_mix: object, cut: object, policy: QuantizationPolicy | None
) -> None:
    """Check that none of a transformer's options is asked for.

    Args:
        received: What the encoder is, such as "a BiLSTM".
        adapters: The argument of the encoder, and so the next three.
        layer_mix: Whether layers are mixed.
        cut: Sizes of pruned blocks.
        policy: The quantization, which may be of integers only.

    Raises:
        KerasBertError: When one is.
    """
    asked = {"adapters": adapters, "layer_mix": layer_mix, "pruned sizes": cut, "integers only": integer_part(policy)}
    if found := [name for name, value in asked.items() if value]:
        raise KerasBertError(f"expected a transformer for {found[0]}, received {received}; leave {found[0]} out")
