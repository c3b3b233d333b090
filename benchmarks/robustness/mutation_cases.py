"""Small models of every task with their files, rows to validate on, and other rows to judge predictions by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.robustness.file_mutations import (
    LABELS,
    VOCABULARY,
    Mutation,
    change_kernel,
    described,
    in_graph,
    listed,
    noise,
    same_meaning,
    scale_layer,
    setting_mutations,
    tokenizer_mutations,
)
from kerasbert.data import assistant

if TYPE_CHECKING:
    from kerasbert.tasks.base import Task

LENGTHS, LENGTH = (16, 32), 32
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
_ACCENTS = str.maketrans({"a": "á", "e": "é", "o": "ö"})
_HEAD = -1  # the last Dense layer of the graph


@dataclass(frozen=True)
class Case:
    """A model with its file.

    Attributes:
        name: The task and the recipe.
        task: The model.
        content: Its file.
        data: Rows to validate on, as `validate` takes them.
        held_out: Other rows, as `predictions` takes them.
        mutations: The changes of the file.
        score_limit: The mean move of a score from which on a file predicts otherwise.
    """

    name: str
    task: "Task"
    content: bytes = field(repr=False)
    data: Any = field(repr=False)
    held_out: Any = field(repr=False)
    mutations: Sequence[Mutation] = field(repr=False)
    score_limit: float = 0.01


def varied(texts: Sequence[str]) -> list[str]:
    """Return texts with capitals, accents, Chinese characters, names of special tokens and long texts among them."""
    changes: tuple[Callable[[str], str], ...] = (
        str,
        str.title,
        lambda text: text.translate(_ACCENTS),
        lambda text: f"{text} 明天见",
        lambda text: f"{text} [MASK] [UNK] please",
        lambda text: " ".join([text] * 4),
        lambda text: f"{text}, {text.upper()}!",
        str,
    )
    return [changes[number % len(changes)](text) for number, text in enumerate(texts)]


def make_cases() -> list[Case]:
    """Train a classifier and a tagger on the bundled data, and make models of the other tasks with random weights."""
    import kerasbert as kb

    train, test, dev = assistant.load("train"), assistant.load("test"), assistant.load("dev")
    tokenizer = kb.text.WordPiece.train(train.texts, vocabulary_size=600)
    texts, held_out = varied(test.texts[::2]), varied(dev.texts)

    def encoder(seed: int, deviation: float = 0.05, **sizes: Any) -> Any:
        import tf_keras as keras

        from kerasbert.encoders import BertConfig, BertEncoder

        keras.utils.set_random_seed(seed)
        settings = {**SIZES, "vocab_size": len(tokenizer.vocabulary), "max_position_embeddings": LENGTH, **sizes}
        return BertEncoder(BertConfig(**settings, initializer_range=deviation))

    def classifier(seed: int) -> Any:
        model = kb.TextClassifier(encoder(seed), tokenizer, labels=assistant.INTENTS, sequence_length=LENGTH)
        model.compile(kb.adamw(2e-3))
        model.fit(list(train.texts), list(train.intents), epochs=4, seed=seed, verbose=0)
        return model

    first, second = classifier(0), classifier(1)
    eight = kb.compression.quantize(first, "static_wi8_ai8", calibration=list(train.texts[:128]))
    labelled = (texts, list(test.intents[::2]))
    whole = kb.export.convert(first, recipe="float32", length=LENGTHS)
    static = kb.export.convert(eight)
    other_run = kb.export.convert(second, recipe="float32", length=LENGTHS).content
    cases = [
        Case(
            "classifier, float32", first, whole.content, labelled, held_out,
            [
                *tokenizer_mutations(whole.content), *_text_mutations(), *_lengths(), *_claims(), *same_meaning(),
                *_graph_mutations(), _of_another_run(other_run),
            ],
            score_limit=0.002,
        ),
        Case(
            "classifier, static_wi8_ai8", eight, static.content, labelled, held_out,
            [*_graph_mutations(), *same_meaning(), *_claims()], score_limit=0.05,
        ),
    ]  # fmt: skip
    questions, other_questions = (_questions(side) for side in (test.texts, dev.texts))
    pairs, other_pairs = (_pairs(side) for side in (texts, held_out))
    words, other_words = (list(side) for side in (test.texts[::2], dev.texts))
    masked = [f"{text} {tokenizer.mask_token}" for text in dev.texts]
    several = {"labels": ("a", "b", "c"), "problem": "multi_label"}
    made = [
        ("answerer", kb.QuestionAnswerer, {"no_answer": True, "no_answer_threshold": 0.3}, questions, other_questions),
        ("tagger", kb.TokenTagger, {"labels": assistant.TAGS}, words, other_words),
        ("masked words", kb.MaskedLM, {}, list(test.texts[::4]), masked[:60]),
        ("choices", kb.MultipleChoice, {}, pairs, other_pairs),
        ("scores", kb.TextClassifier, {"problem": "regression"}, texts, held_out),
        ("several labels", kb.TextClassifier, several, texts, held_out),
    ]
    for number, (name, kind, settings, data, held) in enumerate(made, start=2):
        task = kind(encoder(number, 0.3), tokenizer, sequence_length=LENGTH, **settings)
        content = kb.export.convert(task, recipe="float32").content
        mutations = [*setting_mutations(task.processor), *same_meaning(), *_heads(), *_label_mutations(task)]
        cases.append(Case(f"{name}, float32", task, content, data, held, mutations, score_limit=0.002))
    return [*cases, _encoder_case(encoder, tokenizer, texts, held_out)]


def _encoder_case(encoder: Callable, tokenizer: Any, texts: Sequence[str], held_out: Sequence[str]) -> Case:
    """Make a sentence encoder with a prompt, and files of its weights with another pooling or other lengths of vectors."""
    import kerasbert as kb

    prompts = {"prompts": {"query": "find: ", "text": ""}, "default_prompt_name": "query"}

    def task(**settings: Any) -> Any:
        return kb.SentenceEncoder(encoder(8, 0.3), tokenizer, sequence_length=LENGTH, **{**prompts, **settings})

    right = task()
    content = kb.export.convert(right, recipe="float32").content

    def other(name: str, **settings: Any) -> Mutation:
        model = task(**settings)
        model.set_weights(right.get_weights())
        changed = kb.export.convert(model, recipe="float32").content
        return _of_another_run(changed, name)

    mutations = [
        *setting_mutations(right.processor), *same_meaning(),
        other("pooling of the first token", pooling="cls"), other("vectors of any length", normalize=False),
        described("no default prompt", lambda d: d["settings"].pop("default_prompt_name") and None),
        described("another prompt", lambda d: d["settings"]["prompts"].update(query="search: ")),
        described("the prompts left out", lambda d: [d["settings"].pop(name) for name in prompts] and None),
        in_graph("a layer with noise", change_kernel(2, noise(1.0))),
    ]  # fmt: skip
    return Case("sentence encoder, float32", right, content, list(texts), list(held_out), mutations, 0.002)


def _of_another_run(content: bytes, name: str = "weights of another run") -> Mutation:
    """A file of other weights, with the metadata of the file that it takes the place of."""
    from benchmarks.robustness.file_mutations import members_of, with_members

    return Mutation(name, lambda original: with_members(content, members_of(original)))


def _text_mutations() -> list[Mutation]:
    def swapped(lines: list[str]) -> list[str]:
        lines[100], lines[101] = lines[101], lines[100]
        return lines

    return [
        listed("two words of the vocabulary swapped", VOCABULARY, swapped),
        listed("a word of the vocabulary replaced", VOCABULARY, lambda lines: [*lines[:100], "zzz", *lines[101:]]),
        listed("the vocabulary without its last word", VOCABULARY, lambda lines: lines[:-1]),
        listed("the vocabulary permuted", VOCABULARY, lambda lines: [*lines[:5], *reversed(lines[5:])]),
        listed("no vocabulary", VOCABULARY, lambda lines: None),
        described("another kind of tokenizer", lambda d: d["tokenizer"].update(kind="sentencepiece")),
        described(
            "the rules of a client", lambda d: d["tokenizer"].update(kind="client_wordpiece", tokenize_as="mediapipe")
        ),
        described("an added word", lambda d: d["tokenizer"].update(added_tokens=[{"content": "the", "lstrip": True}])),
        described("another task type", lambda d: d.update(problem="multi_label", settings={})),
        listed("labels renamed", LABELS, lambda lines: [f"{line}s" for line in lines]),
        listed("labels permuted", LABELS, lambda lines: lines[::-1]),
        listed("labels without the last one", LABELS, lambda lines: lines[:-1]),
        listed("no labels", LABELS, lambda lines: None),
    ]


def _label_mutations(task: "Task") -> list[Mutation]:
    if not task.processor.labels:
        return []
    return [
        listed("labels permuted", LABELS, lambda lines: lines[::-1]),
        listed("labels of another scheme", LABELS, lambda lines: [line.replace("B-", "E-") + "x" for line in lines]),
    ]


def _lengths() -> list[Mutation]:
    return [
        described("a shorter length", lambda d: d.update(sequence_length=16, lengths=None)),
        described("lengths that the graph does not have", lambda d: d.update(lengths=[8, 32])),
        described("the lengths left out", lambda d: d.update(lengths=None)),
        described("a length beyond the graph", lambda d: d.update(sequence_length=64, lengths=None)),
        described("fewer rows of the embedding table", lambda d: d.update(vocab_size=len("x" * 610))),
    ]


def _claims() -> list[Mutation]:
    """What a file says of itself: its recipe, its parameters, the weights that it was converted from."""

    def forged(description: dict) -> None:
        description["recipe"] = "dynamic_wi4_afp32"

    def noisy(content: bytes) -> bytes:
        return in_graph("", change_kernel(3, noise(0.5))).change(described("", forged).change(content))

    return [
        described("another recipe in the metadata", forged),
        Mutation("another recipe in the metadata, and a layer with noise", noisy),
    ]


def _heads() -> list[Mutation]:
    return [
        in_graph("a head scaled by 0.02", scale_layer(_HEAD, 0.02)),
        in_graph("a head scaled by 2", scale_layer(_HEAD, 2.0)),
        in_graph("a layer with noise", change_kernel(2, noise(1.0))),
    ]


def _graph_mutations() -> list[Mutation]:
    """Changes of weights: from ones that are lost in rounding to a model of nothing."""
    reverse = change_kernel(_HEAD, lambda kernel, random: kernel[::-1])
    return [
        *_heads(),
        in_graph("scores of half the temperature", scale_layer(_HEAD, 0.5)),
        in_graph("a head with its classes reversed", reverse),
        in_graph("a head of zeros", change_kernel(_HEAD, lambda kernel, random: 0 * kernel)),
        in_graph("a layer of zeros", change_kernel(4, lambda kernel, random: 0 * kernel)),
        in_graph("a layer transposed in its outputs", change_kernel(1, lambda kernel, random: kernel[::-1])),
        in_graph("a layer with its columns shuffled", change_kernel(5, lambda kernel, random: random.permuted(kernel, axis=1))),
        in_graph("a layer with much noise", change_kernel(6, noise(2.0))),
        in_graph("a layer scaled by 3", scale_layer(4, 3.0)),
        in_graph("one weight changed by a thousandth", change_kernel(3, _one_weight)),
    ]  # fmt: skip


def _one_weight(kernel: np.ndarray, random: np.random.Generator) -> np.ndarray:
    changed = kernel.copy()
    changed[0, 0] = changed[0, 0] * 1.001 if kernel.dtype == np.float32 else changed[0, 0]
    return changed


def _questions(texts: Sequence[str]) -> list[tuple[str, str]]:
    texts = list(texts)
    contexts = [" ".join([*texts[number : number + 4]]) for number in range(len(texts))]
    return [(text, context) for text, context in zip(texts[:120], contexts[7:127], strict=True)]


def _pairs(texts: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    texts = list(texts)
    return [(text, tuple(texts[number + 1 : number + 4])) for number, text in enumerate(texts[:120])]
