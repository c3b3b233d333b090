"""The bundled assistant data set: counts, labels, alignment, and a test split unlike the training data."""

import collections
import subprocess
import sys

import pytest

from kerasbert.data import assistant
from kerasbert.data.assistant import generate
from kerasbert.errors import KerasBertError


@pytest.fixture(scope="module")
def splits() -> dict[str, assistant.AssistantSplit]:
    return {split: assistant.load(split) for split in assistant.SPLITS}


def _words(tokens: tuple[str, ...]) -> str:
    return " ".join(token.lower() for token in tokens if token[0].isalnum())


def _skeleton(tokens: tuple[str, ...], tags: tuple[str, ...]) -> str:
    """The words outside slots, with the slot's name in place of each value."""
    pairs = zip(tokens, tags, strict=True)
    kept = [token.lower() if tag == "O" else f"{{{tag[2:]}}}" for token, tag in pairs if not tag.startswith("I-")]
    return " ".join(word for word in kept if word[0].isalnum() or word[0] == "{")


def test_counts_match_the_readme(splits):
    counts = {split: (len(rows), collections.Counter(rows.sources)) for split, rows in splits.items()}
    assert counts == {
        "train": (1074, {"template": 420, "written": 654}),
        "dev": (150, {"template": 80, "written": 70}),
        "test": (430, {"template": 50, "paraphrase": 380}),
    }


def test_columns_have_equal_lengths_and_known_values(splits):
    for rows in splits.values():
        assert len(rows.texts) == len(rows.intents) == len(rows.tokens) == len(rows.tags) == len(rows.sources)
        assert set(rows.intents) == set(assistant.INTENTS)
        assert set(rows.sources) <= set(assistant.SOURCES)


def test_every_intent_has_between_8_and_12_percent_of_each_split(splits):
    for rows in splits.values():
        for intent, count in collections.Counter(rows.intents).items():
            assert 0.08 <= count / len(rows) <= 0.12, intent


def test_texts_are_distinct_ignoring_case_and_punctuation(splits):
    seen = collections.Counter(_words(tokens) for rows in splits.values() for tokens in rows.tokens)
    assert [text for text, count in seen.items() if count > 1] == []


def test_tokens_cover_the_text_except_blanks(splits):
    for rows in splits.values():
        for text, tokens in zip(rows.texts, rows.tokens, strict=True):
            assert "".join(tokens) == text.replace(" ", "")
            position = 0
            for token in tokens:
                position = text.index(token, position) + len(token)


def test_tags_are_valid_bio_for_each_token(splits):
    for rows in splits.values():
        for text, tokens, tags in zip(rows.texts, rows.tokens, rows.tags, strict=True):
            assert len(tokens) == len(tags), text
            assert set(tags) <= set(assistant.TAGS), text
            for before, tag in zip(("O", *tags), tags, strict=False):
                assert not tag.startswith("I-") or before[1:] == tag[1:], text


def test_every_slot_occurs_in_every_split(splits):
    for rows in splits.values():
        assert {tag[2:] for tags in rows.tags for tag in tags if tag.startswith("B-")} == set(assistant.SLOTS)


def test_no_template_matches_a_paraphrase(splits):
    _, templates = generate.read_templates()
    patterns = [generate.template_pattern(template) for group in templates.values() for template in group]
    texts = [text.rstrip(".?!") for text in splits["test"].with_source("paraphrase").texts]
    assert [(text, p.pattern) for text in texts for p in patterns if p.fullmatch(text)] == []


def test_template_patterns_match_their_sentences(splits):
    _, templates = generate.read_templates()
    patterns = {i: [generate.template_pattern(template) for template in group] for i, group in templates.items()}
    for rows in splits.values():
        made = rows.with_source("template")
        for text, intent in zip(made.texts, made.intents, strict=True):
            assert any(pattern.fullmatch(text.rstrip(".?")) for pattern in patterns[intent]), text


def test_no_paraphrase_is_a_training_sentence_with_other_slot_values(splits):
    known = {_skeleton(*pair) for split in ("train", "dev") for pair in zip(*_columns(splits[split]), strict=True)}
    paraphrases = splits["test"].with_source("paraphrase")
    skeletons = [_skeleton(*pair) for pair in zip(*_columns(paraphrases), strict=True)]
    assert sorted(known.intersection(skeletons)) == []


def _columns(rows: assistant.AssistantSplit) -> tuple:
    return rows.tokens, rows.tags


def test_generation_is_reproducible_byte_for_byte(tmp_path):
    generate.write(tmp_path)
    for split in assistant.SPLITS:
        assert (tmp_path / f"{split}.jsonl").read_bytes() == assistant.path(split).read_bytes(), split


def test_the_data_set_stays_small():
    assert sum(file.stat().st_size for file in generate.FOLDER.iterdir() if file.is_file()) < 1_000_000


def test_markup_becomes_tokens_and_tags():
    row = generate.parse("Cancel [date: tomorrow]'s [time: 7:15 am] alarm, don't ask.", "set_alarm", "written")
    assert row.text == "Cancel tomorrow's 7:15 am alarm, don't ask."
    assert row.tokens == ("Cancel", "tomorrow", "'s", "7:15", "am", "alarm", ",", "don't", "ask", ".")
    assert row.tags == ("O", "B-date", "O", "B-time", "I-time", "O", "O", "O", "O", "O")


@pytest.mark.parametrize("marked", ["at [hour: 7]", "at [time: 7", "at 7  am", "in [city: Ber]lin", " at 7"])
def test_invalid_markup_raises(marked):
    with pytest.raises(KerasBertError, match="expected.*received"):
        generate.parse(marked, "set_alarm", "written")


def test_with_source_filters_all_columns(splits):
    test = splits["test"]
    some = test.with_source("template")
    index = test.texts.index(some.texts[3])
    assert (some.intents[3], some.tags[3]) == (test.intents[index], test.tags[index])
    assert set(some.sources) == {"template"}


def test_unknown_names_raise(splits):
    with pytest.raises(KerasBertError, match="train, dev, test, received 'valid'"):
        assistant.load("valid")
    with pytest.raises(KerasBertError, match="received '../train'"):
        assistant.path("../train")
    with pytest.raises(KerasBertError, match="received 'human'"):
        splits["test"].with_source("human")


def test_reading_needs_no_tensorflow():
    code = "import sys; from kerasbert.data import assistant; assistant.load('dev'); print('tensorflow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
