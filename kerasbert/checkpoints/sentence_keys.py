"""Keys of sentence-transformers' files: all that its versions 0.4 to 6.2 write, and what kerasbert does with each."""

from dataclasses import replace

from kerasbert.files.known_keys import KnownKeys

# Poolings under sentence-transformers' names since 5.4, and the flags that older versions write for them.
POOLING_FLAGS = {
    "mean": "pooling_mode_mean_tokens",
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean_sqrt_len_tokens": "pooling_mode_mean_sqrt_len_tokens",
    "weightedmean": "pooling_mode_weightedmean_tokens",
    "lasttoken": "pooling_mode_lasttoken",
}
_OF_THE_SENTENCE = {
    "module_input_name": ("sentence_embedding",),
    "module_output_name": ("sentence_embedding", None),
}


def _text_only(output: str) -> dict:
    return {"text": {"method": "forward", "method_output_name": output}}


MODULE = KnownKeys(used=frozenset({"type", "path"}), harmless=frozenset({"idx", "name", "kwargs"}))
POOLING = KnownKeys(
    used=frozenset({"pooling_mode", *POOLING_FLAGS.values()}),
    harmless=frozenset({"word_embedding_dimension", "embedding_dimension"}),
    only={"include_prompt": (True,)},
)
DENSE = KnownKeys(
    used=frozenset({"in_features", "out_features", "bias", "activation_function"}),
    only={**_OF_THE_SENTENCE, "use_residual": (False,)},
)
NORMALIZE = KnownKeys(only=_OF_THE_SENTENCE)
DROPOUT = KnownKeys(harmless=frozenset({"dropout"}))
_TRANSFORMER = KnownKeys(
    used=frozenset({"max_seq_length", "do_lower_case", "tokenizer_args", "processor_kwargs"}),
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
TRANSFORMER = replace(
    _TRANSFORMER,
    only={
        **_TRANSFORMER.only,
        "transformer_task": ("feature-extraction",),
        "modality_config": (_text_only("last_hidden_state"),),
        "module_output_name": ("token_embeddings",),
    },
)
CROSS_ENCODER_TRANSFORMER = replace(
    _TRANSFORMER,
    only={
        **_TRANSFORMER.only,
        "transformer_task": ("sequence-classification",),
        "modality_config": (_text_only("logits"),),
        "module_output_name": ("scores",),
    },
)
TOKENIZER_ARGUMENTS = KnownKeys(
    used=frozenset({"model_max_length"}),
    harmless=frozenset({"trust_remote_code", "use_fast", "revision"}),
)
MODEL = KnownKeys(
    used=frozenset({"prompts", "default_prompt_name", "similarity_fn_name"}),
    harmless=frozenset({"__version__", "requirements"}),
    only={"truncate_dim": (None,), "model_type": ("SentenceTransformer", None)},
)
CROSS_ENCODER = KnownKeys(
    used=frozenset({"activation_fn", "model_type"}),
    harmless=frozenset(
        {"__version__", "requirements", "prompts", "keep_in_fp32_modules"}
    ),  # prompts that no call names
    only={"default_prompt_name": (None,)},
)
