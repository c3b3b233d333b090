"""Small settings, tensors and a vocabulary that the files of several readers hold."""

import functools
import json
from collections.abc import Iterable

import numpy as np

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (*SPECIAL, *"abcdefgh", "good", "bad", "film", "##s", "##ly", ".", ",", "é", "東")
TEXTS = ["good film, bad films", "é [MASK] 東 \u200b x", ""]

BERT = {
    "model_type": "bert", "architectures": ["BertForSequenceClassification"],
    "vocab_size": len(WORDS), "hidden_size": 8, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 16, "type_vocab_size": 2, "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.1, "layer_norm_eps": 1e-12, "initializer_range": 0.02, "pad_token_id": 0,
    "id2label": {"0": "bad", "1": "good"}, "label2id": {"bad": 0, "good": 1}, "problem_type": "single_label_classification",
}  # fmt: skip


@functools.cache
def wordpiece():
    """Make a tokenizer with the vocabulary."""
    from kerasbert.text import WordPiece

    return WordPiece(WORDS)


def tensors() -> dict[str, np.ndarray]:
    """Make tensors of three types."""
    return {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones(2, np.float16), "n": np.arange(3)}


def json_lines(objects: Iterable[object]) -> bytes:
    """Write objects as JSON, one a line."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in objects)
