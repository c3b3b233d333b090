"""Keys of sentence-transformers' files: all that its versions 0.4 to 6.2 write, and what kerasbert does with each."""

import sys
from dataclasses import dataclass, replace
from typing import ClassVar

from kerasbert.files.known_keys import KnownKeys
from kerasbert.files.record import Record, setting

# Poolings under sentence-transformers' names since 5.4, and the flags that older versions write for them.
POOLING_FLAGS = {
    "mean": "pooling_mode_mean_tokens",
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
# Names of `projection_activation=` by the paths that sentence-transformers writes.
ACTIVATIONS = {"torch.nn.modules.linear.Identity": "identity", "torch.nn.modules.activation.Tanh": "tanh"}
_OF_THE_SENTENCE = {
    "module_input_name": ("sentence_embedding",),
    "module_output_name": ("sentence_embedding", None),
}


def _text_only(output: str) -> dict:
    return {"text": {"method": "forward", "method_output_name": output}}


POOLING = KnownKeys(
    used=frozenset({"pooling_mode", *POOLING_FLAGS.values()}),
    harmless=frozenset({"word_embedding_dimension", "embedding_dimension"}),
    only={"include_prompt": (True,)},
)
NORMALIZE = KnownKeys(only=_OF_THE_SENTENCE)
_ANOTHER_MODEL = "load another model"


@dataclass(frozen=True)
class ModuleEntry(Record):
    """An entry of modules.json."""

    others: ClassVar[KnownKeys | None] = KnownKeys(harmless=frozenset({"idx", "name", "kwargs"}))
    advice: ClassVar[str] = "correct the file"

    type: str
    path: str


@dataclass(frozen=True)
class DenseModule(Record):
    """The config of a Dense module. Its own defaults are a bias and Tanh."""

    others: ClassVar[KnownKeys | None] = KnownKeys(only={**_OF_THE_SENTENCE, "use_residual": (False,)})
    advice: ClassVar[str] = _ANOTHER_MODEL

    in_features: int
    out_features: int = setting(at_least=1)
    bias: bool = True
    activation_function: str = setting("torch.nn.modules.activation.Tanh", choices=tuple(ACTIVATIONS))


@dataclass(frozen=True)
class TokenizerArguments(Record):
    """The arguments of a tokenizer in the config of an encoder's module."""

    others: ClassVar[KnownKeys | None] = KnownKeys(harmless=frozenset({"trust_remote_code", "use_fast", "revision"}))

    model_max_length: float | None = setting(None, at_least=1, at_most=sys.float_info.max)


_TRANSFORMER = KnownKeys(
    # Precision and code paths of PyTorch; a trained model's config.json decides about everything else.
    harmless=frozenset({"unpad_inputs", "cache_dir", "backend", "model_args", "model_kwargs"}),
    only={
        "processing_kwargs": ({}, None),
        "config_args": ({}, None, {"trust_remote_code": True}, {"trust_remote_code": False}),
        "config_kwargs": ({}, None, {"trust_remote_code": True}, {"trust_remote_code": False}),
        "tokenizer_name_or_path": (None,),
        "query_length": (None,),
        "document_length": (None,),
        "query_expansion": (None,),
    },
)


def _of(task: str, modality: str, output: str) -> KnownKeys:
    """Return the other keys of an encoder's module for a task of transformers."""
    only = {"transformer_task": (task,), "modality_config": (_text_only(modality),), "module_output_name": (output,)}
    return replace(_TRANSFORMER, only={**_TRANSFORMER.only, **only})


@dataclass(frozen=True)
class TransformerModule(Record):
    """The config of an encoder's module."""

    others: ClassVar[KnownKeys | None] = _of("feature-extraction", "last_hidden_state", "token_embeddings")
    advice: ClassVar[str] = _ANOTHER_MODEL

    max_seq_length: float | None = setting(None, at_least=1, at_most=sys.float_info.max)
    do_lower_case: bool | None = None
    tokenizer_args: TokenizerArguments | None = None
    processor_kwargs: TokenizerArguments | None = None

    @property
    def lengths(self) -> list[float | None]:
        """Limits of the tokens of a text, the first one that is not None counts."""
        arguments = (self.processor_kwargs, self.tokenizer_args)
        return [self.max_seq_length, *(each.model_max_length for each in arguments if each is not None)]


@dataclass(frozen=True)
class CrossEncoderTransformer(TransformerModule):
    """The config of the encoder's module of a cross-encoder."""

    others: ClassVar[KnownKeys | None] = _of("sequence-classification", "logits", "scores")


@dataclass(frozen=True)
class SentenceModel(Record):
    """The config of a model of modules."""

    others: ClassVar[KnownKeys | None] = KnownKeys(
        harmless=frozenset({"__version__", "requirements"}),
        only={"truncate_dim": (None,), "model_type": ("SentenceTransformer", None)},
    )
    advice: ClassVar[str] = _ANOTHER_MODEL

    prompts: object = None
    default_prompt_name: object = None
    similarity_fn_name: str | None = None


CROSS_ENCODER = KnownKeys(
    used=frozenset({"activation_fn", "model_type"}),
    harmless=frozenset(
        {"__version__", "requirements", "prompts", "keep_in_fp32_modules"}
    ),  # prompts that no call names
    only={"default_prompt_name": (None,)},
)
