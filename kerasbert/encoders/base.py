"""What every encoder has: a frozen config, named variables, one kind of output."""

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, NamedTuple

import tensorflow as tf
import tf_keras as keras

from kerasbert.errors import KerasBertError
from kerasbert.layers.activations import ACTIVATIONS
from kerasbert.layers.dense import Dense
from kerasbert.layers.points import ActivationPoint, QuantizationPolicy

INPUT_NAMES = ("input_ids", "attention_mask", "token_type_ids")
COUNTS = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "max_position_embeddings",
    "type_vocab_size",
)


class EncoderOutput(NamedTuple):
    """sequence (B, S, H); pooled (B, H), or None without a pooler.

    hidden_states: the embedding output and each block's, and attentions: (B, N, S, S) of each block; None unless asked for.
    """

    sequence: Any
    pooled: Any = None
    hidden_states: Any = None
    attentions: Any = None


@dataclass(frozen=True)
class EncoderConfig:
    """Sizes and switches of an encoder, under Hugging Face's names; `from_dict` reads a `config.json`."""

    model_type: ClassVar[str] = ""

    @classmethod
    def from_dict(cls, config: dict) -> "EncoderConfig":
        """From a parsed `config.json`; keys that this encoder does not have are left out. Raises KerasBertError on bad values."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in config.items() if name in names})

    def to_dict(self) -> dict:
        """For a `config.json`."""
        return {"model_type": self.model_type, **asdict(self)}

    def check(self) -> None:
        """Raises KerasBertError for sizes that cannot be built."""
        for field in fields(self):
            self._check_type(field.name, getattr(self, field.name), type(field.default))
        for name in COUNTS:
            if getattr(self, name) < 1:
                raise KerasBertError(f"config.json: expected {name!r} of at least 1, received {getattr(self, name)}")
        for name in ("hidden_dropout_prob", "attention_probs_dropout_prob"):
            if not 0 <= getattr(self, name) < 1:
                raise KerasBertError(
                    f"config.json: expected {name!r} from 0 to below 1, received {getattr(self, name)}"
                )
        if self.hidden_size % self.num_attention_heads:
            raise KerasBertError(
                f"config.json: expected a hidden_size that num_attention_heads divides, received {self.hidden_size} and "
                f"{self.num_attention_heads}"
            )
        if self.hidden_act not in ACTIVATIONS:
            raise KerasBertError(
                f"config.json: expected hidden_act of {sorted(ACTIVATIONS)}, received {self.hidden_act!r}"
            )

    @staticmethod
    def _check_type(name: str, value, kind: type) -> None:
        numbers = (int, float) if kind is float else kind
        if not isinstance(value, numbers) or (isinstance(value, bool) and kind is not bool):
            words = {int: "a whole number", float: "a number", str: "a string", bool: "true or false"}
            raise KerasBertError(f"config.json: expected {words[kind]} for {name!r}, received {value!r}")


class Encoder(keras.layers.Layer):
    """Token ids to vectors.

    Called with a dict of int32 `input_ids`, and optionally `attention_mask` and `token_type_ids`, each (B, S); gives an `EncoderOutput`.
    """

    config: EncoderConfig
    policy: QuantizationPolicy | None

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Every trained variable under its attribute path, such as `layers.0.attention.query.kernel`."""
        return {path: v for path, v in named_variables(self).items() if v.trainable}

    def get_config(self):
        policy = self.policy.get_config() if self.policy else None
        return {**super().get_config(), "config": self.config.to_dict(), "policy": policy}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        config["config"] = cls.config_class.from_dict(config["config"])
        config["policy"] = QuantizationPolicy.from_config(config["policy"]) if config.get("policy") else None
        return cls(**config)


def complete_inputs(inputs) -> tuple:
    """Ids, mask and token types from a dict in which the last two may be missing (all attended, first text), or from bare ids."""
    if not isinstance(inputs, dict):
        inputs = {"input_ids": inputs}
    ids = tf.convert_to_tensor(inputs["input_ids"])
    mask, types = inputs.get("attention_mask"), inputs.get("token_type_ids")
    return ids, tf.ones_like(ids) if mask is None else mask, tf.zeros_like(ids) if types is None else types


def named_variables(layer: keras.layers.Layer, prefix: str = "", seen: set | None = None) -> dict[str, tf.Variable]:
    """Variables of a layer and of the layers below it, by attribute path."""
    seen = set() if seen is None else seen
    found = {}
    for name, value in vars(layer).items():
        if name.startswith("_"):
            continue
        items = enumerate(value) if isinstance(value, list | tuple) else [(None, value)]
        for index, item in items:
            path = f"{prefix}{name}" if index is None else f"{prefix}{name}.{index}"
            if id(item) in seen:
                continue
            if isinstance(item, tf.Variable):
                seen.add(id(item))
                found[path] = item
            elif isinstance(item, keras.layers.Layer):
                seen.add(id(item))
                found |= named_variables(item, f"{path}.", seen)
    return found


def sublayers(layer: keras.layers.Layer, kind: type) -> list:
    """Every layer of that class below `layer`, in the order in which it was made."""
    return [item for item in layer._flatten_layers(include_self=False) if isinstance(item, kind)]


def denses(layer) -> list[Dense]:
    """Every dense of a model: the places where its multiplications are."""
    return sublayers(layer, Dense)


def activation_points(layer) -> list[ActivationPoint]:
    """Every activation point of a model."""
    return sublayers(layer, ActivationPoint)
