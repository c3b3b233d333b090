"""RoBERTa: Liu et al. 2019, "RoBERTa: A Robustly Optimized BERT Pretraining Approach". BERT with other text and other training."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.bert import BertConfig


@dataclass(frozen=True)
class RobertaConfig(BertConfig):
    """The sizes of a RoBERTa. The defaults are those of roberta-base. Positions start at row `pad_token_id + 1` of their table."""

    model_type: ClassVar[str] = "roberta"

    vocab_size: int = 50265
    max_position_embeddings: int = 514
    type_vocab_size: int = 1
    layer_norm_eps: float = 1e-5
    pad_token_id: int = 1

    @property
    def position_offset(self) -> int:
        return self.pad_token_id + 1


@keras.utils.register_keras_serializable("kerasbert")
class RobertaEncoder(Encoder):
    """BERT with positions from `pad_token_id + 1` on. Padding must follow the text, since it has positions too."""

    config_class = RobertaConfig
