"""Sentence embedding: a text to a vector, and pairs of texts to their similarity."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from kerasbert.data.labels import LabelSet
from kerasbert.data.reading import read_sentences
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.processors import metrics
from kerasbert.processors.arrays import as_finite_numbers
from kerasbert.processors.base import LARGEST, Processor, RawResults, check_same_number, concatenate
from kerasbert.processors.contributions import Contributions, Correlation, Ratio
from kerasbert.processors.display import Display, Record
from kerasbert.processors.features import Features
from kerasbert.processors.prompts import checked_prompts, chosen_prompt, search_prompts
from kerasbert.processors.texts import text_examples
from kerasbert.text import Tokenizer

_SHOWN_VALUES = 4  # of a vector, in a table


def _lines(record: Record) -> list[list[str]]:
    vector = np.asarray(record["vector"])
    values = " ".join(f"{value:.4f}" for value in vector[:_SHOWN_VALUES])
    more = " ..." if len(vector) > _SHOWN_VALUES else ""
    return [[str(len(vector)), f"{np.linalg.norm(vector):.4f}", values + more, record["text"]]]


@dataclass(frozen=True)
class Embedding(Processor):
    """One vector for each text. A pair is a row of two texts, each with its own vector.

    Labels of single texts are target vectors `(rows, width)`. Labels of pairs are similarities, on the scale of the loss.

    Attributes:
        width: Numbers in a vector, if known.
        prompts: Texts that may stand before each text, by name; None without any.
        default_prompt_name: The name of the prompt that stands before each text unless a call names another one.
    """

    width: int | None = setting(None, at_least=1, at_most=LARGEST)
    prompts: dict | None = setting(None, omitted_if_none=True, hash=False)
    default_prompt_name: str | None = setting(None, omitted_if_none=True)

    name = "embedding"
    outputs = ("embedding",)
    compared_as = "embedding"
    needs_labels = False
    not_tokenized = ("width", "prompts", "default_prompt_name")  # the prefix counts
    reader = staticmethod(read_sentences)
    display = Display(("dimensions", "norm", "first values", "text"), _lines)

    def check(self) -> None:
        prompts, default = checked_prompts(self.prompts, self.default_prompt_name)
        object.__setattr__(self, "prompts", prompts)
        object.__setattr__(self, "default_prompt_name", default)

    @property
    def prefix(self) -> str:
        return chosen_prompt(self.prompts, self.default_prompt_name, None, None)

    @property
    def prompt_texts(self) -> tuple[str, ...]:
        return tuple((self.prompts or {}).values())

    def with_prompt(self, prompt_name: str | None = None, prompt: str | None = None) -> Self:
        """Return a processor whose default prompt is another one.

        Args:
            prompt_name: The name of a prompt; None for the default one.
            prompt: A text to use instead; "" for none.

        Returns:
            The processor.

        Raises:
            KerasBertError: When both are given, or there is no such prompt.
        """
        return self._with_prefix(chosen_prompt(self.prompts, self.default_prompt_name, prompt_name, prompt))

    def for_search(self) -> tuple[Self, Self]:
        """Return the processors of queries and of the texts that are searched; see `kerasbert.processors.prompts.search_prompts`."""
        query, document = search_prompts(self.prompts, self.default_prompt_name)
        return self._with_prefix(query), self._with_prefix(document)

    def _with_prefix(self, prefix: str) -> Self:
        return replace(self, prompts={"prompt": prefix}, default_prompt_name="prompt")

    def examples(self, x: Any) -> list:
        return text_examples(x)

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        paired = bool(examples) and isinstance(examples[0], tuple)
        texts = [text for pair in examples for text in pair] if paired else examples
        texts = [self.prefix + text for text in texts] if self.prefix else texts
        features = Features.from_encoded(tokenizer.encode(texts, max_length=length))
        return replace(features, example=np.arange(len(examples)), group=2) if paired else features

    def effective_settings(self) -> dict[str, Any]:
        # The width describes the outputs, and is not always known.
        return {name: value for name, value in super().effective_settings().items() if name != "width"}

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        check_same_number(y, examples)
        if features.group == 2:
            return LabelSet.to_scores(y)
        if isinstance(y, Sequence | np.ndarray) and len(y) and isinstance(y[0], str):
            raise KerasBertError(
                f"expected target vectors of the texts, received the label {y[0]!r}: a sentence encoder has no labels; fine-tune it for "
                "them first, as with `kerasbert train --task classification`, or leave the labels out"
            )
        y = as_finite_numbers(y, "target vectors")
        if y.ndim != 2 or (self.width and y.shape[1] != self.width):
            raise KerasBertError(f"expected target vectors of shape (rows, {self.width}), received {y.shape}")
        return y

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        """Return one vector for each text, or both vectors and their cosine for each pair."""
        if features.group == 1:
            return [{"vector": raw_result["embedding"][0]} for raw_result in raw_results]
        vectors = concatenate(raw_results, "embedding").reshape(len(features), 2, -1)
        cosines = metrics.cosine(vectors[:, 0], vectors[:, 1])
        return [{"cosine": float(c), "vectors": pair} for c, pair in zip(cosines, vectors, strict=True)]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute the correlation of pairs' cosines with y, or the mean cosine of single texts with their target vectors."""
        vectors, truth = concatenate(raw_results, "embedding"), self.encode_labels(y, examples, features)
        if features.group == 1:
            return {"cosine": float(metrics.cosine(truth, vectors).mean())}
        cosines = _cosines(vectors)
        return {"Spearman": metrics.spearman(truth, cosines), "Pearson": metrics.pearson(truth, cosines)}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        vectors, truth = concatenate(raw_results, "embedding"), self.encode_labels(y, examples, features)
        if features.group == 1:
            return Ratio.of_decisions(metrics.cosine(truth, vectors))
        return Correlation(metrics.ranks(truth), metrics.ranks(_cosines(vectors)))

    def decisions(self, examples: Sequence, features: Features, raw_results: RawResults) -> np.ndarray | None:
        """Return the cosines of pairs. Vectors of single texts are not compared: other models have other dimensions."""
        return _cosines(concatenate(raw_results, "embedding")) if features.group == 2 else None


def with_prompt(processor: Processor, prompt_name: str | None, prompt: str | None) -> Processor | None:
    """Return a sentence encoder's processor with another prompt; None where no prompt is given.

    Args:
        processor: A processor.
        prompt_name: See `Embedding.with_prompt`.
        prompt: See `Embedding.with_prompt`.

    Raises:
        KerasBertError: When there is no such prompt, or the processor is of another task.
    """
    if prompt_name is None and prompt is None:
        return None
    if not isinstance(processor, Embedding):
        raise KerasBertError(
            f"expected a sentence encoder for a prompt, received a model of the task type {processor.name!r}; leave it out"
        )
    return processor.with_prompt(prompt_name, prompt)


def _cosines(vectors: np.ndarray) -> np.ndarray:
    """Compute the cosine of each pair, from the vectors of all texts `(2 * pairs, width)`."""
    return metrics.cosine(vectors[0::2], vectors[1::2])
