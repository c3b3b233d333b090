"""The sizes and switches that every encoder has, under the names of Hugging Face's `config.json`."""

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

from kerasbert.files.record import Record, setting
from kerasbert.layers.activations import ACTIVATIONS, Activation


@dataclass(frozen=True)
class EncoderConfig(Record):
    """Sizes and switches of an encoder. The defaults are those of BERT-base.

    Attributes:
        vocab_size: Rows of the token embeddings.
        hidden_size: Width of the hidden states.
        num_hidden_layers: Number of transformer layers.
        num_attention_heads: Attention heads of a layer; they divide the width.
        intermediate_size: Inner width of the feed-forward networks.
        hidden_act: Activation of the feed-forward networks, such as `gelu`, `gelu_new` or `relu`.
        hidden_dropout_prob: Dropout rate of embeddings and layer outputs, from 0 to below 1.
        attention_probs_dropout_prob: Dropout rate of attention probabilities, from 0 to below 1.
        max_position_embeddings: Rows of the position embeddings.
        type_vocab_size: Number of token types; 0 for an architecture without them.
        initializer_range: Standard deviation of new weights.
        layer_norm_eps: Epsilon of layer norms.
        pad_token_id: Id of the padding token.
        tie_word_embeddings: Whether the decoder of a masked language model shares the token embeddings.

    Example:
        ```python
        config = kb.encoders.BertConfig(num_hidden_layers=2, hidden_size=128, num_attention_heads=2)
        config.head_width  # 128
        ```
    """

    model_type: ClassVar[str] = ""
    file: ClassVar[str] = "config.json"
    ignores_others: ClassVar[bool] = True
    has_biases: ClassVar[bool] = True  # of the Dense layers and norms between ids and the sequence
    has_position_table: ClassVar[bool] = True
    pre_norm: ClassVar[bool] = False  # whether a norm follows the blocks

    vocab_size: int = setting(30522, at_least=1)
    hidden_size: int = setting(768, at_least=1)
    num_hidden_layers: int = setting(12, at_least=1)
    num_attention_heads: int = setting(12, at_least=1)
    intermediate_size: int = setting(3072, at_least=1)
    hidden_act: str = setting("gelu", choices=sorted(ACTIVATIONS))
    hidden_dropout_prob: float = setting(0.1, at_least=0, below=1)
    attention_probs_dropout_prob: float = setting(0.1, at_least=0, below=1)
    max_position_embeddings: int = setting(512, at_least=1)
    type_vocab_size: int = setting(2, at_least=1)
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = setting(0, at_least=0)
    tie_word_embeddings: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {"model_type": self.model_type, **super().to_dict()}

    def with_dropout(self, rate: float) -> Self:
        """Return a copy with this rate of dropout everywhere.

        Args:
            rate: The dropout rate, from 0 to below 1.
        """
        return replace(self, **{field.name: rate for field in fields(self) if field.name.endswith("dropout_prob")})

    @property
    def activation(self) -> Activation:
        """The function that `hidden_act` names."""
        return ACTIVATIONS[self.hidden_act]

    @property
    def position_offset(self) -> int:
        """Row of the position table for the first token."""
        return 0

    @property
    def longest(self) -> int:
        """Largest number of tokens in a sequence."""
        return self.max_position_embeddings - self.position_offset

    @property
    def head_width(self) -> int:
        """Width that attention divides among its heads."""
        return self.hidden_size

    @property
    def blocks(self) -> int:
        """Number of blocks with weights of their own."""
        return self.num_hidden_layers

    def check(self) -> None:
        self.expect(self.pad_token_id < self.vocab_size, "pad_token_id", f"from 0 to {self.vocab_size - 1}")
        width = f"{self.key('hidden_size')} or the width of a bottleneck, {self.head_width}"
        self.expect(self.head_width % self.num_attention_heads == 0, "num_attention_heads", f"as a divisor of {width}")
        self.expect(self.longest >= 3, "max_position_embeddings", f"of at least {3 + self.position_offset}")
