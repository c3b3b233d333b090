"""Tensor names in Google's TensorFlow 1 code for BERT, ALBERT and MobileBERT, mapped to Hugging Face's."""

import re

# Kind of layer -> the leaf of a TensorFlow name -> Hugging Face's leaf, and True for a matrix that is (in, out) in TensorFlow and
# (out, in) at Hugging Face.
_LEAVES = {
    "dense": {"/kernel": (".weight", True), "/bias": (".bias", False)},
    "norm": {"/gamma": (".weight", False), "/beta": (".bias", False)},
    "table": {"": (".weight", False)},
    "head": {"/output_weights": (".weight", False), "/output_bias": (".bias", False)},
    "bias": {"": (".bias", False)},
    "kernel": {"": (".weight", True)},
}
_NORM = r"(?:Fake)?LayerNorm"  # FakeLayerNorm is MobileBERT's NoNorm

_Rules = tuple[tuple[str, str, str], ...]  # TensorFlow's name as a pattern, Hugging Face's name, kind of layer


def _shared(model: str) -> _Rules:
    return (
        (r"bert/embeddings/(word|position|token_type)_embeddings", model + r".embeddings.\1_embeddings", "table"),
        (r"bert/embeddings/" + _NORM, f"{model}.embeddings.LayerNorm", "norm"),
        # Heads of fine-tuned checkpoints: run_classifier.py and run_squad.py.
        (r"cls/squad", "qa_outputs", "head"),
    )


def _layers(model: str) -> _Rules:
    layer, target = r"bert/encoder/layer_(\d+)/", model + r".encoder.layer.\1."
    return (
        (layer + r"attention/self/(query|key|value)", target + r"attention.self.\2", "dense"),
        (layer + r"attention/output/dense", target + "attention.output.dense", "dense"),
        (layer + r"attention/output/" + _NORM, target + "attention.output.LayerNorm", "norm"),
        (layer + r"(intermediate|output)/dense", target + r"\2.dense", "dense"),
        (layer + r"output/" + _NORM, target + "output.LayerNorm", "norm"),
        (r"bert/pooler/dense", f"{model}.pooler.dense", "dense"),
        (r"cls/predictions/transform/dense", "cls.predictions.transform.dense", "dense"),
        (r"cls/predictions/transform/" + _NORM, "cls.predictions.transform.LayerNorm", "norm"),
        (r"cls/predictions/output_bias", "cls.predictions", "bias"),
        (r"cls/seq_relationship", "cls.seq_relationship", "head"),
    )


_BLOCK = r"bert/encoder/transformer/group_(\d+)/inner_group_(\d+)/"
_BLOCK_TARGET = r"albert.encoder.albert_layer_groups.\1.albert_layers.\2."
_ALBERT: _Rules = (
    *_shared("albert"),
    (r"bert/encoder/(embedding_hidden_mapping_in)", r"albert.encoder.\1", "dense"),
    (_BLOCK + r"attention_1/self/(query|key|value)", _BLOCK_TARGET + r"attention.\3", "dense"),
    (_BLOCK + r"attention_1/output/dense", _BLOCK_TARGET + "attention.dense", "dense"),
    (_BLOCK + r"LayerNorm", _BLOCK_TARGET + "attention.LayerNorm", "norm"),
    (_BLOCK + r"ffn_1/intermediate/dense", _BLOCK_TARGET + "ffn", "dense"),
    (_BLOCK + r"ffn_1/intermediate/output/dense", _BLOCK_TARGET + "ffn_output", "dense"),
    (_BLOCK + r"LayerNorm_1", _BLOCK_TARGET + "full_layer_layer_norm", "norm"),
    (r"bert/pooler/dense", "albert.pooler", "dense"),
    (r"cls/predictions/transform/dense", "predictions.dense", "dense"),
    (r"cls/predictions/transform/LayerNorm", "predictions.LayerNorm", "norm"),
    (r"cls/predictions/output_bias", "predictions", "bias"),
    (r"cls/seq_relationship", "sop_classifier.classifier", "head"),
)
_LAYER, _LAYER_TARGET = r"bert/encoder/layer_(\d+)/", r"mobilebert.encoder.layer.\1."
_MOBILEBERT: _Rules = (
    *_shared("mobilebert"),
    *_layers("mobilebert"),
    (r"bert/embeddings/(embedding_transformation)", r"mobilebert.embeddings.\1", "dense"),
    (_LAYER + r"bottleneck/(input|attention)/dense", _LAYER_TARGET + r"bottleneck.\2.dense", "dense"),
    (_LAYER + r"bottleneck/(input|attention)/" + _NORM, _LAYER_TARGET + r"bottleneck.\2.LayerNorm", "norm"),
    (_LAYER + r"ffn_layer_(\d+)/(intermediate|output)/dense", _LAYER_TARGET + r"ffn.\2.\3.dense", "dense"),
    (_LAYER + r"ffn_layer_(\d+)/output/" + _NORM, _LAYER_TARGET + r"ffn.\2.output.LayerNorm", "norm"),
    (_LAYER + r"output/bottleneck/dense", _LAYER_TARGET + "output.bottleneck.dense", "dense"),
    (_LAYER + r"output/bottleneck/" + _NORM, _LAYER_TARGET + "output.bottleneck.LayerNorm", "norm"),
    # Output weights of the masked-LM decoder beyond the narrow token embeddings: (vocabulary, rest) here, a `Linear` at Hugging Face.
    (r"cls/predictions/extra_output_weights", "cls.predictions.dense", "kernel"),
)
_RULES: dict[str, _Rules] = {
    "bert": (*_shared("bert"), *_layers("bert")),
    "albert": _ALBERT,
    "mobilebert": _MOBILEBERT,
}
MODEL_TYPES = tuple(_RULES)
# A classifier's variables are outside any scope.
_TOP_LEVEL = {"output_weights": "classifier.weight", "output_bias": "classifier.bias"}
_TRAINING = re.compile(
    r"global_step|.*/(?:adam_m|adam_v|AdamWeightDecayOptimizer(?:_1)?)|beta[12]_power|.*/Adam(?:_1)?"
)


def hugging_face_tensor(name: str, model_type: str) -> tuple[str, bool] | None:
    """Return a tensor's name at Hugging Face, and True if its matrix has to be transposed; None for an unknown name.

    Args:
        name: the name in the checkpoint, with or without TensorFlow Hub's prefix `module/`.
        model_type: "bert", "albert" or "mobilebert".
    """
    name = name.removeprefix("module/")
    if name in _TOP_LEVEL:
        return _TOP_LEVEL[name], False
    for pattern, target, kind in _RULES[model_type]:
        for leaf, (target_leaf, transpose) in _LEAVES[kind].items():
            if match := re.fullmatch(pattern + leaf, name):
                return match.expand(target) + target_leaf, transpose
    return None


def is_training_state(name: str) -> bool:
    """Return True for the step counter and optimizer slots, which are not part of the model."""
    return _TRAINING.fullmatch(name) is not None
