"""Published configurations by name, without weights."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kerasbert.encoders.albert import AlbertConfig
from kerasbert.encoders.bert import BertConfig
from kerasbert.encoders.distilbert import DistilBertConfig
from kerasbert.encoders.electra import ElectraConfig
from kerasbert.encoders.mobilebert import MobileBertConfig
from kerasbert.encoders.roberta import RobertaConfig
from kerasbert.errors import KerasBertError
from kerasbert.layers.config import EncoderConfig


def _bert(layers: int, hidden: int, heads: int, intermediate: int | None = None) -> BertConfig:
    return BertConfig(
        num_hidden_layers=layers,
        hidden_size=hidden,
        num_attention_heads=heads,
        intermediate_size=intermediate or 4 * hidden,
    )


def _albert(layers: int, hidden: int, heads: int) -> AlbertConfig:
    return AlbertConfig(
        num_hidden_layers=layers, hidden_size=hidden, num_attention_heads=heads, intermediate_size=4 * hidden
    )


def _mobilebert(**switches: Any) -> MobileBertConfig:
    return MobileBertConfig(classifier_activation=False, **switches)  # without a pooler, as Google published them


# Turc et al. 2019 (bert-tiny to bert-medium), Devlin et al. 2018, Lan et al. 2019 table 1, Sun et al. 2020 table 1, Sanh et al. 2019,
# Jiao et al. 2019, Wang et al. 2020, Clark et al. 2020 table 6, Liu et al. 2019.
PRESETS: Mapping[str, EncoderConfig] = MappingProxyType(
    {
        "bert-tiny": _bert(2, 128, 2),
        "bert-mini": _bert(4, 256, 4),
        "bert-small": _bert(4, 512, 8),
        "bert-medium": _bert(8, 512, 8),
        "bert-base": _bert(12, 768, 12),
        "bert-large": _bert(24, 1024, 16),
        "albert-base": _albert(12, 768, 12),
        "albert-large": _albert(24, 1024, 16),
        "albert-xlarge": _albert(24, 2048, 16),
        "albert-xxlarge": _albert(12, 4096, 64),
        "mobilebert": _mobilebert(),
        "mobilebert-without-opt": _mobilebert(normalization_type="layer_norm", hidden_act="gelu"),
        "mobilebert-tiny": _mobilebert(
            use_bottleneck_attention=True, key_query_shared_bottleneck=False, num_feedforward_networks=2
        ),
        "distilbert": DistilBertConfig(),
        "tinybert-4": _bert(4, 312, 12, 1200),
        "tinybert-6": _bert(6, 768, 12),
        "minilm-l6": _bert(6, 384, 12),
        "minilm-l12": _bert(12, 384, 12),
        "electra-small": ElectraConfig(),
        "electra-base": ElectraConfig(
            hidden_size=768, num_attention_heads=12, intermediate_size=3072, embedding_size=768
        ),
        "roberta-base": RobertaConfig(),
    }
)


def preset(name: str) -> EncoderConfig:
    """Return the configuration of a name. ALBERTs are those of version 2, with or without `-v2`.

    Args:
        name: One of `PRESETS`, such as `bert-tiny`.

    Returns:
        The config, of the class of its architecture.

    Raises:
        KerasBertError: When there is no such preset.

    Example:
        ```python
        config = kb.encoders.preset("bert-tiny")
        encoder = kb.encoders.BertEncoder(config)  # random weights
        ```
    """
    name = name.removesuffix("-v2") if name.startswith("albert-") else name
    if name not in PRESETS:
        raise KerasBertError(f"expected a preset of {', '.join(PRESETS)}, received {name!r}")
    return PRESETS[name]
