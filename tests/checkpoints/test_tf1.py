import json

import numpy as np
import pytest

from kerasbert.checkpoints import tf1
from kerasbert.checkpoints.hugging_face import read_config
from kerasbert.checkpoints.tensorflow_names import hugging_face_tensor
from kerasbert.errors import KerasBertError

BERT_CONFIG = {  # as in Google's release of BERT base
    **{"attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 768},
    **{"initializer_range": 0.02, "intermediate_size": 3072, "max_position_embeddings": 512, "num_hidden_layers": 12},
    **{"num_attention_heads": 12, "type_vocab_size": 2, "vocab_size": 30522},
}
ALBERT_KEYS = {"embedding_size": 128, "num_hidden_groups": 1, "inner_group_num": 1, "net_structure_type": 0}
MOBILEBERT_KEYS = {  # of uncased_L-24_H-128_B-512_A-4_F-4_OPT
    **{"embedding_size": 128, "trigram_input": True, "use_bottleneck": True, "intra_bottleneck_size": 128},
    **{"key_query_shared_bottleneck": True, "num_feedforward_networks": 4, "normalization_type": "no_norm"},
    "classifier_activation": False,
}

# TensorFlow's names and Hugging Face's, written out independently of the rules. "T" marks matrices to transpose.
BERT = """
bert/embeddings/word_embeddings                              bert.embeddings.word_embeddings.weight
bert/embeddings/position_embeddings                          bert.embeddings.position_embeddings.weight
bert/embeddings/token_type_embeddings                        bert.embeddings.token_type_embeddings.weight
bert/embeddings/LayerNorm/gamma                              bert.embeddings.LayerNorm.weight
bert/embeddings/LayerNorm/beta                               bert.embeddings.LayerNorm.bias
bert/encoder/layer_0/attention/self/query/kernel             bert.encoder.layer.0.attention.self.query.weight T
bert/encoder/layer_0/attention/self/query/bias               bert.encoder.layer.0.attention.self.query.bias
bert/encoder/layer_0/attention/self/key/kernel               bert.encoder.layer.0.attention.self.key.weight T
bert/encoder/layer_0/attention/self/value/bias               bert.encoder.layer.0.attention.self.value.bias
bert/encoder/layer_0/attention/output/dense/kernel           bert.encoder.layer.0.attention.output.dense.weight T
bert/encoder/layer_0/attention/output/LayerNorm/gamma        bert.encoder.layer.0.attention.output.LayerNorm.weight
bert/encoder/layer_11/intermediate/dense/kernel              bert.encoder.layer.11.intermediate.dense.weight T
bert/encoder/layer_11/intermediate/dense/bias                bert.encoder.layer.11.intermediate.dense.bias
bert/encoder/layer_11/output/dense/kernel                    bert.encoder.layer.11.output.dense.weight T
bert/encoder/layer_11/output/LayerNorm/beta                  bert.encoder.layer.11.output.LayerNorm.bias
bert/pooler/dense/kernel                                     bert.pooler.dense.weight T
bert/pooler/dense/bias                                       bert.pooler.dense.bias
cls/predictions/transform/dense/kernel                       cls.predictions.transform.dense.weight T
cls/predictions/transform/LayerNorm/gamma                    cls.predictions.transform.LayerNorm.weight
cls/predictions/output_bias                                  cls.predictions.bias
cls/seq_relationship/output_weights                          cls.seq_relationship.weight
cls/seq_relationship/output_bias                             cls.seq_relationship.bias
output_weights                                               classifier.weight
output_bias                                                  classifier.bias
cls/squad/output_weights                                     qa_outputs.weight
cls/squad/output_bias                                        qa_outputs.bias
"""
BLOCK = "bert/encoder/transformer/group_1/inner_group_0"
THEIR_BLOCK = "albert.encoder.albert_layer_groups.1.albert_layers.0"
ALBERT = f"""
bert/embeddings/word_embeddings                              albert.embeddings.word_embeddings.weight
bert/embeddings/LayerNorm/beta                               albert.embeddings.LayerNorm.bias
bert/encoder/embedding_hidden_mapping_in/kernel              albert.encoder.embedding_hidden_mapping_in.weight T
bert/encoder/embedding_hidden_mapping_in/bias                albert.encoder.embedding_hidden_mapping_in.bias
{BLOCK}/attention_1/self/query/kernel                        {THEIR_BLOCK}.attention.query.weight T
{BLOCK}/attention_1/self/value/bias                          {THEIR_BLOCK}.attention.value.bias
{BLOCK}/attention_1/output/dense/kernel                      {THEIR_BLOCK}.attention.dense.weight T
{BLOCK}/LayerNorm/gamma                                      {THEIR_BLOCK}.attention.LayerNorm.weight
{BLOCK}/ffn_1/intermediate/dense/kernel                      {THEIR_BLOCK}.ffn.weight T
{BLOCK}/ffn_1/intermediate/output/dense/kernel               {THEIR_BLOCK}.ffn_output.weight T
{BLOCK}/ffn_1/intermediate/output/dense/bias                 {THEIR_BLOCK}.ffn_output.bias
{BLOCK}/LayerNorm_1/gamma                                    {THEIR_BLOCK}.full_layer_layer_norm.weight
{BLOCK}/LayerNorm_1/beta                                     {THEIR_BLOCK}.full_layer_layer_norm.bias
bert/pooler/dense/kernel                                     albert.pooler.weight T
bert/pooler/dense/bias                                       albert.pooler.bias
cls/predictions/transform/dense/kernel                       predictions.dense.weight T
cls/predictions/transform/LayerNorm/gamma                    predictions.LayerNorm.weight
cls/predictions/output_bias                                  predictions.bias
cls/seq_relationship/output_weights                          sop_classifier.classifier.weight
"""
LAYER, THEIR_LAYER = "bert/encoder/layer_23", "mobilebert.encoder.layer.23"
MOBILEBERT = f"""
bert/embeddings/word_embeddings                              mobilebert.embeddings.word_embeddings.weight
bert/embeddings/embedding_transformation/kernel              mobilebert.embeddings.embedding_transformation.weight T
bert/embeddings/FakeLayerNorm/gamma                          mobilebert.embeddings.LayerNorm.weight
{LAYER}/bottleneck/input/dense/kernel                        {THEIR_LAYER}.bottleneck.input.dense.weight T
{LAYER}/bottleneck/input/FakeLayerNorm/beta                  {THEIR_LAYER}.bottleneck.input.LayerNorm.bias
{LAYER}/bottleneck/attention/dense/bias                      {THEIR_LAYER}.bottleneck.attention.dense.bias
{LAYER}/bottleneck/attention/FakeLayerNorm/gamma             {THEIR_LAYER}.bottleneck.attention.LayerNorm.weight
{LAYER}/attention/self/value/kernel                          {THEIR_LAYER}.attention.self.value.weight T
{LAYER}/attention/output/dense/kernel                        {THEIR_LAYER}.attention.output.dense.weight T
{LAYER}/attention/output/FakeLayerNorm/gamma                 {THEIR_LAYER}.attention.output.LayerNorm.weight
{LAYER}/ffn_layer_2/intermediate/dense/kernel                {THEIR_LAYER}.ffn.2.intermediate.dense.weight T
{LAYER}/ffn_layer_2/output/dense/bias                        {THEIR_LAYER}.ffn.2.output.dense.bias
{LAYER}/ffn_layer_2/output/FakeLayerNorm/beta                {THEIR_LAYER}.ffn.2.output.LayerNorm.bias
{LAYER}/intermediate/dense/bias                              {THEIR_LAYER}.intermediate.dense.bias
{LAYER}/output/dense/kernel                                  {THEIR_LAYER}.output.dense.weight T
{LAYER}/output/FakeLayerNorm/gamma                           {THEIR_LAYER}.output.LayerNorm.weight
{LAYER}/output/bottleneck/dense/kernel                       {THEIR_LAYER}.output.bottleneck.dense.weight T
{LAYER}/output/bottleneck/FakeLayerNorm/gamma                {THEIR_LAYER}.output.bottleneck.LayerNorm.weight
{LAYER}/output/bottleneck/LayerNorm/beta                     {THEIR_LAYER}.output.bottleneck.LayerNorm.bias
bert/pooler/dense/kernel                                     mobilebert.pooler.dense.weight T
cls/predictions/transform/LayerNorm/gamma                    cls.predictions.transform.LayerNorm.weight
cls/predictions/extra_output_weights                         cls.predictions.dense.weight T
cls/predictions/output_bias                                  cls.predictions.bias
cls/seq_relationship/output_weights                          cls.seq_relationship.weight
"""
TABLES = {"bert": BERT, "albert": ALBERT, "mobilebert": MOBILEBERT}


def table(model_type):
    """(TensorFlow's name, Hugging Face's name, True to transpose)"""
    return [(*line.split()[:2], line.endswith(" T")) for line in TABLES[model_type].strip().splitlines()]


def write_checkpoint(prefix, arrays):
    import tensorflow as tf

    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=list(arrays),
        shape_and_slices=[""] * len(arrays),
        tensors=[tf.constant(array) for array in arrays.values()],
    )


def complaint(call, *arguments):
    with pytest.raises(KerasBertError) as caught:
        call(*arguments)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600
    return str(caught.value)


@pytest.mark.parametrize("model_type", TABLES)
def test_every_tensor_name_is_mapped(model_type):
    for tf_name, name, transpose in table(model_type):
        assert hugging_face_tensor(tf_name, model_type) == (name, transpose)
        assert hugging_face_tensor(f"module/{tf_name}", model_type) == (name, transpose)
        for other in (f"{tf_name}/more", f"x/{tf_name}", f"{tf_name}x"):
            assert hugging_face_tensor(other, model_type) is None


def test_names_of_another_model_are_unknown():
    assert hugging_face_tensor(f"{BLOCK}/LayerNorm_1/gamma", "bert") is None
    assert hugging_face_tensor("bert/encoder/layer_0/ffn_layer_0/output/dense/bias", "bert") is None
    assert hugging_face_tensor("bert/encoder/layer_0/output/dense/bias", "albert") is None
    assert hugging_face_tensor("bert/pooler/dense/gamma", "bert") is None


@pytest.mark.parametrize(
    ("model_type", "prefix"),
    [("bert", "bert_model.ckpt"), ("albert", "model.ckpt-best"), ("mobilebert", "mobilebert_variables.ckpt")],
)
def test_every_tensor_of_a_checkpoint_is_read(tmp_path, model_type, prefix):
    draw = np.random.default_rng(0)
    arrays = {}
    for tf_name, _, _ in table(model_type):
        is_matrix = any(part in tf_name for part in ("kernel", "weights", "_embeddings"))
        arrays[tf_name] = draw.normal(size=(3, 5) if is_matrix else 4).astype(np.float32)
    training = {
        "global_step": np.int64(7),
        "bert/pooler/dense/kernel/adam_m": np.zeros((3, 5), np.float32),
        "bert/pooler/dense/kernel/adam_v": np.zeros((3, 5), np.float32),
        "bert/pooler/dense/bias/AdamWeightDecayOptimizer_1": np.zeros(4, np.float32),
    }
    halves = {"teacher/anything": np.array([0.1, 6e-8], np.float16)}
    write_checkpoint(tmp_path / prefix, {**arrays, **training, **halves})
    read = tf1.read_tensors(tmp_path, model_type)
    expected = {
        name: arrays[tf_name].T if transpose else arrays[tf_name] for tf_name, name, transpose in table(model_type)
    }
    # The last name is unknown: the tensor keeps it, and a load report counts it as unused.
    expected["teacher/anything"] = halves["teacher/anything"].astype(np.float32)
    assert read.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == np.float32


def test_damaged_checkpoints(tmp_path):
    write_checkpoint(tmp_path / "bert_model.ckpt", {"output_bias": np.arange(1000, dtype=np.float32)})
    index, data = tmp_path / "bert_model.ckpt.index", tmp_path / "bert_model.ckpt.data-00000-of-00001"
    whole_index, whole = index.read_bytes(), data.read_bytes()
    data.write_bytes(whole[:-1])
    text = complaint(tf1.read_tensors, tmp_path, "bert")
    assert text.endswith("bert_model.ckpt: expected 4000 bytes of data, received 3999; the .data file is truncated")
    data.write_bytes(b"\1" + whole[1:])
    assert "Checksum" in complaint(tf1.read_tensors, tmp_path, "bert")
    for length in range(0, len(whole_index), 20):
        index.write_bytes(whole_index[:length])
        assert "a TensorFlow checkpoint" in complaint(tf1.read_tensors, tmp_path, "bert")
    assert "a model_type of bert, albert, mobilebert" in complaint(tf1.read_tensors, tmp_path, "roberta")


def test_two_tensors_with_the_same_target_name(tmp_path):
    twice = {name: np.zeros(2, np.float32) for name in ("bert/pooler/dense/bias", "module/bert/pooler/dense/bias")}
    write_checkpoint(tmp_path / "model.ckpt", twice)
    assert "one tensor for bert.pooler.dense.bias" in complaint(tf1.read_tensors, tmp_path, "bert")


def test_find_checkpoint(tmp_path):
    assert tf1.find_checkpoint(tmp_path) is None
    assert "received none" in complaint(tf1.read_tensors, tmp_path, "bert")
    for name in ("model.ckpt-1", "model.ckpt-2"):
        (tmp_path / f"{name}.index").touch()
        assert tf1.find_checkpoint(tmp_path) is None or name == "model.ckpt-2"
        (tmp_path / f"{name}.data-00000-of-00001").touch()
    assert "model.ckpt-1, model.ckpt-2" in complaint(tf1.find_checkpoint, tmp_path)
    for ending in ("index", "data-00000-of-00001"):
        (tmp_path / f"bert_model.ckpt.{ending}").touch()
    assert tf1.find_checkpoint(tmp_path) == tmp_path / "bert_model.ckpt"


def test_bert_config(tmp_path):
    (tmp_path / "bert_config.json").write_text(json.dumps(BERT_CONFIG))
    config = read_config(tmp_path)
    assert BERT_CONFIG.items() <= config.items()
    assert config["model_type"] == "bert" and config["layer_norm_eps"] == 1e-12


def test_albert_config(tmp_path):
    (tmp_path / "albert_config.json").write_text(json.dumps({**BERT_CONFIG, **ALBERT_KEYS}))
    config = read_config(tmp_path)
    assert config["model_type"] == "albert" and config["embedding_size"] == 128
    assert config["hidden_act"] == "gelu_new"  # Google's code uses the tanh approximation under the name gelu
    del config["inner_group_num"]
    assert tf1.convert_config({**BERT_CONFIG, "embedding_size": 128})["num_hidden_groups"] == 1


def test_mobilebert_config(tmp_path):
    path = tmp_path / "uncased_L-24_H-128_B-512_A-4_F-4_OPT.json"
    path.write_text(json.dumps({**BERT_CONFIG, "hidden_act": "relu", **MOBILEBERT_KEYS}))
    config = read_config(tmp_path)
    assert MOBILEBERT_KEYS.items() <= config.items()
    assert config["model_type"] == "mobilebert" and config["hidden_act"] == "relu"
    assert config["use_bottleneck_attention"] is False


def test_mobilebert_defaults_are_googles():
    """The teacher's config omits keys that the student's sets."""
    teacher = {**BERT_CONFIG, "embedding_size": 128, "trigram_input": True, "use_bottleneck": True}
    config = tf1.convert_config({**teacher, "intra_bottleneck_size": 1024})
    assert config["normalization_type"] == "layer_norm" and config["num_feedforward_networks"] == 1
    assert config["key_query_shared_bottleneck"] is False and config["classifier_activation"] is True
    assert config["hidden_act"] == "gelu_new" and config["intra_bottleneck_size"] == 1024
    assert tf1.convert_config({**teacher, "intra_bottleneck_size": None})["intra_bottleneck_size"] == 768
    manual = tf1.convert_config({**teacher, "normalization_type": "manual_layer_norm"})
    assert (manual["normalization_type"], manual["layer_norm_eps"]) == ("layer_norm", 1e-6)


def test_find_config(tmp_path):
    for name in ("tokenizer_config.json", "generation_config.json"):
        (tmp_path / name).write_text("{}")
    assert tf1.find_config(tmp_path) is None
    assert "expected config.json" in complaint(read_config, tmp_path)
    (tmp_path / "bert_config.json").write_text(json.dumps(BERT_CONFIG))
    (tmp_path / "albert_config.json").write_text("{}")
    assert "one *_config.json" in complaint(read_config, tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({**BERT_CONFIG, "model_type": "bert", "vocab_size": 5}))
    assert read_config(tmp_path)["vocab_size"] == 5


@pytest.mark.parametrize("text", ["[]", "{", "{}", '{"vocab_size": 5}'])
def test_configs_require_sizes(tmp_path, text):
    (tmp_path / "bert_config.json").write_text(text)
    assert "bert_config.json" in complaint(read_config, tmp_path)
