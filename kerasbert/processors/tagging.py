"""Token classification: a tag for every word of a sentence, and the entities that tags mark."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kerasbert.arguments import argument, is_single
from kerasbert.console.strictness import unknown
from kerasbert.data.entities import OUTSIDE, Span, entity_counts, entity_scores, spans
from kerasbert.data.reading import read_tags
from kerasbert.errors import KerasBertError
from kerasbert.files.record import setting
from kerasbert.processors import class_metrics
from kerasbert.processors.base import LARGEST, Processor, RawResult, RawResults
from kerasbert.processors.class_metrics import ClassMetrics
from kerasbert.processors.contributions import Contributions, Ratio, most_frequent
from kerasbert.processors.display import Display, Record
from kerasbert.processors.features import IGNORED, Features
from kerasbert.processors.tag_set import TagSet
from kerasbert.processors.word_windows import WordWindow, leads, word_features
from kerasbert.processors.words import Words, words_of
from kerasbert.processors.written_tags import in_order, written_tags
from kerasbert.text import Tokenizer
from kerasbert.text.strings import as_strings
from kerasbert.values import is_whole_number


def _fields(example: str | Sequence[str]) -> dict[str, Any]:
    return {"text": example if isinstance(example, str) else " ".join(example)}


def _lines(record: Record) -> list[list[str]]:
    """Return a line for each entity; for tags that mark no entities, such as parts of speech, one for each word."""
    lines = [
        [
            entity["label"],
            f"{entity['score']:.4f}",
            entity["text"],
            f"{entity['start']}-{entity['end']}",
            record["text"],
        ]
        for entity in record["entities"]
    ]
    return lines or (_lines_of_words(record) if _has_tags(record) else [["-", "", "", "", record["text"]]])


def _lines_of_words(record: Record) -> list[list[str]]:
    lines, end = [], 0
    for word, tag in zip(record["words"], record["tags"], strict=True):
        start = record["text"].find(word, end)
        end = start + len(word)
        lines.append([tag, "", word, f"{start}-{end}", record["text"]])
    return lines


def _has_tags(record: Record) -> bool:
    return bool(set(record["tags"]) - {OUTSIDE, "o", "0"})


def _summary(record: Record) -> str:
    if not record["entities"] and _has_tags(record):
        return " ".join(record["tags"])
    return ", ".join(f"{entity['label']}: {entity['text']}" for entity in record["entities"]) or "none"


@dataclass(frozen=True)
class Tagging(Processor):
    """A class for each word (Devlin et al. 2018, section 5.3).

    Examples are sentences, each a list of its words, or raw texts, which `kerasbert.processors.words.words_of` splits. Words are joined by
    single spaces and tokenized as any text, so both forms have the same tokens. A label is a list with one tag for each word, by name or
    number; for a raw text also a list of its entities, dicts of `start`, `end` in characters of the text, and `label`.

    A row is `[CLS] tokens [SEP]`. A word is classified on its first token; words that share a token share the first word's tag. Training
    labels that token. If a word of an entity would be several words in a raw text (`U.S.`), the first token of each of these pieces is
    labelled as well. Otherwise a model that was trained on words would meet tokens in raw texts that it never learned.

    A sentence that is too long has several rows, overlapping windows of it. Each word belongs to the window in which it has most context.
    `features.alignment` has a `WordWindow` for each row. A raw result is `probabilities` `(n, labels)` of the row's words; for packed
    inputs, of all tokens.

    Attributes:
        stride: Tokens from the start of a window to that of the next one, at most those of a window. By default windows overlap by a third
            of a row, but not by more than half of themselves.
    """

    stride: int | None = setting(None, at_least=1, at_most=LARGEST)

    name = "tagging"
    outputs = ("probabilities",)
    output_rank = 3
    per_token = True
    second_input = "none"
    learns_labels = True
    reader = staticmethod(read_tags)
    display = Display(("label", "score", "entity", "characters", "text"), _lines, _fields, _summary)

    @cached_property
    def tags(self) -> TagSet:
        """The tags by their numbers and names."""
        tags = TagSet(self.labels)
        if unprefixed := tags.unknown_tags():
            unknown(
                "labels of the model", "tags of one scheme", f"{', '.join(map(repr, unprefixed[:3]))} beside tags with a prefix",
                "read as entities",
            )  # fmt: skip
        return tags

    @classmethod
    def label_names(cls, y: Any) -> tuple[str, ...]:
        """Return the names of the tags: `O` first, then by label.

        Tags in IOB come in pairs `B-`, `I-`: data that lacks one of them is just small.

        Args:
            y: The labels of the training data.

        Raises:
            KerasBertError: When there are fewer than two tags.
        """
        values = {value for number, row in enumerate(y) for value in written_tags(row, number)}
        if values and all(map(is_whole_number, values)):
            raise KerasBertError(
                f"expected tags by name, received numbers from {min(values)} to {max(values)}; "
                f"name them in this order with {argument('labels')}"
            )
        names = in_order({str(value) for value in values})
        if len(names) < 2:
            raise KerasBertError(f"expected two or more different tags, received {', '.join(names) or 'none'} alone")
        return names

    def check_labels(self, y: Any, examples: Sequence) -> None:
        self.tags.encode(y, examples)

    def examples(self, x: Any) -> list:
        """Return texts, or tuples of words."""
        if is_single(x) or not isinstance(x, Iterable):
            raise KerasBertError(
                f"expected a list of sentences or texts, received {type(x).__name__}; put it in a list"
            )
        return [_example(value, row) for row, value in enumerate(x)]

    def features(self, examples: Sequence, tokenizer: Tokenizer, length: int) -> Features:
        return word_features([words_of(example) for example in examples], tokenizer, length, self.stride)

    def encode_labels(self, y: Any, examples: Sequence, features: Features) -> Any:
        if not len(features.alignment):
            return self.tags.encode_packed(y, features)
        word_classes, piece_classes = self.tags.encode(y, examples), self.tags.piece_classes()
        labels = [np.full(length, IGNORED, np.int32) for length in features.lengths]
        for row, window, number in zip(labels, features.alignment, features.example, strict=True):
            classes = _classes_of_pieces(word_classes[number], window.sentence, piece_classes)[window.pieces]
            first = leads(window.piece_positions)
            row[window.piece_positions[first]] = classes[first]
        return labels

    def raw_result(self, outputs: RawResult, features: Features, row: int) -> RawResult:
        probabilities = outputs["probabilities"]
        if not len(features.alignment):
            return {"probabilities": probabilities[: features.lengths[row]]}
        return {"probabilities": probabilities[features.alignment[row].positions]}

    def predictions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list:
        """Return the tags and entities of each sentence.

        A prediction has `words`, `tags`, and `entities`: `label`, `text`, `start` and `end` in characters, and `score`, the mean of the
        probabilities of its words' tags. Characters count in the text, or in the words joined by single spaces.
        """
        return [
            self._prediction([features.alignment[i] for i in rows], [raw_results[i] for i in rows])
            for rows in features.by_example()
        ]

    def metrics(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> dict[str, float]:
        """Compute `entity_scores`; `tag accuracy` is the first if tags mark no entities.

        For packed inputs they are over the tokens with a label.
        """
        scores = entity_scores(*self._label_and_predicted_tags(y, examples, features, raw_results))
        if self.tags.scheme is not None:
            return scores
        return {name: scores[name] for name in sorted(scores, key=lambda name: name != "tag accuracy")}

    def contributions(self, y: Any, examples: Sequence, features: Features, raw_results: RawResults) -> Contributions:
        truth, predicted = self._label_and_predicted_tags(y, examples, features, raw_results)
        if self.tags.scheme is not None:
            counts = np.array([entity_counts(*pair) for pair in zip(truth, predicted, strict=True)], np.float64)
            return Ratio(2 * counts[:, 2], counts[:, 0] + counts[:, 1])
        correct = [sum(map(str.__eq__, *pair)) for pair in zip(truth, predicted, strict=True)]
        share, tag = most_frequent([tag for row in truth for tag in row])
        return Ratio(np.array(correct, np.float64), np.array([len(row) for row in truth], np.float64), share, str(tag))

    def decisions(self, examples: Sequence, features: Features, raw_results: RawResults) -> list[tuple[str, ...]]:
        usual = self.tags.with_usual_outside
        return [tuple(usual(each["tags"])) for each in self.predictions(examples, features, raw_results)]

    def class_metrics(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> dict[str, ClassMetrics]:
        tags = self._label_and_predicted_tags(y, examples, features, raw_results)
        return class_metrics.of_tags(*tags) if self.tags.scheme is None else class_metrics.of_entities(*tags)

    def _label_and_predicted_tags(
        self, y: Any, examples: Sequence, features: Features, raw_results: RawResults
    ) -> tuple[list[list[str]], list[list[str]]]:
        """Return the labels and the predictions of each sentence as tags; for packed inputs, those of the tokens with a label."""
        if len(features.alignment):
            truth = [self.tags.names(row) for row in self.tags.encode(y, examples)]
            predicted = [prediction["tags"] for prediction in self.predictions(examples, features, raw_results)]
        else:
            labels = self.tags.encode_packed(y, features)
            best = [raw_result["probabilities"].argmax(axis=1) for raw_result in raw_results]
            truth = [self.tags.names(row[row != IGNORED]) for row in labels]
            predicted = [self.tags.names(classes[row != IGNORED]) for classes, row in zip(best, labels, strict=True)]
        usual = self.tags.with_usual_outside
        return list(map(usual, truth)), list(map(usual, predicted))

    def _prediction(self, windows: Sequence[WordWindow], raw_results: RawResults) -> dict[str, Any]:
        sentence = windows[0].sentence
        tags, scores = [self.tags.outside] * len(sentence), np.ones(len(sentence))
        for window, raw_result in zip(windows, raw_results, strict=True):
            if not len(window.words):
                continue
            probabilities = raw_result["probabilities"]
            scores[window.words] = probabilities.max(axis=1)
            names = self.tags.names(probabilities.argmax(axis=1))
            begins = np.flatnonzero(leads(window.positions)).tolist()
            for begin, end in zip(begins, [*begins[1:], len(names)], strict=True):
                for place, tag in enumerate(self.tags.expand(names[begin], end - begin), begin):
                    tags[window.words[place]] = tag
        marked = spans(self.tags.with_usual_outside(tags)) if self.tags.marks_entities else []
        entities = [_entity(sentence, span, scores) for span in marked]
        return {"words": list(sentence.words), "tags": tags, "entities": entities}


def _example(value: Any, row: int) -> str | tuple[str, ...]:
    try:
        if isinstance(value, str | bytes):
            return as_strings([value])[0]
        return tuple(as_strings(value, "words"))
    except KerasBertError as error:
        raise KerasBertError(f"row {row}: {error}") from None


def _classes_of_pieces(word_classes: np.ndarray, sentence: Words, piece_classes: np.ndarray) -> np.ndarray:
    """Return the classes of a sentence's pieces.

    Args:
        word_classes: The classes of its words, `(words,)`.
        sentence: The sentence.
        piece_classes: See `TagSet.piece_classes`.
    """
    owners = sentence.owners
    first, last = leads(owners), leads(owners[::-1])[::-1]
    if not len(piece_classes):  # the tags have no names
        return np.where(first, word_classes[owners], IGNORED)
    column = np.where(first, 0, np.where(last, 2, 1))
    return np.where(first & last, word_classes[owners], piece_classes[word_classes[owners], column])


def _entity(sentence: Words, span: Span, scores: np.ndarray) -> dict[str, Any]:
    start, end = int(sentence.starts[span.first]), int(sentence.ends[span.end - 1])
    score = float(scores[span.first : span.end].mean())
    return {"label": span.label, "text": sentence.text[start:end], "start": start, "end": end, "score": score}
