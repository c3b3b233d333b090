"""Keys of a `config.json` without a field in our encoders: harmless, for other computations, or unknown. And keys that are missing."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kerasbert.console.strictness import note_once
from kerasbert.files.known_keys import KnownKeys

# Keys that transformers 2 to 5 write, or that other programs need. They do not affect the outputs of an encoder or a head in inference.
# The first lines are of all models, the next ones of generation, and the last ones of single architectures and old checkpoints.
HARMLESS = frozenset(
    """
    _attn_implementation _attn_implementation_internal _name_or_path _num_labels architectures attn_implementation auto_map
    chunk_size_feed_forward classifier_dropout classifier_dropout_prob dtype finetuning_task gradient_checkpointing id2label
    initializer_range label2id language layer_norm_eps model_type num_labels output_attentions output_hidden_states pad_to_max_length
    padding return_dict task_specific_params tie_word_embeddings tokenizer_class torch_dtype torchscript transformers_version
    type_vocab_size use_bfloat16 vocab_type xla_device

    bad_words_ids begin_suppress_tokens bos_token_id bos_token_ids cls_token_id decoder_start_token_id diversity_penalty do_sample
    early_stopping encoder_no_repeat_ngram_size eos_token_id eos_token_ids exponential_decay_length_penalty forced_bos_token_id
    forced_eos_token_id length_penalty max_length min_length no_repeat_ngram_size num_beam_groups num_beams num_return_sequences
    output_past output_scores pad_token_id prefix remove_invalid_values repetition_penalty return_dict_in_generate sep_token_id
    suppress_tokens temperature tf_legacy_loss tie_encoder_decoder top_k top_p typical_p use_cache

    directionality down_scale_factor gap_size generator_hidden_size generator_size layers_to_keep net_structure_type num_memory_blocks
    pooler_fc_size pooler_num_attention_heads pooler_num_fc_layers pooler_size_per_head pooler_type qa_dropout seq_classif_dropout
    sinusoidal_pos_embds summary_activation summary_last_dropout summary_type summary_use_proj tie_weights_ true_hidden_size
    sbert_ce_default_activation_function sentence_transformers
    """.split()
)
# Keys that affect outputs -> the only supported values. None is what older versions write for the default.
ONLY: dict[str, tuple[Any, ...]] = {
    "position_embedding_type": ("absolute", None),
    "is_decoder": (False, None),
    "is_encoder_decoder": (False, None),
    "add_cross_attention": (False, None),
    "cross_attention_hidden_size": (None,),
    "pruned_heads": ({}, None),
    "problem_type": ("single_label_classification", "multi_label_classification", "regression", None),
}
REFUSED = {
    "quantization_config": "its weights are quantized: load the float checkpoint and quantize it with `kerasbert quantize`"
}
# Keys that affect outputs and are in no error if they are missing -> transformers' default, which may differ from that of our configs.
_ACTIVATIONS = {"albert": "gelu_new", "mobilebert": "relu"}
_LAYER_NORM_EPS = 1e-12


def check_keys(config: Mapping[str, Any], used: Iterable[str], where: str | os.PathLike) -> None:
    """Check the keys of a config: those that the encoder does not read are harmless, named in a note, or errors.

    Args:
        config: the content of `config.json`.
        used: the keys that the encoder reads.
        where: the file, for messages.

    Raises:
        KerasBertError: when a key has a value that the encoder does not support, or is unknown under `strict`.
    """
    used = frozenset(used) - ONLY.keys()
    KnownKeys(used, HARMLESS - used, ONLY, REFUSED).check(config, where, "take another checkpoint")


def with_defaults(config: Mapping[str, Any], used: Iterable[str], where: str | os.PathLike) -> dict[str, Any]:
    """Return a config with transformers' values of missing keys that affect outputs; a note names them.

    Args:
        config: the content of `config.json`.
        used: the keys that the encoder reads.
        where: the file, for messages.
    """
    activation = _ACTIVATIONS.get(str(config.get("model_type")), "gelu")
    defaults = {"hidden_act": activation, "activation": activation, "layer_norm_eps": _LAYER_NORM_EPS}
    missing = {key: defaults[key] for key in sorted(defaults.keys() & set(used) - config.keys())}
    if missing:
        names = ", ".join(f"{key} {value}" for key, value in missing.items())
        note_once(f"note: {where}: not in the file, transformers' default is used: {names}")
    return {**config, **missing}
