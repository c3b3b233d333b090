"""Keys of a `config.json` without a field in our encoders: harmless, unknown, or for another architecture."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kerasbert.files.known_keys import KnownKeys

# Keys that Hugging Face writes into every config.json, or that other programs need. They do not affect the encoder's outputs.
HARMLESS = frozenset(
    """
    _name_or_path architectures attn_implementation auto_map bos_token_id chunk_size_feed_forward classifier_dropout
    classifier_dropout_prob cls_token_id directionality dtype eos_token_id finetuning_task gap_size
    generator_hidden_size generator_size gradient_checkpointing id2label is_encoder_decoder label2id language
    layers_to_keep max_length model_type net_structure_type num_labels num_memory_blocks output_attentions
    output_hidden_states output_past pad_token_id pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers
    pooler_size_per_head pooler_type problem_type qa_dropout return_dict sep_token_id seq_classif_dropout
    sinusoidal_pos_embds summary_activation summary_last_dropout summary_type summary_use_proj task_specific_params
    tie_encoder_decoder tie_weights_ tokenizer_class torch_dtype torchscript transformers_version true_hidden_size
    type_vocab_size use_bfloat16 use_cache vocab_type initializer_range layer_norm_eps tie_word_embeddings
    sentence_transformers sbert_ce_default_activation_function
    """.split()
)
# Keys that affect the encoder's outputs -> the only supported values. None is what older versions write for the default.
ONLY = {
    "position_embedding_type": ("absolute", None),
    "is_decoder": (False, None),
    "add_cross_attention": (False, None),
}


def check_keys(config: Mapping[str, Any], used: Iterable[str], where: str | os.PathLike) -> None:
    """Check the keys of a config: those that the encoder does not read are harmless, named in a note, or errors.

    Args:
        config: the content of `config.json`.
        used: the keys that the encoder reads.
        where: the file, for messages.

    Raises:
        KerasBertError: when a key has a value that the encoder does not support, or is unknown under `strict`.
    """
    KnownKeys(frozenset(used), HARMLESS, ONLY).check(config, where, "take another checkpoint")
