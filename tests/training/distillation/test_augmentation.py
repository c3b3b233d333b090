"""Texts with other words in them."""

import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError
from kerasbert.tasks import MaskedLM
from kerasbert.training.distillation import augment


@pytest.fixture(scope="module")
def language_model(tiny):
    """It finds the words "warm" and "cold" likeliest in every gap."""
    encoder = tiny.encoder(num_hidden_layers=1, hidden_size=8, pooler=False)
    model = MaskedLM(encoder, tiny.tokenizer(), sequence_length=12)
    bias = model.masked_lm.bias.numpy()
    bias[[tiny.vocabulary.index(word) for word in ("[SEP]", "##ly", ".")]] = 90
    bias[tiny.vocabulary.index("warm")], bias[tiny.vocabulary.index("cold")] = 60, 50
    model.masked_lm.bias.assign(bias)
    return model


def test_single_token_words_are_replaced_by_likely_words(language_model):
    texts = ["A  good film, so greatly warm!", "filmzzz"]
    found = augment(texts, language_model, copies=3, probability=1.0, candidates=2, seed=5)
    assert len(found) == 6 and found[3:] == ["filmzzz"] * 3  # an unknown word stays
    for text in found[:3]:
        first, second, third, *rest = text.replace(",", "").split()
        assert {first, second, third, rest[0]} <= {"warm", "cold"}
        assert (
            rest[1:] != [] and rest[1] == "greatly" and rest[2] != "warm!"
        )  # two tokens stay; the word itself is no candidate
        assert "  " in text and "," in text and text.endswith("!")


@pytest.mark.long
def test_seed_determines_replacements(language_model, tiny):
    texts = tiny.rows(6)[0]
    one, same, other = (augment(texts, language_model, copies=2, seed=seed) for seed in (1, 1, 2))
    assert one == same != other and len(one) == 12
    assert augment(texts, language_model, copies=1, probability=0.0) == texts


def test_pairs_and_long_texts_are_augmented(language_model):
    pairs = augment([("a good film", "it was bad")], language_model, copies=2, probability=1.0, candidates=1)
    assert pairs == [("warm warm warm", "warm warm warm")] * 2
    (text,) = augment(["good " * 20], language_model, copies=1, probability=1.0, candidates=1)
    assert text.split() == ["warm"] * 10 + ["good"] * 10  # 12 tokens are read, two of them special


def test_progress_is_reported(language_model):
    told = []
    augment(
        ["a good film"] * 30,
        language_model,
        copies=1,
        probability=1.0,
        report=lambda done, words: told.append((done, words)),
    )
    assert told == [(32, 90), (64, 90), (90, 90)]


def test_invalid_arguments_are_refused(language_model, tiny):
    for options, expected in (
        ({"copies": 0}, "copies and candidates"),
        ({"probability": 1.5}, "a probability from 0 to 1"),
    ):
        with pytest.raises(KerasBertError, match=expected):
            augment(["a film"], language_model, **options)
    with pytest.raises(KerasBertError, match="expected a MaskedLM .* received TextClassifier"):
        augment(["a film"], tiny.narrow())


def test_words_of_several_tokens_are_replaced_by_neighbours(language_model, tiny):
    table = language_model.encoder.embeddings.word.table.numpy()
    pieces = [tiny.vocabulary.index(piece) for piece in ("great", "##ly")]
    changed = table.copy()
    changed[tiny.vocabulary.index("lovely")] = table[pieces].mean(axis=0) * 3  # the same direction
    language_model.encoder.embeddings.word.table.assign(changed)
    options = {"copies": 2, "probability": 1.0, "candidates": 1}
    assert augment(["greatly, a"], language_model, **options, neighbours=True) == ["lovely, warm"] * 2
    assert augment(["greatly, a"], language_model, **options) == ["greatly, warm"] * 2
    language_model.encoder.embeddings.word.table.assign(table)


@pytest.fixture(scope="module")
def opened(language_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("file") / "words.tflite"
    kb.export.convert(language_model, recipe="float32").save(path)
    return kb.open(path)


def test_a_file_finds_the_words_of_its_model(language_model, opened):
    texts = ["A  good film, so greatly warm!", "filmzzz"]
    options = {"copies": 3, "probability": 1.0, "candidates": 2, "seed": 5}
    assert augment(texts, opened, **options) == augment(texts, language_model, **options)
    (text,) = augment(["greatly, a"], opened, copies=1, probability=1.0, candidates=1, neighbours=True)
    assert text == "warm, warm"  # a mask for both tokens
    pairs = augment([("a good film", "it was bad")], opened, copies=2, probability=1.0, candidates=1)
    assert pairs == [("warm warm warm", "warm warm warm")] * 2


def test_a_file_of_another_task_is_refused(tiny, tmp_path):
    kb.export.convert(tiny.narrow(), recipe="float32").save(tmp_path / "a.tflite")
    with pytest.raises(
        KerasBertError, match="or an opened file of one, as language_model, received .*a.tflite, of another task"
    ):
        augment(["a film"], kb.open(tmp_path / "a.tflite"))
