"""ELECTRA: Clark et al. 2020, "ELECTRA: Pre-training Text Encoders as Discriminators Rather Than Generators"."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.bert import BertConfig
from kerasbert.files.record import setting
from kerasbert.layers.activations import gelu
from kerasbert.layers.blocks.embeddings import Embeddings
from kerasbert.layers.blocks.factorized_embeddings import FactorizedEmbeddings


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """The sizes of an ELECTRA. The defaults are those of electra-small.

    See `EncoderConfig` for the other attributes.

    Attributes:
        embedding_size: Width of the token embeddings.

    Example:
        ```python
        kb.encoders.ElectraConfig(num_hidden_layers=2, hidden_size=128, num_attention_heads=2, intermediate_size=512)
        ```
    """

    model_type: ClassVar[str] = "electra"

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = setting(128, at_least=1)

    @property
    def masked_lm_form(self) -> tuple[int, str, int]:
        return self.embedding_size, "gelu", 0


@keras.utils.register_keras_serializable("kerasbert")
class ElectraEncoder(Encoder):
    """ELECTRA (Clark et al. 2020): BERT with embeddings of their own width.

    The pooler is the GELU layer of its text classifiers.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.ElectraConfig(num_hidden_layers=2, hidden_size=64, num_attention_heads=2, intermediate_size=128)
        encoder = kb.encoders.ElectraEncoder(config)  # random weights
        ```
    """

    config_class = ElectraConfig
    config: ElectraConfig
    pooler_activation = staticmethod(gelu)

    @property
    def embeddings_class(self) -> type[Embeddings]:
        return Embeddings if self.config.embedding_size == self.config.hidden_size else FactorizedEmbeddings
