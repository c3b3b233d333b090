"""RoBERTa: Liu et al. 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach". BERT with other text and other training."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.bert import BertConfig


@dataclass(frozen=True)
class RobertaConfig(BertConfig):
    """The sizes of a RoBERTa. The defaults are those of roberta-base. Positions start at row `pad_token_id + 1` of their table.

    See `EncoderConfig` for the attributes.

    Example:
        ```python
        kb.encoders.RobertaConfig(num_hidden_layers=2, hidden_size=128, num_attention_heads=2, intermediate_size=512)
        ```
    """

    model_type: ClassVar[str] = "roberta"

    vocab_size: int = 50265
    max_position_embeddings: int = 514
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1

    @property
    def masked_lm_form(self) -> tuple[int, str, int]:
        return self.hidden_size, "gelu", 0

    @property
    def position_offset(self) -> int:
        return self.pad_token_id + 1


@keras.utils.register_keras_serializable("kerasbert")
class RobertaEncoder(Encoder):
    """RoBERTa (Liu et al. 2019): BERT with positions from `pad_token_id + 1` on.

    Padding must follow the text, since it has positions too.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.RobertaConfig(num_hidden_layers=2, hidden_size=64, num_attention_heads=2, intermediate_size=128)
        encoder = kb.encoders.RobertaEncoder(config)  # random weights
        ```
    """

    config_class = RobertaConfig


@dataclass(frozen=True)
class XlmRobertaConfig(RobertaConfig):
    """The sizes of an XLM-RoBERTa (Conneau et al. 2020), a RoBERTa of 100 languages. The defaults are those of xlm-roberta-base.

    See `EncoderConfig` for the attributes.

    Example:
        ```python
        kb.encoders.XlmRobertaConfig(num_hidden_layers=2, hidden_size=128, num_attention_heads=2, intermediate_size=512)
        ```
    """

    model_type: ClassVar[str] = "xlm-roberta"

    vocab_size: int = 250002


@keras.utils.register_keras_serializable("kerasbert")
class XlmRobertaEncoder(RobertaEncoder):
    """XLM-RoBERTa (Conneau et al. 2020): a RoBERTa of 100 languages.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.XlmRobertaConfig(num_hidden_layers=2, hidden_size=64, num_attention_heads=2, intermediate_size=128)
        encoder = kb.encoders.XlmRobertaEncoder(config)  # random weights
        ```
    """

    config_class = XlmRobertaConfig
