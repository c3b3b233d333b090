"""Hugging Face's names of the tensors of every architecture (transformers' models and task classes) beside ours.

An encoder's names are the same in every checkpoint but for a prefix such as `bert.`, which stands before them where there is a head.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kerasbert.checkpoints.name_map import Entry, Ignored, NameMap
from kerasbert.errors import KerasBertError


def dense(theirs: str, ours: str) -> list[Entry]:
    return [Entry(f"{theirs}.weight", f"{ours}.kernel", transpose=True), Entry(f"{theirs}.bias", f"{ours}.bias")]


def norm(theirs: str, ours: str) -> list[Entry]:
    return [Entry(f"{theirs}.weight", f"{ours}.gamma"), Entry(f"{theirs}.bias", f"{ours}.beta")]


def masked_lm(transform: str, scale: str, bias: str, decoder: str) -> list[Entry]:
    """A masked-LM head; the decoder has a tensor of its own only where it is not the word table."""
    return [
        *dense(transform, "masked_lm.transform"),
        *norm(scale, "masked_lm.norm"),
        Entry(bias, "masked_lm.bias"),
        Entry(decoder, "masked_lm.decoder", optional=True),
    ]


BERT_MASKED_LM = masked_lm(
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.bias",
    "cls.predictions.decoder.weight",
)
BERT_HEADS = {
    "classifier": dense("classifier", "classifier"),
    "choice_classifier": dense("classifier", "choice_classifier"),
    "token_classifier": dense("classifier", "token_classifier"),
    "qa_outputs": dense("qa_outputs", "qa_outputs"),
    "masked_lm": BERT_MASKED_LM,
    "next_sentence": dense("cls.seq_relationship", "next_sentence"),
}
HEAD_NAMES = {
    "classifier": "classifier",
    "choice_classifier": "classifier",
    "token_classifier": "classifier",
    "qa_outputs": "question-answering head",
    "masked_lm": "masked-LM head",
    "next_sentence": "next-sentence head",
    "discriminator": "replaced-token head",
}


def _bert_tables(theirs: str = "embeddings") -> list[Entry]:
    return [
        Entry(f"{theirs}.word_embeddings.weight", "embeddings.word.table"),
        Entry(f"{theirs}.position_embeddings.weight", "embeddings.position.table"),
        Entry(f"{theirs}.token_type_embeddings.weight", "embeddings.token_type.table"),
        *norm(f"{theirs}.LayerNorm", "embeddings.norm"),
    ]


def _bert_layer(i: int) -> list[Entry]:
    theirs, ours = f"encoder.layer.{i}", f"layers.{i}"
    return [
        *(e for part in ("query", "key", "value") for e in dense(f"{theirs}.attention.self.{part}", f"{ours}.attention.{part}")),
        *dense(f"{theirs}.attention.output.dense", f"{ours}.attention.output_dense"),
        *norm(f"{theirs}.attention.output.LayerNorm", f"{ours}.attention_norm"),
        *dense(f"{theirs}.intermediate.dense", f"{ours}.feed_forward.intermediate"),
        *dense(f"{theirs}.output.dense", f"{ours}.feed_forward.output_dense"),
        *norm(f"{theirs}.output.LayerNorm", f"{ours}.feed_forward_norm"),
    ]  # fmt: skip


def _layers(config: Any, layer: Callable[[int], list[Entry]]) -> list[Entry]:
    return [entry for i in range(config.num_hidden_layers) for entry in layer(i)]


def _bert(config: Any) -> list[Entry]:
    return [*_bert_tables(), *_layers(config, _bert_layer)]


def _electra(config: Any) -> list[Entry]:
    projected = config.embedding_size != config.hidden_size
    return [*_bert(config), *(dense("embeddings_project", "embeddings.projection") if projected else [])]


def _distilbert_layer(i: int) -> list[Entry]:
    theirs, ours = f"transformer.layer.{i}", f"layers.{i}"
    return [
        *dense(f"{theirs}.attention.q_lin", f"{ours}.attention.query"),
        *dense(f"{theirs}.attention.k_lin", f"{ours}.attention.key"),
        *dense(f"{theirs}.attention.v_lin", f"{ours}.attention.value"),
        *dense(f"{theirs}.attention.out_lin", f"{ours}.attention.output_dense"),
        *norm(f"{theirs}.sa_layer_norm", f"{ours}.attention_norm"),
        *dense(f"{theirs}.ffn.lin1", f"{ours}.feed_forward.intermediate"),
        *dense(f"{theirs}.ffn.lin2", f"{ours}.feed_forward.output_dense"),
        *norm(f"{theirs}.output_layer_norm", f"{ours}.feed_forward_norm"),
    ]


def _distilbert(config: Any) -> list[Entry]:
    tables = [entry for entry in _bert_tables() if "token_type" not in entry.model]
    return [*tables, *_layers(config, _distilbert_layer)]


def _albert(config: Any) -> list[Entry]:
    entries = [*_bert_tables(), *dense("encoder.embedding_hidden_mapping_in", "embeddings.projection")]
    for i in range(config.num_hidden_groups * config.inner_group_num):
        group, inner = divmod(i, config.inner_group_num)
        theirs, ours = f"encoder.albert_layer_groups.{group}.albert_layers.{inner}", f"layers.{i}"
        for part in ("query", "key", "value"):
            entries += dense(f"{theirs}.attention.{part}", f"{ours}.attention.{part}")
        entries += [
            *dense(f"{theirs}.attention.dense", f"{ours}.attention.output_dense"),
            *norm(f"{theirs}.attention.LayerNorm", f"{ours}.attention_norm"),
            *dense(f"{theirs}.ffn", f"{ours}.feed_forward.intermediate"),
            *dense(f"{theirs}.ffn_output", f"{ours}.feed_forward.output_dense"),
            *norm(f"{theirs}.full_layer_layer_norm", f"{ours}.feed_forward_norm"),
        ]
    return entries


def _mobilebert_layer(config: Any, i: int) -> list[Entry]:
    theirs, ours = f"encoder.layer.{i}", f"layers.{i}"
    entries = []
    if config.use_bottleneck:
        shared = config.key_query_shared_bottleneck and not config.use_bottleneck_attention
        for name, brick in (("input", "bottleneck"), ("attention", "shared_bottleneck"))[: 1 + shared]:
            entries += dense(f"{theirs}.bottleneck.{name}.dense", f"{ours}.{brick}.dense")
            entries += norm(f"{theirs}.bottleneck.{name}.LayerNorm", f"{ours}.{brick}.norm")
        entries += dense(f"{theirs}.output.bottleneck.dense", f"{ours}.output_dense")
        entries += norm(f"{theirs}.output.bottleneck.LayerNorm", f"{ours}.output_norm")
    for part in ("query", "key", "value"):
        entries += dense(f"{theirs}.attention.self.{part}", f"{ours}.attention.{part}")
    entries += dense(f"{theirs}.attention.output.dense", f"{ours}.attention.output_dense")
    entries += norm(f"{theirs}.attention.output.LayerNorm", f"{ours}.attention_norm")
    last = config.num_feedforward_networks - 1
    for n in range(last + 1):
        network, block = f"{ours}.feed_forwards.{n}", theirs if n == last else f"{theirs}.ffn.{n}"
        entries += dense(f"{block}.intermediate.dense", f"{network}.feed_forward.intermediate")
        entries += dense(f"{block}.output.dense", f"{network}.feed_forward.output_dense")
        entries += norm(f"{block}.output.LayerNorm", f"{network}.norm")
    return entries


def _mobilebert(config: Any) -> list[Entry]:
    entries = _bert_tables()
    if config.trigram_input or config.embedding_size != config.hidden_size:
        entries += dense("embeddings.embedding_transformation", "embeddings.transformation")
    return [*entries, *_layers(config, lambda i: _mobilebert_layer(config, i))]


@dataclass(frozen=True)
class Architecture:
    """The names of one architecture.

    encoder: config -> its entries, without the prefix. pooler: the layer over the first token, a part of the encoder; under some heads
    the first layer of the head takes its place, and `head_poolers` says which.
    """

    prefix: str
    encoder: Callable[[Any], list[Entry]]
    heads: dict[str, list[Entry]] = field(default_factory=lambda: dict(BERT_HEADS))
    pooler: str = "pooler.dense"
    head_poolers: dict[str, str] = field(default_factory=dict)


ARCHITECTURES = {
    "bert": Architecture("bert.", _bert),
    "albert": Architecture(
        "albert.",
        _albert,
        heads={
            **BERT_HEADS,
            "masked_lm": masked_lm("predictions.dense", "predictions.LayerNorm", "predictions.bias", "predictions.decoder.weight"),
            "next_sentence": dense("sop_classifier.classifier", "next_sentence"),
        },
        pooler="pooler",
    ),
    "mobilebert": Architecture(
        "mobilebert.",
        _mobilebert,
        heads={
            **BERT_HEADS,
            "masked_lm": [*BERT_MASKED_LM, Entry("cls.predictions.dense.weight", "masked_lm.further_decoder", optional=True)],
        },
    ),
    "distilbert": Architecture(
        "distilbert.",
        _distilbert,
        heads={
            **BERT_HEADS,
            "masked_lm": masked_lm("vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector.weight"),
        },
        head_poolers={"classifier": "pre_classifier", "choice_classifier": "pre_classifier"},
    ),
    "electra": Architecture(
        "electra.",
        _electra,
        heads={
            **BERT_HEADS,
            "classifier": dense("classifier.out_proj", "classifier"),
            "masked_lm": masked_lm(
                "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias", "generator_lm_head.weight"
            ),
            "discriminator": [
                *dense("discriminator_predictions.dense", "discriminator.transform"),
                *dense("discriminator_predictions.dense_prediction", "discriminator.logits"),
            ],
        },
        head_poolers={"classifier": "classifier.dense"},
    ),
    "roberta": Architecture(
        "roberta.",
        _bert,
        heads={
            **BERT_HEADS,
            "classifier": dense("classifier.out_proj", "classifier"),
            "masked_lm": masked_lm("lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder.weight"),
        },
        head_poolers={"classifier": "classifier.dense"},
    ),
}  # fmt: skip

ADDED = "kerasbert"  # what the names of tensors begin with that only we know

# What checkpoints repeat: constants that older versions stored, and the tensors of a tied decoder.
REPEATED = (
    Ignored(r"embeddings\.position_ids", "position_ids"),
    Ignored(r"(cls\.predictions|predictions|lm_head)\.decoder\.(weight|bias)", "tied decoder"),
    Ignored(r"(generator_lm_head|vocab_projector)\.weight", "tied decoder"),
)
# Checkpoints that were born in TensorFlow keep its names of a norm's scale and shift.
OLD_NORMS = ((".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias"))


def name_map(
    config: Any, *, pooler: bool, heads: Sequence[str] = (), bare: bool | None = None, additions: Iterable[str] = ()
) -> NameMap:
    """The map between a Hugging Face checkpoint and the variables of an encoder, or of a task around one.

    config: an encoder's config. pooler: whether the model has one with weights; if not, the checkpoint's is ignored.
    heads: the model's heads, by the attribute that holds them; those of others are ignored.
    bare: whether `export` writes the encoder's names without prefix; by default when there is no head. Reading takes either.
    additions: variables that Hugging Face's model does not have. They lie in the checkpoint under our names and in our layout, and its
        loaders report them as unexpected.
    """
    names = ARCHITECTURES[config.model_type]
    prefix = "" if (not heads if bare is None else bare) else names.prefix
    entries = [replace(entry, checkpoint=prefix + entry.checkpoint) for entry in names.encoder(config)]
    if pooler:
        theirs = pooler_name(config.model_type, heads)
        entries += dense(prefix + theirs if theirs == names.pooler else theirs, "pooler")
    ignored = [
        Ignored(rf"{re.escape(name)}\.(weight|bias)", "pooler")
        for name in dict.fromkeys((names.pooler, *names.head_poolers.values()))
    ]
    for head in heads:
        entries += _head(names, head, config.model_type)
    entries += [Entry(f"{ADDED}.{path}", path) for path in additions]
    for head in names.heads.keys() - set(heads):
        theirs = {entry.checkpoint.rpartition(".")[0] for entry in names.heads[head]}
        ignored += [Ignored(rf"{re.escape(name)}\.(weight|bias)", HEAD_NAMES[head]) for name in sorted(theirs)]
    return NameMap(tuple(entries), ignored=(*ignored, *REPEATED), prefixes=(names.prefix,), aliases=OLD_NORMS)


def pooler_name(model_type: str, heads: Sequence[str]) -> str:
    """What a checkpoint calls the layer that our encoder calls its pooler, without prefix."""
    names = ARCHITECTURES[model_type]
    return next((names.head_poolers[head] for head in heads if head in names.head_poolers), names.pooler)


def has_pooler(names: Iterable[str], model_type: str) -> bool:
    """Whether a checkpoint with these tensor names has an encoder's pooler."""
    architecture = ARCHITECTURES[model_type]
    wanted = f"{architecture.pooler}.weight"
    return any(name.removeprefix(architecture.prefix) == wanted for name in names)


def has_head(names: Iterable[str], model_type: str, head: str) -> bool:
    """Whether a checkpoint with these tensor names has all of a head's tensors that it must have."""
    wanted = {entry.checkpoint for entry in _head(ARCHITECTURES[model_type], head, model_type) if not entry.optional}
    return wanted <= set(names)


def head_bias(model_type: str, head: str) -> str:
    """The name of the bias of a head that is one dense: as long as the head has classes."""
    return next(e.checkpoint for e in ARCHITECTURES[model_type].heads[head] if e.checkpoint.endswith("bias"))


def _head(names: Architecture, head: str, model_type: str) -> list[Entry]:
    if head not in names.heads:
        raise KerasBertError(f"expected a head of {model_type}: {sorted(names.heads)}, received {head!r}")
    return names.heads[head]
