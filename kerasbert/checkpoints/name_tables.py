"""Tensor names of every architecture at Hugging Face (transformers' models and task classes), mapped to ours.

An encoder's names are the same in every checkpoint, except that a prefix such as `bert.` precedes them in a model with a head.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kerasbert.checkpoints.name_map import Entry, Ignored, NameMap
from kerasbert.checkpoints.sentence_transformers import BIAS, KERNEL
from kerasbert.errors import KerasBertError


def dense_entries(source: str, target: str) -> list[Entry]:
    """Return the entries of a Dense layer, kernel and bias, under its names at Hugging Face and here."""
    return [Entry(f"{source}.weight", f"{target}.kernel", transpose=True), Entry(f"{source}.bias", f"{target}.bias")]


def norm_entries(source: str, target: str) -> list[Entry]:
    """Return the entries of a LayerNorm, scale and shift, under its names at Hugging Face and here."""
    return [Entry(f"{source}.weight", f"{target}.gamma"), Entry(f"{source}.bias", f"{target}.beta")]


def masked_lm_entries(transform: str, scale: str, bias: str, decoder: str) -> list[Entry]:
    """Return the entries of a masked-LM head.

    Args:
        transform: Hugging Face's name of the Dense layer.
        scale: of the LayerNorm.
        bias: of the output bias.
        decoder: of the decoder's matrix, which is optional: most decoders are tied to the token embeddings.
    """
    return [
        *dense_entries(transform, "masked_lm.transform"),
        *norm_entries(scale, "masked_lm.norm"),
        Entry(bias, "masked_lm.bias"),
        Entry(decoder, "masked_lm.decoder", optional=True),
    ]


BERT_MASKED_LM = masked_lm_entries(
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.bias",
    "cls.predictions.decoder.weight",
)
BERT_HEADS = {
    "classifier": dense_entries("classifier", "classifier"),
    "choice_classifier": dense_entries("classifier", "choice_classifier"),
    "token_classifier": dense_entries("classifier", "token_classifier"),
    "qa_outputs": dense_entries("qa_outputs", "qa_outputs"),
    "masked_lm": BERT_MASKED_LM,
    "next_sentence": dense_entries("cls.seq_relationship", "next_sentence"),
    "projection": [
        Entry(KERNEL, "projection.kernel", transpose=True),
        Entry(BIAS, "projection.bias", optional=True),  # by the module's config
    ],
}
_LABEL_HEADS = ("classifier", "choice_classifier", "token_classifier", "projection")
HEAD_NAMES = {
    "classifier": "classifier",
    "choice_classifier": "classifier",
    "token_classifier": "classifier",
    "qa_outputs": "question-answering head",
    "masked_lm": "masked-LM head",
    "next_sentence": "next-sentence head",
    "discriminator": "replaced-token head",
    "projection": "projection of sentence vectors",
}
BARE_HEADS = {"projection"}  # in files of their own, beside a model without head


def _bert_embeddings() -> list[Entry]:
    return [
        Entry("embeddings.word_embeddings.weight", "embeddings.word.table"),
        Entry("embeddings.position_embeddings.weight", "embeddings.position.table"),
        Entry("embeddings.token_type_embeddings.weight", "embeddings.token_type.table"),
        *norm_entries("embeddings.LayerNorm", "embeddings.norm"),
    ]


def _block(*names: str) -> dict[str, str]:
    """Return the layers of a block here -> their names at Hugging Face, which come in the order of the data."""
    attention = (f"attention.{part}" for part in ("query", "key", "value", "output_dense"))
    feed_forward = ("feed_forward.intermediate", "feed_forward.output_dense")
    return dict(zip((*attention, "attention_norm", *feed_forward, "feed_forward_norm"), names, strict=True))


BERT_BLOCK = _block(
    *("attention.self.query", "attention.self.key", "attention.self.value"),
    *("attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"),
)
ALBERT_BLOCK = _block(
    *("attention.query", "attention.key", "attention.value"),
    *("attention.dense", "attention.LayerNorm", "ffn", "ffn_output", "full_layer_layer_norm"),
)
DISTILBERT_BLOCK = _block(
    *("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    *("attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm"),
)


def _block_entries(source: str, names: Mapping[str, str], i: int) -> list[Entry]:
    """Return the entries of block `i`, whose names at Hugging Face begin with `source`."""
    return [
        entry
        for layer, name in names.items()
        for entry in (norm_entries if layer.endswith("norm") else dense_entries)(
            f"{source}.{name}", f"layers.{i}.{layer}"
        )
    ]


def _layers(config: Any, layer: Callable[[int], list[Entry]]) -> list[Entry]:
    return [entry for i in range(config.num_hidden_layers) for entry in layer(i)]


def _bert(config: Any) -> list[Entry]:
    return [*_bert_embeddings(), *_layers(config, lambda i: _block_entries(f"encoder.layer.{i}", BERT_BLOCK, i))]


def _electra(config: Any) -> list[Entry]:
    projected = config.embedding_size != config.hidden_size
    return [*_bert(config), *(dense_entries("embeddings_project", "embeddings.projection") if projected else [])]


def _distilbert(config: Any) -> list[Entry]:
    embeddings = [entry for entry in _bert_embeddings() if "token_type" not in entry.model]
    return [*embeddings, *_layers(config, lambda i: _block_entries(f"transformer.layer.{i}", DISTILBERT_BLOCK, i))]


def _albert(config: Any) -> list[Entry]:
    entries = [*_bert_embeddings(), *dense_entries("encoder.embedding_hidden_mapping_in", "embeddings.projection")]
    for i in range(config.num_hidden_groups * config.inner_group_num):
        group, inner = divmod(i, config.inner_group_num)
        entries += _block_entries(f"encoder.albert_layer_groups.{group}.albert_layers.{inner}", ALBERT_BLOCK, i)
    return entries


def _mobilebert_layer(config: Any, i: int) -> list[Entry]:
    source, target = f"encoder.layer.{i}", f"layers.{i}"
    entries = []
    if config.use_bottleneck:
        shared = config.key_query_shared_bottleneck and not config.use_bottleneck_attention
        for name, layer in (("input", "bottleneck"), ("attention", "shared_bottleneck"))[: 1 + shared]:
            entries += dense_entries(f"{source}.bottleneck.{name}.dense", f"{target}.{layer}.dense")
            entries += norm_entries(f"{source}.bottleneck.{name}.LayerNorm", f"{target}.{layer}.norm")
        entries += dense_entries(f"{source}.output.bottleneck.dense", f"{target}.output_dense")
        entries += norm_entries(f"{source}.output.bottleneck.LayerNorm", f"{target}.output_norm")
    for part in ("query", "key", "value"):
        entries += dense_entries(f"{source}.attention.self.{part}", f"{target}.attention.{part}")
    entries += dense_entries(f"{source}.attention.output.dense", f"{target}.attention.output_dense")
    entries += norm_entries(f"{source}.attention.output.LayerNorm", f"{target}.attention_norm")
    last = config.num_feedforward_networks - 1
    for n in range(last + 1):
        network, block = f"{target}.feed_forwards.{n}", source if n == last else f"{source}.ffn.{n}"
        entries += dense_entries(f"{block}.intermediate.dense", f"{network}.feed_forward.intermediate")
        entries += dense_entries(f"{block}.output.dense", f"{network}.feed_forward.output_dense")
        entries += norm_entries(f"{block}.output.LayerNorm", f"{network}.norm")
    return entries


def _mobilebert(config: Any) -> list[Entry]:
    entries = _bert_embeddings()
    if config.trigram_input or config.embedding_size != config.hidden_size:
        entries += dense_entries("embeddings.embedding_transformation", "embeddings.transformation")
    return [*entries, *_layers(config, lambda i: _mobilebert_layer(config, i))]


def _bilstm(config: Any) -> list[Entry]:
    entries = [Entry("embeddings.word_embeddings.weight", "embeddings.word.table")]
    for i in range(config.num_hidden_layers):
        for name in ("forward", "backward"):
            source, target = f"lstm.layer.{i}.{name}", f"layers.{i}.{name}"
            entries += dense_entries(f"{source}.input", f"{target}.projection")
            entries.append(Entry(f"{source}.recurrent.weight", f"{target}.recurrent.kernel", transpose=True))
    return entries


def _static(config: Any) -> list[Entry]:
    return [Entry("embeddings.word_embeddings.weight", "embeddings.word.table")]


@dataclass(frozen=True)
class Architecture:
    """Tensor names of one architecture.

    Attributes:
        prefix: of the encoder's names in a model with a head.
        encoder: returns the encoder's entries without prefix for a config.
        heads: head -> its entries.
        pooler: name of the encoder's pooler, the Dense layer over the first token.
        head_poolers: head -> name of the head's first layer, if that takes the pooler's place.
    """

    prefix: str
    encoder: Callable[[Any], list[Entry]]
    heads: dict[str, list[Entry]] = field(default_factory=lambda: dict(BERT_HEADS))
    pooler: str = "pooler.dense"
    head_poolers: dict[str, str] = field(default_factory=dict)


_ROBERTA = Architecture(
    "roberta.",
    _bert,
    heads={
        **BERT_HEADS,
        "classifier": dense_entries("classifier.out_proj", "classifier"),
        "masked_lm": masked_lm_entries("lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "lm_head.decoder.weight"),
    },
    head_poolers={"classifier": "classifier.dense"},
)  # fmt: skip
ARCHITECTURES = {
    "bert": Architecture("bert.", _bert),
    "albert": Architecture(
        "albert.",
        _albert,
        heads={
            **BERT_HEADS,
            "masked_lm": masked_lm_entries("predictions.dense", "predictions.LayerNorm", "predictions.bias", "predictions.decoder.weight"),
            "next_sentence": dense_entries("sop_classifier.classifier", "next_sentence"),
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
            "masked_lm": masked_lm_entries("vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "vocab_projector.weight"),
        },
        head_poolers={"classifier": "pre_classifier", "choice_classifier": "pre_classifier"},
    ),
    "electra": Architecture(
        "electra.",
        _electra,
        heads={
            **BERT_HEADS,
            "classifier": dense_entries("classifier.out_proj", "classifier"),
            "masked_lm": masked_lm_entries(
                "generator_predictions.dense", "generator_predictions.LayerNorm", "generator_lm_head.bias", "generator_lm_head.weight"
            ),
            "discriminator": [
                *dense_entries("discriminator_predictions.dense", "discriminator.transform"),
                *dense_entries("discriminator_predictions.dense_prediction", "discriminator.logits"),
            ],
        },
        head_poolers={"classifier": "classifier.dense"},
    ),
    **dict.fromkeys(("roberta", "xlm-roberta"), _ROBERTA),
    "bilstm": Architecture(
        "bilstm.", _bilstm, heads={head: entries for head, entries in BERT_HEADS.items() if head in _LABEL_HEADS}, pooler="hidden.dense"
    ),
    "static": Architecture("static.", _static, heads={head: entries for head, entries in BERT_HEADS.items() if head in _LABEL_HEADS}),
}  # fmt: skip

ADDED_PREFIX = "kerasbert"  # of tensors that Hugging Face's model does not have
PRETRAINING = "pretraining"  # the start of the paths of heads of pretraining that Hugging Face does not have

# Constants that older versions stored, and copies of a tied decoder's tensors.
REDUNDANT_TENSORS = (
    Ignored(r"embeddings\.(position_ids|token_type_ids)", "position_ids", redundant=True),
    Ignored(r"(cls\.predictions|predictions|lm_head)\.decoder\.(weight|bias)", "tied decoder", redundant=True),
    Ignored(r"(generator_lm_head|vocab_projector)\.weight", "tied decoder", redundant=True),
)
# Layers of other programs that no output of transformers' classes depends on.
FOREIGN_TENSORS = (
    Ignored(r"fit_denses?(\.\d+)?\.(weight|bias)", "TinyBERT's layer for distillation"),
    Ignored(r"pooled_dense\.(weight|bias)", "keras-nlp's pooler of ELECTRA"),
)
# Checkpoints that were converted from TensorFlow keep its names of a norm's scale and shift.
LEGACY_NORM_ALIASES = ((".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias"))


def build_name_map(
    config: Any, *, pooler: bool, heads: Sequence[str] = (), bare: bool | None = None, additions: Iterable[str] = (),
    unread: Mapping[str, str] | None = None,
) -> NameMap:  # fmt: skip
    """Build the map between a Hugging Face checkpoint and the variables of an encoder or a task.

    Args:
        config: the encoder's config.
        pooler: True if the model has a pooler with weights; otherwise the checkpoint's is ignored.
        heads: the model's heads by their attributes' names; tensors of other heads are ignored.
        bare: True if `export` writes the encoder's names without prefix; by default, if the model has no head. Loading accepts both.
        additions: paths of variables that Hugging Face's model does not have. The checkpoint holds them under our names and in our
            layout, and Hugging Face's loaders report them as unexpected.
        unread: names of tensors that are not loaded, as a new head takes their place, with the reason.

    Raises:
        KerasBertError: when the architecture does not have one of the heads.
    """
    architecture = ARCHITECTURES[config.model_type]
    prefix = "" if (set(heads) <= BARE_HEADS if bare is None else bare) else architecture.prefix
    encoder = architecture.encoder(config)
    entries = [replace(entry, checkpoint=prefix + entry.checkpoint) for entry in encoder]
    if pooler:
        name = pooler_name(config.model_type, heads)
        entries += dense_entries(prefix + name if name == architecture.pooler else name, "pooler")
    ignored = [
        Ignored(rf"{re.escape(name)}\.(weight|bias)", "pooler")
        for name in dict.fromkeys((architecture.pooler, *architecture.head_poolers.values()))
    ]
    for head in heads:
        entries += head_entries(config.model_type, head)
    entries += [Entry(f"{ADDED_PREFIX}.{path}", path) for path in additions]
    ignored.append(Ignored(rf"{ADDED_PREFIX}\.{PRETRAINING}\..*", "head of pretraining"))
    for head in architecture.heads.keys() - set(heads):
        layers = {entry.checkpoint.rpartition(".")[0] for entry in architecture.heads[head]}
        ignored += [Ignored(rf"{re.escape(layer)}\.(weight|bias)", HEAD_NAMES[head]) for layer in sorted(layers)]
    return NameMap(
        tuple(entries),
        ignored=(*ignored, *REDUNDANT_TENSORS, *FOREIGN_TENSORS),
        prefixes=(architecture.prefix,),
        aliases=LEGACY_NORM_ALIASES,
        inner=frozenset(entry.checkpoint.partition(".")[0] for entry in encoder),
        unread=unread or {},
    )


def pooler_name(model_type: str, heads: Sequence[str]) -> str:
    """Return the checkpoint's name of our encoder's pooler, without prefix."""
    architecture = ARCHITECTURES[model_type]
    poolers = (architecture.head_poolers[head] for head in heads if head in architecture.head_poolers)
    return next(poolers, architecture.pooler)


def head_entries(model_type: str, head: str) -> list[Entry]:
    """Return the entries of a head.

    Raises:
        KerasBertError: when the architecture does not have the head.
    """
    architecture = ARCHITECTURES[model_type]
    if head not in architecture.heads:
        raise KerasBertError(
            f"expected a head of {model_type}, one of {sorted(architecture.heads)}, received {head!r}; "
            "take another architecture for this head"
        )
    return architecture.heads[head]
