"""Encoders by Hugging Face's `model_type`."""

from kerasbert.encoders.albert import AlbertConfig, AlbertEncoder
from kerasbert.encoders.base import Encoder
from kerasbert.encoders.bert import BertConfig, BertEncoder
from kerasbert.encoders.bilstm import BiLstmConfig, BiLstmEncoder
from kerasbert.encoders.distilbert import DistilBertConfig, DistilBertEncoder
from kerasbert.encoders.electra import ElectraConfig, ElectraEncoder
from kerasbert.encoders.mobilebert import MobileBertConfig, MobileBertEncoder
from kerasbert.encoders.presets import PRESETS, preset
from kerasbert.encoders.roberta import RobertaConfig, RobertaEncoder, XlmRobertaConfig, XlmRobertaEncoder
from kerasbert.encoders.static import StaticConfig, StaticEncoder
from kerasbert.errors import KerasBertError

ENCODERS: dict[str, type[Encoder]] = {
    encoder.config_class.model_type: encoder
    for encoder in (
        BertEncoder,
        AlbertEncoder,
        MobileBertEncoder,
        DistilBertEncoder,
        ElectraEncoder,
        RobertaEncoder,
        XlmRobertaEncoder,
        BiLstmEncoder,
        StaticEncoder,
    )
}

__all__ = [
    "ENCODERS",
    "PRESETS",
    "AlbertConfig",
    "AlbertEncoder",
    "BertConfig",
    "BertEncoder",
    "BiLstmConfig",
    "BiLstmEncoder",
    "DistilBertConfig",
    "DistilBertEncoder",
    "ElectraConfig",
    "ElectraEncoder",
    "MobileBertConfig",
    "MobileBertEncoder",
    "RobertaConfig",
    "RobertaEncoder",
    "StaticConfig",
    "StaticEncoder",
    "XlmRobertaConfig",
    "XlmRobertaEncoder",
    "encoder_class",
    "preset",
]


def encoder_class(model_type: str | None) -> type[Encoder]:
    """Return the encoder class that a config's `model_type` names.

    Args:
        model_type: The `model_type` of a config.json, such as `bert`.

    Returns:
        The class.

    Raises:
        KerasBertError: When it is not supported.

    Example:
        ```python
        kb.encoders.encoder_class("albert")  # AlbertEncoder
        ```
    """
    if model_type is None or model_type not in ENCODERS:
        raise KerasBertError(f"config.json: expected a model_type of {sorted(ENCODERS)}, received {model_type!r}")
    return ENCODERS[model_type]
