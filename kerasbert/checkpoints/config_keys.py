"""Keys of a `config.json` without a field in our encoders: harmless, unknown, or for another architecture."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kerasbert.checkpoints.messages import first_three, mismatch, pluralize

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
    """.split()
)
# Keys that affect the encoder's outputs -> the only supported value.
EXPECTED = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


def unknown_keys(config: Mapping[str, Any], known: Iterable[str], where: str | os.PathLike) -> str | None:
    """Check the keys of a config that the encoder does not read.

    Args:
        config: the content of `config.json`.
        known: the keys that the encoder reads.
        where: the file, for messages.

    Returns:
        A note to the user about unknown keys, or None where there are none.

    Raises:
        KerasBertError: when a key has a value that the encoder does not support.
    """
    for key, expected in EXPECTED.items():
        if config.get(key) not in (expected, None):
            raise mismatch(
                where, f"{key} {expected!r}, the only supported value", repr(config[key]), "take another checkpoint"
            )
    ignored = sorted(config.keys() - set(known) - HARMLESS - EXPECTED.keys())
    if not ignored:
        return None
    return f"note: {where}: ignored {pluralize(ignored, 'unknown key')} ({first_three(ignored)})"
