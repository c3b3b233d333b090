"""What every task has: text in, Keras in the middle, folders on disk."""

import hashlib

import numpy as np
import tensorflow as tf

from kerasbert.encoders import encoder_class
from kerasbert.encoders.base import Encoder
from kerasbert.errors import KerasBertError
from kerasbert.ids import INPUT_NAMES
from kerasbert.layers.lowering.options import TRAINING_OPTIONS, LoweringOptions
from kerasbert.layers.quantization.activation_quantizers import activation_quantizers
from kerasbert.layers.quantization.policy import QuantizationPolicy
from kerasbert.layers.traversal import named_variables
from kerasbert.tasks.inference import InferenceMixin
from kerasbert.tasks.keras_task import KerasTask
from kerasbert.text import Tokenizer, tokenizer_from_config
from kerasbert.text.vocabulary_size import check_vocabulary_size

DEFAULT_LENGTH = 128  # tokens


class Task(InferenceMixin, KerasTask):
    """An encoder, a head and the tokenizer that feeds them (None: packed inputs only).

    sequence_length: the longest row in tokens, special ones included; by default 128, or what the encoder has positions for.

    `fit`, `evaluate`, `predict` and `score` take the task's examples as users hold them (see the task), a table of `kerasbert.data`,
    packed inputs (a dict of int32 arrays (rows, length)) or a `tf.data.Dataset` of packed inputs or of texts. What examples, answers and
    metrics are is decided by the task's processor: see `kerasbert.processors`.
    """

    output_name: str  # of the exported file; where there are several, of the one that packed inputs give
    arrays: bool = False  # whether `predict` gives texts' outputs as one array instead of readable answers
    labels: tuple[str, ...] | None = None
    architecture: str  # what Hugging Face's class name for this task ends in
    not_for: tuple[str, ...] = ()  # model types whose checkpoints of that name are another task's
    heads: tuple[str, ...] = ()  # heads that a checkpoint may hold, by attribute
    labelled: bool = False  # whether its first head has one output a label
    pools: bool | None = False  # whether it needs the encoder's pooled vector; None: as the checkpoint has it
    per_token: bool = False  # one output a token: packed inputs are predicted at the length of `sequence_length`
    grouped: bool = False  # inputs are (batch, group, length): several token lists a row
    soft_loss: str = "softmax"  # how distillation compares outputs: softmax, sigmoid, token_softmax or squared_error
    reads_mask: bool = False  # whether `serve` reads more of its inputs than the encoder does
    unserved: tuple[str, ...] = ()  # Dense layers that a checkpoint holds and `serve` does not reach

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer | None, sequence_length: int | None = None, **kwargs):
        super().__init__(**kwargs)
        longest = encoder.config.longest
        sequence_length = min(DEFAULT_LENGTH, longest) if sequence_length is None else sequence_length
        if not 3 <= sequence_length <= longest:
            raise KerasBertError(
                f"expected `sequence_length=` from 3 to {longest} (the positions of this model), received {sequence_length}"
            )
        if tokenizer is not None:
            check_vocabulary_size(tokenizer.vocabulary_size, encoder.config.vocab_size, type(self).__name__)
        self.encoder, self.sequence_length = encoder, sequence_length
        self._tokenizer = tokenizer
        self.truncated_texts = 0
        self._notes: set[str] = self._no_dependency(set())

    def _create_variables(self):
        """Variables exist from the start, so that weights can be loaded into a new task."""
        # Keras' `export` and `save` would fix the shape of the first call otherwise.
        self._set_save_spec({name: tf.TensorSpec((None, None), tf.int32, name=name) for name in INPUT_NAMES})
        ids = tf.zeros((1, 8), tf.int32)
        self({name: ids for name in INPUT_NAMES})

    def build_from_config(self, config):
        """Nothing to do: variables exist since construction (Keras would call the task with float ids)."""

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns texts into ids. Raises KerasBertError for a task that was made without one."""
        if self._tokenizer is None:
            raise KerasBertError(
                "expected packed inputs, received texts: this model came without a tokenizer (vocab.txt, tokenizer.json, spiece.model, "
                "or vocab.json with merges.txt)"
            )
        return self._tokenizer

    @property
    def has_tokenizer(self) -> bool:
        return self._tokenizer is not None

    def tokenize_as(self, client: str) -> None:
        """Tokenizes texts as a client does from now on, so that training and client agree; saved with the task, and in its files.

        Args:
          client: "mediapipe" or "task-library"; see `kerasbert.text.ClientWordPiece`.

        Raises:
          KerasBertError: another client, a task that it does not have, or a tokenizer of another kind than WordPiece.
        """
        from kerasbert.processors.client_tasks import client_tokenizer

        self._tokenizer = client_tokenizer(self.tokenizer, client, self.processor)

    @property
    def config(self):
        """The encoder's config."""
        return self.encoder.config

    @property
    def policy(self) -> QuantizationPolicy | None:
        """What is held in 8 bits while training, or None."""
        return self.encoder.policy

    # -- text -> ids -----------------------------------------------------------------------------------------------------------------

    def encode(self, texts, pairs=None):
        """Tokenizes texts, cut to `sequence_length`; says once a call how many were cut."""
        encoded = self.tokenizer.encode(texts, pairs, max_length=self.sequence_length)
        self.truncated_texts += encoded.truncated
        return encoded

    def pack(self, texts, pairs=None, length: int | None = None) -> dict[str, np.ndarray]:
        """int32 arrays `input_ids`, `attention_mask`, `token_type_ids` of shape (rows, length); by default `sequence_length`."""
        from kerasbert.text import pack

        length = length or self.sequence_length
        encoded = self.tokenizer.encode(texts, pairs, max_length=length)
        return pack(encoded, length=length, pad_id=self.tokenizer.pad_id)

    # -- the model -------------------------------------------------------------------------------------------------------------------

    def serve(self, inputs, layout: LoweringOptions = TRAINING_OPTIONS) -> dict[str, tf.Tensor]:
        """What a user reads, under the exported file's output name; float32."""
        raise NotImplementedError

    # -- saving ----------------------------------------------------------------------------------------------------------------------

    def variables_by_path(self) -> dict[str, tf.Variable]:
        """Every trained variable by attribute path, such as `encoder.layers.0.attention.query.kernel`."""
        return {path: v for path, v in named_variables(self).items() if v.trainable}

    def fingerprint(self) -> str:
        """Sixteen hex digits that change when any trained weight does."""
        digest = hashlib.sha256()
        for path, variable in sorted(self.variables_by_path().items()):
            digest.update(path.encode() + variable.numpy().tobytes())
        return digest.hexdigest()[:16]

    def get_config(self):
        encoder = {"model_type": self.config.model_type, "config": self.encoder.get_config()}
        return {
            "name": self.name,
            "encoder": encoder,
            "tokenizer": self._tokenizer.get_config() if self.has_tokenizer else None,
            "sequence_length": self.sequence_length,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        encoder = config["encoder"]
        config["encoder"] = encoder_class(encoder["model_type"]).from_config(encoder["config"])
        config["tokenizer"] = tokenizer_from_config(config["tokenizer"]) if config["tokenizer"] else None
        return cls(**config)

    def head_config(self) -> dict:
        """The constructor arguments beside encoder and tokenizer, JSON-able."""
        return {
            name: value for name, value in self.get_config().items() if name not in ("encoder", "tokenizer", "name")
        }

    def with_policy(self, policy: QuantizationPolicy | None, dropout: float | None = None) -> "Task":
        """The same task with the same weights (copied) under another quantization policy; ranges start empty.

        dropout: a rate as `with_dropout` takes it; None: as the task has it.
        """
        config = {} if dropout is None else {"config": self.config.with_dropout(float(dropout)).to_dict()}
        return self._copy(policy=policy.get_config() if policy else None, **config)

    def with_dropout(self, rate: float) -> "Task":
        """The same task with the same weights and ranges (copied), with this rate of dropout in encoder and head.

        Raises KerasBertError for a rate below 0, and of 1 and above.
        """
        other = self._copy(config=self.config.with_dropout(float(rate)).to_dict())
        for quantizer, copied in zip(activation_quantizers(self), activation_quantizers(other), strict=True):
            for name, variable in copied.statistics().items():
                variable.assign(quantizer.statistics()[name])
        return other

    def _copy(self, **changes) -> "Task":
        """The same task with the same weights, copied, but for these settings of its encoder; new variables as they begin."""
        config = self.get_config()
        config["encoder"]["config"] |= changes
        other = type(self).from_config(config)
        mine = self.variables_by_path()
        for path, variable in other.variables_by_path().items():
            variable.assign(mine[path])
        return other

    @classmethod
    def from_pretrained(
        cls,
        name_or_path,
        *,
        max_position_embeddings: int | None = None,
        vocab_size: int | None = None,
        adapters: int | None = None,
        layer_mix: bool | None = None,
        **settings,
    ):
        """From a checkpoint folder or a hub name. What the folder does not say of the head (`labels`, ...) comes from `settings`.

        max_position_embeddings: cuts the position table. vocab_size: cuts the word table, or adds rows with new values.
        adapters, layer_mix: see `Encoder`; new ones where the checkpoint has none.

        Raises KerasBertError for damaged or mismatching files, and settings that do not fit the checkpoint's head.
        """
        from kerasbert.tasks.pretrained import from_folder

        sizes = {"max_position_embeddings": max_position_embeddings, "vocab_size": vocab_size}
        return from_folder(cls, name_or_path, sizes, {"adapters": adapters, "layer_mix": layer_mix}, **settings)

    @classmethod
    def settings_of(cls, config: dict, folder) -> dict:
        """Constructor arguments that a foreign checkpoint folder tells: its config.json and what lies beside it."""
        return {}

    def hub_config(self) -> dict:
        """What Hugging Face's config.json says about the head."""
        return {}

    def write_companions(self, folder) -> None:
        """Further files that other programs expect beside the weights."""

    def save_pretrained(self, folder) -> None:
        """Writes a Hugging Face folder: config.json, model.safetensors, the tokenizer's files, and our kerasbert.json.

        Whole or not at all. A model that was saved there is replaced, as Keras does; your own files beside it stay. Raises KerasBertError
        for a folder that holds other things and no model of kerasbert's.
        """
        from kerasbert.tasks.pretrained import save_task

        save_task(self, folder)
