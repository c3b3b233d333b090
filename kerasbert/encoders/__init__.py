"""Encoders by Hugging Face's `model_type`."""

from kerasbert.encoders.bert import BertConfig, BertEncoder
from kerasbert.errors import KerasBertError

ENCODERS = {"bert": BertEncoder}

__all__ = ["ENCODERS", "BertConfig", "BertEncoder", "encoder_class"]


def encoder_class(model_type: str | None):
    """The encoder that a config's `model_type` names. Raises KerasBertError, listing what is supported."""
    if model_type not in ENCODERS:
        raise KerasBertError(f"config.json: expected a model_type of {sorted(ENCODERS)}, received {model_type!r}")
    return ENCODERS[model_type]
