"""ALBERT: Lan et al. 2019, "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations"."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.layer_groups import block_calls
from kerasbert.files.record import setting
from kerasbert.layers.blocks.factorized_embeddings import FactorizedEmbeddings
from kerasbert.layers.config import EncoderConfig


@dataclass(frozen=True)
class AlbertConfig(EncoderConfig):
    """The sizes of an ALBERT. The defaults are those of albert-xxlarge, as in Hugging Face.

    The layers are divided evenly among `num_hidden_groups` groups. All layers of a group are the same `inner_group_num` blocks. See
    `EncoderConfig` for the other attributes.

    Attributes:
        embedding_size: Width of the token embeddings.
        num_hidden_groups: Number of groups.
        inner_group_num: Number of blocks of a group.
        classifier_dropout_prob: Dropout rate before the head of a classifier, from 0 to below 1.

    Example:
        ```python
        kb.encoders.AlbertConfig(num_hidden_layers=4, hidden_size=128, num_attention_heads=2, intermediate_size=512)
        ```
    """

    model_type: ClassVar[str] = "albert"

    vocab_size: int = 30000
    embedding_size: int = setting(128, at_least=1)
    hidden_size: int = 4096
    num_hidden_groups: int = setting(1, at_least=1)
    num_attention_heads: int = 64
    intermediate_size: int = 16384
    inner_group_num: int = setting(1, at_least=1)
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    classifier_dropout_prob: float = setting(0.1, at_least=0, below=1)

    def check(self) -> None:
        super().check()
        fits = self.num_hidden_groups <= self.num_hidden_layers
        self.expect(fits, "num_hidden_groups", f"of at most num_hidden_layers ({self.num_hidden_layers})")

    @property
    def blocks(self) -> int:
        return self.num_hidden_groups * self.inner_group_num


@keras.utils.register_keras_serializable("kerasbert")
class AlbertEncoder(Encoder):
    """ALBERT (Lan et al. 2019): factorized embeddings and few blocks that are called many times.

    `layers` holds the blocks, group after group. The calls of a block share its weights and adapters, and each has activation ranges,
    a hidden state and attentions of its own.

    See `Encoder` for the arguments.

    Example:
        ```python
        config = kb.encoders.AlbertConfig(num_hidden_layers=2, hidden_size=64, num_attention_heads=2, intermediate_size=128)
        encoder = kb.encoders.AlbertEncoder(config)  # random weights
        ```
    """

    config_class = AlbertConfig
    config: AlbertConfig
    embeddings_class = FactorizedEmbeddings

    def stack(self) -> Sequence[keras.layers.Layer]:
        return [self.layers[block] for block in block_calls(self.config, range(self.config.num_hidden_layers))]
