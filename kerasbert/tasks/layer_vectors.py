"""Vectors of a layer: of whole texts, as the mean of their tokens or of [CLS], and of each token."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kerasbert.arguments import check_choice
from kerasbert.errors import KerasBertError
from kerasbert.processors import Features
from kerasbert.processors.texts import columns, text_examples
from kerasbert.tasks.state_reader import Report, StateReader
from kerasbert.text.encoded import Encoded

KINDS = ("mean", "cls", "tokens")


@dataclass(frozen=True, eq=False)
class TokenVectors:
    """The hidden states of a layer for the tokens of some texts, special tokens included, one text after the other.

    Attributes:
        vectors: The states, float32 `(tokens, hidden)`.
        tokens: The token of each vector, `(tokens,)` strings.
        offsets: The characters of each token in its text, int32 `(tokens, 2)`; 0 and 0 for special tokens around the texts.
        text: The number of each token's text or pair, int32 `(tokens,)`.
        part: 0 for tokens of the first text, 1 for those of a pair's second one, -1 for special tokens around them; int32 `(tokens,)`.

    Example:
        ```python
        found = kb.layer_vectors(task, ["wake me at six"], layer=-2, vectors="tokens")
        found.tokens[1], found.offsets[1], found.vectors[found.text == 0].shape
        ```
    """

    vectors: np.ndarray
    tokens: np.ndarray
    offsets: np.ndarray
    text: np.ndarray
    part: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the attributes by name, as a `.npz` file holds them."""
        return {name: getattr(self, name) for name in ("vectors", "tokens", "offsets", "text", "part")}


def layer_vectors(
    model: Any, texts: Any, layer: int = -1, vectors: str = "mean", prompt: str | None = None, report: Report | None = None
) -> np.ndarray | TokenVectors:  # fmt: skip
    """Compute vectors of a layer for texts, or for pairs of texts.

    Layer 0 is the output of the embeddings, and 1 to n are those of the layers; -1 is the last one. A layer of a model whose layers share
    their weights, as ALBERT's do, is a call of its block. Those of a MobileBERT are the wide states between its bottlenecks.

    Args:
        model: A task, a folder, an encoder of the zoo, or a hub name.
        texts: A list of texts, a pair of lists, or a list of pairs.
        layer: The layer.
        vectors: `mean` (over all tokens, special ones included), `cls` (that of the first token) or `tokens` (of each token).
        prompt: A text to put before each text; by default the prompt of a sentence encoder.
        report: Called with the number of finished texts and of all texts.

    Returns:
        float32 `(texts, hidden)`, or `TokenVectors`.

    Raises:
        KerasBertError: When the model has no such layer or no tokenizer, is a `.tflite` file, or there is no text.

    Example:
        ```python
        kb.layer_vectors("small-en", ["wake me at six", "set an alarm"], layer=-2).shape  # (2, 192)
        ```
    """
    check_choice(vectors, "vectors as one of", KINDS)
    reader = model if isinstance(model, StateReader) else StateReader.open(model)
    reader = reader if prompt is None else replace(reader, prefix=prompt)
    chosen, examples = reader.layer(layer), text_examples(texts)
    if not examples:
        raise KerasBertError("expected at least one text, received none; give some texts")
    encoded = reader.tokenize(*columns(examples))
    features = Features.from_encoded(encoded)
    found: list[Any] = [None] * len(features)
    for each in reader.read(features, report=report):
        states = each.states[chosen]
        found[each.row] = states if vectors == "tokens" else states[0] if vectors == "cls" else states.mean(axis=0)
    return token_vectors(reader, encoded, found) if vectors == "tokens" else np.stack(found)


def token_vectors(reader: StateReader, encoded: Encoded, states: Sequence[np.ndarray]) -> TokenVectors:
    """Join the states of some texts' tokens.

    Args:
        reader: The reader that computed them.
        encoded: The tokenized texts.
        states: The states of each text, `(tokens, hidden)`.
    """
    vocabulary = reader.tokenizer.vocabulary
    lengths = list(map(len, encoded.input_ids))
    parts = [-1 if part is None else part for row in encoded.sequence_ids for part in row]
    return TokenVectors(
        np.concatenate(states),
        np.array([vocabulary[token] for row in encoded.input_ids for token in row]),
        np.array([offsets for row in encoded.offsets for offsets in row], np.int32),
        np.repeat(np.arange(len(lengths), dtype=np.int32), lengths),
        np.array(parts, np.int32),
    )
