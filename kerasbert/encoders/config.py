"""The sizes and switches that every encoder has, as a `config.json` names them."""

from dataclasses import asdict, dataclass, fields, replace
from typing import ClassVar

from kerasbert.errors import KerasBertError
from kerasbert.layers.activations import ACTIVATIONS


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes and switches of an encoder, under BERT's names in Hugging Face's `config.json`; `from_dict` reads one.

    aliases: our names beside those that this model type's `config.json` uses instead.
    positive: the fields that count something. position_offset: rows of the position table before the first token's.
    """

    model_type: ClassVar[str] = ""
    aliases: ClassVar[dict[str, str]] = {}
    positive: ClassVar[tuple[str, ...]] = (
        "vocab_size",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "intermediate_size",
        "max_position_embeddings",
        "type_vocab_size",
    )

    def __post_init__(self):
        self.check()

    @classmethod
    def from_dict(cls, config: dict) -> "EncoderConfig":
        """From a parsed `config.json`; keys that this encoder does not have are left out. Raises KerasBertError on bad values."""
        theirs = {field.name: cls.aliases.get(field.name, field.name) for field in fields(cls)}
        return cls(**{ours: config[name] for ours, name in theirs.items() if name in config})

    def to_dict(self) -> dict:
        """For a `config.json`."""
        values = {self.aliases.get(name, name): value for name, value in asdict(self).items()}
        return {"model_type": self.model_type, **values}

    @property
    def position_offset(self) -> int:
        return 0

    @property
    def longest(self) -> int:
        """The most tokens a row can have."""
        return self.max_position_embeddings - self.position_offset

    @property
    def head_width(self) -> int:
        """What attention divides among its heads."""
        return self.hidden_size

    @property
    def blocks(self) -> int:
        """How many blocks there are, each counted once however often it is called."""
        return self.num_hidden_layers

    @property
    def feed_forwards(self) -> int:
        """How many feed-forward networks a block has."""
        return 1

    def with_dropout(self, rate: float) -> "EncoderConfig":
        """The same with this rate of dropout everywhere. Raises KerasBertError for one below 0, and of 1 and above."""
        return replace(self, **{field.name: rate for field in fields(self) if field.name.endswith("dropout_prob")})

    def check(self) -> None:
        """Raises KerasBertError for sizes that cannot be built."""
        for field in fields(self):
            self._check_type(field.name, getattr(self, field.name), type(field.default))
        for name in self.positive:
            if getattr(self, name) < 1:
                raise self._wrong(name, "at least 1")
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            if not 0 <= getattr(self, name) < 1:
                raise self._wrong(name, "from 0 to below 1")
        if self.head_width % self.num_attention_heads:
            raise KerasBertError(
                f"config.json: expected {self._named('num_attention_heads')!r} to divide {self._named('hidden_size')!r} (the width of a "
                f"bottleneck where there is one), received {self.num_attention_heads} and {self.head_width}"
            )
        if self.hidden_act not in ACTIVATIONS:
            raise self._wrong("hidden_act", f"of {sorted(ACTIVATIONS)}")
        if self.longest < 3:
            raise self._wrong("max_position_embeddings", f"at least {3 + self.position_offset}")

    def _wrong(self, name: str, expected: str) -> KerasBertError:
        return KerasBertError(
            f"config.json: expected {self._named(name)!r} {expected}, received {getattr(self, name)!r}"
        )

    def _named(self, name: str) -> str:
        return self.aliases.get(name, name)

    def _check_type(self, name: str, value, kind: type) -> None:
        numbers = (int, float) if kind is float else kind
        if not isinstance(value, numbers) or (isinstance(value, bool) and kind is not bool):
            words = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
            raise KerasBertError(f"config.json: expected {words[kind]} for {self._named(name)!r}, received {value!r}")
