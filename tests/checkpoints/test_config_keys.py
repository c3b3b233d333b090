import json
import shutil
from pathlib import Path

import pytest

import kerasbert as kb
from kerasbert.checkpoints.config_keys import check_keys
from kerasbert.errors import KerasBertError

GOLDEN = Path(__file__).parents[1] / "golden"
KNOWN = ("vocab_size", "hidden_size")


def test_harmless_keys_get_no_note(capsys):
    for folder in GOLDEN.glob("*/config.json"):
        config = json.loads(folder.read_text())
        check_keys(config, config.keys() - {"architectures", "dtype"}, "x")
    assert capsys.readouterr().err == ""


def test_unknown_keys_are_named(capsys):
    config = {"vocab_size": 3, "rotary_base": 1, "b": 2, "c": 3, "d": 4}
    check_keys(config, KNOWN, "config.json")
    assert capsys.readouterr().err == "note: config.json: ignored 4 unknown keys (b, c, d and 1 more)\n"


@pytest.mark.parametrize(("key", "value"), [("position_embedding_type", "relative_key"), ("is_decoder", True)])
def test_unsupported_values_are_errors(key, value, capsys):
    with pytest.raises(KerasBertError, match=f"config.json: expected {key}.*received {value!r}"):
        check_keys({key: value}, KNOWN, "config.json")
    check_keys({key: {"is_decoder": False}.get(key, "absolute")}, KNOWN, "config.json")
    assert capsys.readouterr().err == ""


def test_note_about_unknown_keys_is_printed(tmp_path, capsys):
    folder = tmp_path / "checkpoint"
    shutil.copytree(GOLDEN / "bert-gelu-new", folder)
    kb.load_encoder(folder)
    assert capsys.readouterr().err == ""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "rotary_base": 10000}))
    kb.load_encoder(folder)
    assert "ignored 1 unknown key (rotary_base)" in capsys.readouterr().err


# What `to_dict` of the configs of transformers 4.44, 4.57 and 5.24 returns, beside the fields of our configs. The first lines are of all.
WRITTEN = """
    _name_or_path add_cross_attention architectures bad_words_ids begin_suppress_tokens bos_token_id chunk_size_feed_forward
    cross_attention_hidden_size decoder_start_token_id diversity_penalty do_sample dtype early_stopping encoder_no_repeat_ngram_size
    eos_token_id exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id id2label is_decoder
    is_encoder_decoder label2id length_penalty max_length min_length model_type no_repeat_ngram_size num_beam_groups num_beams
    num_return_sequences output_attentions output_hidden_states output_scores pad_token_id prefix problem_type pruned_heads
    remove_invalid_values repetition_penalty return_dict return_dict_in_generate sep_token_id suppress_tokens task_specific_params
    temperature tf_legacy_loss tie_encoder_decoder tie_word_embeddings tokenizer_class top_k top_p torch_dtype torchscript
    transformers_version typical_p use_bfloat16

    classifier_dropout position_embedding_type use_cache true_hidden_size qa_dropout seq_classif_dropout sinusoidal_pos_embds
    summary_activation summary_last_dropout summary_type summary_use_proj
""".split()


def test_keys_that_transformers_writes_are_known():
    with kb.strict():
        check_keys(dict.fromkeys(WRITTEN), KNOWN, "config.json")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pruned_heads", {"0": [1]}, "expected pruned_heads {} or None"),
        ("is_encoder_decoder", True, "expected is_encoder_decoder False or None"),
        (
            "problem_type",
            "multi_label",
            "expected problem_type 'single_label_classification' or .*received 'multi_label'",
        ),
        ("quantization_config", {"bits": 8}, "expected no quantization_config, .*; its weights are quantized"),
    ],
)
def test_keys_of_other_computations_are_errors(key, value, message):
    with pytest.raises(KerasBertError, match=message):
        check_keys({key: value}, KNOWN, "config.json")


@pytest.mark.parametrize(
    ("model_type", "missing", "used"),
    [
        ("bert", "layer_norm_eps", 1e-12),
        ("roberta", "layer_norm_eps", 1e-12),  # that of our presets is 1e-5
        ("bert", "hidden_act", "gelu"),
        ("albert", "hidden_act", "gelu_new"),
        ("mobilebert", "hidden_act", "relu"),
        ("distilbert", "activation", "gelu"),
    ],
)
@pytest.mark.long_cases
def test_missing_key_gets_the_default_of_transformers_and_a_note(tmp_path, capsys, model_type, missing, used):
    kind = kb.encoders.encoder_class(model_type)
    sizes = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "vocab_size": 40,
    }
    further = {"embedding_size": 8} if "embedding_size" in kind.config_class.__dataclass_fields__ else {}
    encoder = kind(kind.config_class(**sizes, **further, max_position_embeddings=32), pooler=False)
    task = kb.SentenceEncoder(encoder, None, sequence_length=16)
    task.save_pretrained(tmp_path / "saved")
    config = json.loads((tmp_path / "saved" / "config.json").read_text())
    del config[missing]
    (tmp_path / "saved" / "config.json").write_text(json.dumps(config))
    loaded = kb.load_encoder(tmp_path / "saved")
    assert getattr(loaded.config, {"activation": "hidden_act"}.get(missing, missing)) == used
    assert f"transformers' default is used: {missing} {used}" in capsys.readouterr().err
