"""Hugging Face's names of BERT's tensors (transformers' `BertModel` and its task classes) beside ours."""

from collections.abc import Iterable, Sequence
from typing import Any

from kerasbert.checkpoints.name_map import Entry, Ignored, NameMap

PREFIX = "bert."  # before the encoder's names in a checkpoint that has a head

_HEADS = {"classifier": "classifier", "qa_outputs": "question-answering head"}
_OTHER_PARTS = (
    Ignored(r"embeddings\.position_ids", "position_ids"),  # a constant 0, 1, 2, ... that older versions stored
    Ignored(r"cls\.predictions\..*", "masked-LM head"),
    Ignored(r"cls\.seq_relationship\..*", "next-sentence head"),
)


def bert_name_map(config: Any, *, pooler: bool, prefix: str = "", heads: Sequence[str] = ()) -> NameMap:
    """The map between a Hugging Face BERT checkpoint and a `BertEncoder`'s variables.

    config: anything with `num_hidden_layers`.
    pooler: whether the model has one; if not, the checkpoint's is ignored.
    prefix: what the encoder's names begin with in the checkpoint that `export` makes: "" for a bare encoder, "bert."
        beside a head; `checkpoint_prefix` finds a checkpoint's own. Reading takes either.
    heads: the model's dense heads, `classifier` or `qa_outputs`, to variables of the same name; others are ignored.
    """
    entries = [*_embeddings(), *(entry for i in range(config.num_hidden_layers) for entry in _layer(i))]
    if pooler:
        entries += _dense("pooler.dense", "pooler")
    entries = [Entry(prefix + e.checkpoint, e.model, e.transpose) for e in entries]
    entries += [entry for head in heads for entry in _dense(head, head)]
    left_out = [Ignored(rf"{name}\..*", reason) for name, reason in _HEADS.items() if name not in heads]
    if not pooler:
        left_out.append(Ignored(r"pooler\.dense\..*", "pooler"))
    return NameMap(
        tuple(entries),
        ignored=(*_OTHER_PARTS, *left_out),
        prefixes=(PREFIX,),
        # Checkpoints that were born in TensorFlow keep its names of a norm's scale and shift.
        aliases=((".LayerNorm.gamma", ".LayerNorm.weight"), (".LayerNorm.beta", ".LayerNorm.bias")),
    )


def checkpoint_prefix(names: Iterable[str]) -> str:
    """ "bert." when the encoder's tensors carry it among a checkpoint's `names`, else ""."""
    return PREFIX if any(name.startswith(PREFIX) for name in names) else ""


def _embeddings() -> list[Entry]:
    return [
        Entry("embeddings.word_embeddings.weight", "embeddings.word.table"),
        Entry("embeddings.position_embeddings.weight", "embeddings.position.table"),
        Entry("embeddings.token_type_embeddings.weight", "embeddings.token_type.table"),
        *_norm("embeddings.LayerNorm", "embeddings.norm"),
    ]


def _layer(i: int) -> list[Entry]:
    theirs, ours = f"encoder.layer.{i}", f"layers.{i}"
    return [
        *_dense(f"{theirs}.attention.self.query", f"{ours}.attention.query"),
        *_dense(f"{theirs}.attention.self.key", f"{ours}.attention.key"),
        *_dense(f"{theirs}.attention.self.value", f"{ours}.attention.value"),
        *_dense(f"{theirs}.attention.output.dense", f"{ours}.attention.output_dense"),
        *_norm(f"{theirs}.attention.output.LayerNorm", f"{ours}.attention_norm"),
        *_dense(f"{theirs}.intermediate.dense", f"{ours}.feed_forward.intermediate"),
        *_dense(f"{theirs}.output.dense", f"{ours}.feed_forward.output_dense"),
        *_norm(f"{theirs}.output.LayerNorm", f"{ours}.feed_forward_norm"),
    ]


def _dense(theirs: str, ours: str) -> list[Entry]:
    return [Entry(f"{theirs}.weight", f"{ours}.kernel", transpose=True), Entry(f"{theirs}.bias", f"{ours}.bias")]


def _norm(theirs: str, ours: str) -> list[Entry]:
    return [Entry(f"{theirs}.weight", f"{ours}.gamma"), Entry(f"{theirs}.bias", f"{ours}.beta")]
