"""Folders in the forms of sentence-transformers 0.4 to 6.2; expected vectors are counted with NumPy from the vectors of the tokens."""

import json
import shutil

import numpy as np
import pytest

import kerasbert as kb
from kerasbert.checkpoints.sentence_transformers import read_settings
from kerasbert.console.strictness import note_once
from kerasbert.errors import KerasBertError
from kerasbert.files.model_folder import OWN_FILE

LONG = (
    "base.modules.transformer.Transformer",
    "sentence_transformer.modules.pooling.Pooling",
    "base.modules.normalize.Normalize",
)
# What 6.2 writes for a text encoder.
NEW_TRANSFORMER = {
    "transformer_task": "feature-extraction",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    "module_output_name": "token_embeddings",
}  # fmt: skip
FLAGS = (
    *(
        "pooling_mode_cls_token",
        "pooling_mode_mean_tokens",
        "pooling_mode_max_tokens",
        "pooling_mode_mean_sqrt_len_tokens",
    ),
    *("pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"),
)


@pytest.fixture(scope="module")
def texts(tiny):
    return ["good", *tiny.rows(5, seed=8)[0]]


@pytest.fixture(scope="module")
def encoder(tiny):
    """An encoder without normalization, and with a shortest length that cuts some texts."""
    return tiny.sentence_encoder(normalize=False, sequence_length=8)


@pytest.fixture(scope="module")
def tokens(encoder, texts):
    """The vectors of each text's tokens, `(tokens, width)`."""
    packed = encoder.pack(texts)
    sequence = encoder.encoder(packed).sequence.numpy()
    return [vectors[: mask.sum()] for vectors, mask in zip(sequence, packed["attention_mask"], strict=True)]


@pytest.fixture
def folder(encoder, tmp_path):
    """The encoder's folder as sentence-transformers 2 to 5.3 writes it."""
    encoder.save_pretrained(tmp_path / "model")
    (tmp_path / "model" / OWN_FILE).unlink()
    return tmp_path / "model"


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), "utf-8")


def edit(path, **changes):
    write(path, {**json.loads(path.read_text("utf-8")), **changes})


def modules(folder, *kinds, prefix="sentence_transformers.models."):
    """Write a modules.json of modules in the folders `0_Kind`, the encoder's being the root."""
    entries = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": prefix + kind}
        for i, kind in enumerate(kinds)
    ]
    write(folder / "modules.json", entries)


def renewed(folder, pooling):
    """The folder in the form that 5.4 and later write."""
    entries = json.loads((folder / "modules.json").read_text("utf-8"))
    for entry in entries:
        kind = entry["type"].rpartition(".")[2]
        entry["type"] = "sentence_transformers." + next(name for name in LONG if name.endswith("." + kind))
    write(folder / "modules.json", entries)
    write(
        folder / "1_Pooling" / "config.json",
        {"embedding_dimension": 32, "pooling_mode": pooling, "include_prompt": True},
    )
    write(folder / "sentence_bert_config.json", NEW_TRANSFORMER)
    edit(folder / "tokenizer_config.json", model_max_length=8)
    return folder


def load(folder):
    with kb.strict():
        return kb.SentenceEncoder.from_pretrained(folder)


def settings(folder):
    """What the folder's files define; encoders of this module have 32 positions and the width 32."""
    with kb.strict():
        return read_settings(folder, 32, 32)


def vectors(model, texts) -> np.ndarray:
    """What `predict` returns, computed eagerly."""
    return model.serve(model.pack(texts))["embedding"].numpy()


COUNTED = {
    "mean": lambda rows: rows.mean(0),
    "cls": lambda rows: rows[0],
    "max": lambda rows: rows.max(0),
    "mean_sqrt_len_tokens": lambda rows: rows.sum(0) / len(rows) ** 0.5,
    "weightedmean": lambda rows: np.average(rows, axis=0, weights=np.arange(1, len(rows) + 1)),
    "lasttoken": lambda rows: rows[-1],
}
FLAG_OF = {
    "mean": FLAGS[1], "cls": FLAGS[0], "max": FLAGS[2], "mean_sqrt_len_tokens": FLAGS[3], "weightedmean": FLAGS[4], "lasttoken": FLAGS[5]
}  # fmt: skip


@pytest.mark.long_cases("mean]", "lasttoken")
@pytest.mark.parametrize("mode", COUNTED)
def test_every_pooling_mode_of_every_form(folder, texts, tokens, mode, tmp_path):
    expected = np.stack([COUNTED[mode](rows) for rows in tokens])
    flags = {flag: flag == FLAG_OF[mode] for flag in FLAGS}
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 32, **flags, "include_prompt": True})
    loaded = load(folder)
    np.testing.assert_allclose(vectors(loaded, texts), expected, atol=1e-5)
    loaded.save_pretrained(tmp_path / "again")
    assert settings(tmp_path / "again")["pooling"] == mode
    written = json.loads((tmp_path / "again" / "1_Pooling" / "config.json").read_text("utf-8"))
    assert [name for name, value in written.items() if value is True] == [FLAG_OF[mode]]
    assert settings(renewed(folder, [mode])) == settings(renewed(folder, mode))
    np.testing.assert_allclose(vectors(load(folder), texts), expected, atol=1e-5)


@pytest.mark.parametrize("flags", [[FLAGS[0], FLAGS[1]], ["cls", "mean"], [], "median", None, 3, [["cls"]]])
def test_other_numbers_of_pooling_modes_are_refused(folder, flags):
    old = isinstance(flags, list) and flags and str(flags[0]) in FLAGS
    config = dict.fromkeys(flags, True) if old else {"pooling_mode": flags}
    write(folder / "1_Pooling" / "config.json", config)
    with pytest.raises(KerasBertError, match="1_Pooling/config.json: expected one pooling mode of mean, cls, max"):
        settings(folder)


def test_no_pooling_flag_is_the_mean(folder):
    write(folder / "1_Pooling" / "config.json", dict.fromkeys(FLAGS, False))
    assert settings(folder)["pooling"] == "mean"


@pytest.mark.parametrize("place", ["pooling", "parts/pooling.2"])
def test_the_pooling_module_is_found_at_any_path(folder, texts, tokens, place):
    (folder / place).parent.mkdir(exist_ok=True)
    shutil.move(folder / "1_Pooling", folder / place)
    write(folder / place / "config.json", {"pooling_mode": "cls"})
    entries = json.loads((folder / "modules.json").read_text("utf-8"))
    entries[1]["path"] = place
    write(folder / "modules.json", entries)
    np.testing.assert_allclose(vectors(load(folder), texts), [rows[0] for rows in tokens], atol=1e-5)


@pytest.mark.parametrize("place", ["0_Transformer", "encoder"])
def test_the_encoder_may_have_a_folder_of_its_own(folder, texts, tokens, place):
    """As in folders of sentence-transformers before 2.0, with pytorch_model.bin or safetensors."""
    (folder / place).mkdir()
    for path in list(folder.iterdir()):
        if path.is_file() and path.name != "modules.json":
            path.rename(folder / place / path.name)
    (folder / place / "sentence_bert_config.json").rename(folder / place / "sentence_roberta_config.json")
    entries = json.loads((folder / "modules.json").read_text("utf-8"))
    entries[0]["path"] = place
    write(folder / "modules.json", entries)
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})
    loaded = load(folder)
    np.testing.assert_allclose(vectors(loaded, texts), [rows[0] for rows in tokens], atol=1e-5)
    assert loaded.sequence_length == 8 and kb.load_task(folder).pooling == "cls"
    assert kb.load_encoder(folder).load_report.missing == ()


def test_dropout_does_nothing(folder):
    plain = settings(folder)
    modules(folder, "Transformer", "Pooling", "Dropout")
    assert settings(folder) == plain


@pytest.mark.parametrize(
    "kind",
    ["LayerNorm", "LSTM", "CNN", "WeightedLayerPooling", "WordWeights", "Asym", "Router", "SpladePooling", "WKPooling"],
)
def test_other_modules_are_refused_by_name(folder, kind):
    modules(folder, "Transformer", "Pooling", kind)
    with pytest.raises(KerasBertError, match=f"Normalize and Dropout, received '{kind}', which is not supported"):
        settings(folder)


def test_modules_of_other_packages_are_refused_by_name(folder):
    modules(folder, "Transformer", "Pooling", prefix="custom_st.")
    with pytest.raises(KerasBertError, match="received 'custom_st.Transformer', which is not supported"):
        load(folder)
    classifier = kb.TextClassifier.from_pretrained(folder, labels=["a", "b"])  # which needs the encoder only
    assert classifier.load_report.loaded


@pytest.mark.parametrize(
    "kinds",
    [("Transformer",), ("Transformer", "Normalize"), ("Pooling", "Transformer"), ("Transformer", "Pooling", "Normalize", "Dense"),
     ("Transformer", "Pooling", "Normalize", "Normalize")],
)  # fmt: skip
def test_other_orders_of_modules_are_refused(folder, kinds):
    modules(folder, *kinds)
    with pytest.raises(KerasBertError, match="at most one Normalize, in this order, received " + ", ".join(kinds)):
        settings(folder)


@pytest.mark.parametrize(
    "content",
    ["[]", "[3]", '[{"type": "x"}]', '[{"type": 3, "path": ""}]', '[{"type": "x", "path": "../y"}]',
     '[{"type": "x", "path": "a//b"}]', "{}", "[" + '{"type": "x", "path": ""},' * 100 + '{"type": "x", "path": ""}]'],
)  # fmt: skip
def test_damaged_lists_of_modules_are_refused(folder, content):
    (folder / "modules.json").write_text(content, "utf-8")
    with pytest.raises(KerasBertError, match="modules.json: expected "):
        settings(folder)


REFUSED = [
    ("1_Pooling/config.json", {"include_prompt": False}),
    ("2_Normalize/config.json", {"module_input_name": "token_embeddings"}),
    ("sentence_bert_config.json", {"transformer_task": "fill-mask"}),
    ("sentence_bert_config.json", {"modality_config": {"message": {}}}),
    ("sentence_bert_config.json", {"module_output_name": "scores"}),
    ("sentence_bert_config.json", {"processing_kwargs": {"text": {"max_length": 4}}}),
    ("sentence_bert_config.json", {"query_length": 32}),
    ("sentence_bert_config.json", {"config_args": {"num_hidden_layers": 1}}),
]


@pytest.mark.parametrize(("name", "change"), REFUSED)
def test_settings_that_change_vectors_are_refused(folder, name, change):
    modules(folder, "Transformer", "Pooling", "Normalize")
    write(folder / name, change)
    with pytest.raises(KerasBertError, match=rf"{name}: expected {next(iter(change))} .*only supported value"):
        settings(folder)


@pytest.mark.parametrize("name", ["1_Pooling/config.json", "2_Normalize/config.json", "sentence_bert_config.json"])
def test_unknown_keys_are_named_in_a_note(folder, name, capsys):
    modules(folder, "Transformer", "Pooling", "Normalize")
    write(folder / name, {"rotation": 3})
    note_once.cache_clear()
    read_settings(folder, 32, 32)
    assert f"{name}: ignored 1 unknown key (rotation)" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(KerasBertError, match=r"received 1 unknown key \(rotation\)"):
        settings(folder)


def lengths(folder, *, transformer=None, tokenizer=None):
    """The length that a folder with these settings gives."""
    path = folder / "sentence_bert_config.json"
    path.unlink(missing_ok=True)
    if transformer is not None:
        write(path, transformer)
    write(folder / "tokenizer_config.json", {} if tokenizer is None else {"model_max_length": tokenizer})
    return settings(folder).get("sequence_length")


def test_the_length_is_that_of_sentence_transformers(folder):
    assert lengths(folder, transformer={"max_seq_length": 10}, tokenizer=20) == 10
    assert lengths(folder, transformer={"max_seq_length": None}, tokenizer=20) == 20  # 2 to 5.3 without a limit
    assert lengths(folder, transformer=NEW_TRANSFORMER, tokenizer=20) == 20  # 5.4 and later
    assert lengths(folder, tokenizer=20) == 20
    assert lengths(folder, tokenizer=int(1e30)) == lengths(folder) == 32
    assert lengths(folder, transformer={"max_seq_length": 512}) == 32
    assert lengths(folder, transformer={"tokenizer_args": {"model_max_length": 12}}, tokenizer=20) == 12
    for wrong in (0, -1, "8", True, [8], float("nan")):
        with pytest.raises(KerasBertError, match="expected max_seq_length .*, received"):
            lengths(folder, transformer={"max_seq_length": wrong})
    (folder / "modules.json").unlink()  # a folder of transformers: the default of every task
    assert lengths(folder, tokenizer=20) is None


def test_texts_are_lowercased_as_the_folder_asks(folder, texts, tokens, tmp_path):
    edit(folder / "tokenizer_config.json", do_lower_case=False)
    upper = [text.upper() for text in texts]
    expected = np.stack([rows.mean(0) for rows in tokens])
    assert np.abs(vectors(load(folder), upper) - expected).max() > 0.1  # unknown words
    edit(folder / "sentence_bert_config.json", do_lower_case=True)
    loaded = load(folder)
    np.testing.assert_allclose(vectors(loaded, upper), expected, atol=1e-5)
    loaded.save_pretrained(tmp_path / "again")
    np.testing.assert_array_equal(vectors(kb.load_task(tmp_path / "again"), upper), vectors(loaded, upper))
    assert loaded.tokenizer.strip_accents is False  # as before: only letters are lowered
    edit(folder / "sentence_bert_config.json", do_lower_case="yes")
    with pytest.raises(KerasBertError, match="do_lower_case as true or false, received 'yes'"):
        load(folder)
