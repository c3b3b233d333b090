"""ALBERT: Lan et al. 2019, "ALBERT: A Lite BERT for Self-supervised Learning of Language Representations"."""

from dataclasses import dataclass
from typing import ClassVar

import tf_keras as keras

from kerasbert.encoders.base import Encoder
from kerasbert.encoders.config import EncoderConfig
from kerasbert.layers.embeddings import Embeddings


@dataclass(frozen=True)
class AlbertConfig(EncoderConfig):
    """The sizes of an ALBERT; defaults are albert-xxlarge, as in Hugging Face.

    Layers are divided evenly among `num_hidden_groups` groups; all layers of a group are the same `inner_group_num` blocks.
    """

    model_type: ClassVar[str] = "albert"
    positive: ClassVar[tuple[str, ...]] = (
        *EncoderConfig.positive,
        "embedding_size",
        "num_hidden_groups",
        "inner_group_num",
    )

    vocab_size: int = 30000
    embedding_size: int = 128
    hidden_size: int = 4096
    num_hidden_layers: int = 12
    num_hidden_groups: int = 1
    num_attention_heads: int = 64
    intermediate_size: int = 16384
    inner_group_num: int = 1
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    classifier_dropout_prob: float = 0.1
    pad_token_id: int = 0
    tie_word_embeddings: bool = True

    def check(self) -> None:
        super().check()
        if self.num_hidden_groups > self.num_hidden_layers:
            raise self._wrong("num_hidden_groups", f"at most num_hidden_layers ({self.num_hidden_layers})")

    @property
    def blocks(self) -> int:
        return self.num_hidden_groups * self.inner_group_num

    def group(self, layer: int) -> int:
        """The group whose blocks are layer number `layer`."""
        return layer * self.num_hidden_groups // self.num_hidden_layers


@keras.utils.register_keras_serializable("kerasbert")
class AlbertEncoder(Encoder):
    """Factorised embeddings, then few blocks called many times: weights and adapters are shared across layers, activation ranges not.

    `layers` holds the blocks, group after group. Hidden states and attentions are given for every call of a block.
    """

    config_class = AlbertConfig

    def make_embeddings(self):
        return Embeddings(self.config, self.policy, width=self.config.embedding_size, project=True)

    def stack(self):
        inner, groups = self.config.inner_group_num, map(self.config.group, range(self.config.num_hidden_layers))
        return [block for group in groups for block in self.layers[group * inner : (group + 1) * inner]]
