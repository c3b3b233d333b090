"""Words with tags and texts with entities, without a model."""

import numpy as np
import pytest
from tokenizers.implementations import ByteLevelBPETokenizer

from kerasbert.errors import KerasBertError
from kerasbert.processors import IGNORED, Features, make_processor, processor_class
from kerasbert.processors.features import TokenLists
from kerasbert.processors.words import words_of
from kerasbert.text import ByteLevelBPE, JapaneseTokenizer, SentencePiece, WordPiece

LABELS = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SENTENCES = [["Ann", "O'Hara", "flew", "to", "New", "York", ",", "U.S."], ["Nobody", "did", "."]]
TAGS = [["B-PER", "I-PER", "O", "O", "B-LOC", "I-LOC", "O", "B-LOC"], ["O", "O", "O"]]
LINES = [" ".join(words) for words in SENTENCES] * 4
PROCESSOR = make_processor("tagging", LABELS)


def word_piece():
    return WordPiece([*SPECIAL, "ann", "o", "ha", "##ra", "flew", "to", "new", "york", "no", "##body", "did", *"',.us"])


def byte_bpe(tmp_path):
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learned = ByteLevelBPETokenizer()
    learned.train_from_iterator(LINES, vocab_size=290, special_tokens=special, show_progress=False)
    learned.save_model(str(tmp_path))
    return ByteLevelBPE.from_folder(tmp_path)


@pytest.fixture(params=["wordpiece", "japanese", "sentencepiece", "byte_level_bpe"])
def tokenizer(request, tmp_path):
    if request.param == "japanese":
        return JapaneseTokenizer([*SPECIAL, *sorted(set("".join(LINES)))], subwords="character")
    if request.param == "sentencepiece":
        return SentencePiece.train(LINES, vocabulary_size=50)
    return byte_bpe(tmp_path) if request.param == "byte_level_bpe" else word_piece()


def perfect(features, targets):
    """Readings of a model that says what the targets say, and anything at other places."""
    draw, classes = np.random.default_rng(0), len(LABELS)
    for row, wanted in enumerate(targets):
        outputs = draw.random((len(wanted) + 3, classes), np.float32)  # padded
        real = np.flatnonzero(wanted != IGNORED)
        outputs[real] = np.eye(classes)[wanted[real]] * 0.5 + 0.5 / classes
        yield PROCESSOR.raw_result({"probabilities": outputs}, features, row)


def test_words_of_a_text_are_at_their_offsets():
    text = "Zoë's caf\u00e9,  U.S.\t(東京タワー)\u200b 😀x"
    words = words_of(text)
    assert words.words == (
        *("Zoë", "'", "s", "café", ",", "U", ".", "S", ".", "("),
        *"東京タワー",
        ")",
        "\u200b",
        "😀x",
    )
    assert [text[start:end] for start, end in zip(words.starts, words.ends, strict=True)] == list(words.words)
    assert len(words_of("")) == len(words_of(" \n")) == len(words_of(())) == 0


def test_given_words_are_joined_by_spaces_and_own_their_pieces():
    words = words_of(("U.S.", "", "New York", "of"))
    assert words.text == "U.S.  New York of" and words.words == ("U.S.", "", "New York", "of")
    assert [words.text[s:e] for s, e in zip(words.starts, words.ends, strict=True)] == list(words.words)
    assert words.owners.tolist() == [0, 0, 0, 0, 2, 2, 3]


@pytest.mark.parametrize("length", [64, 9, 3])
def test_labels_as_outputs_give_the_same_tags(tokenizer, length):
    """At every length, so with every number of windows, and for every kind of tokens."""
    examples = PROCESSOR.examples(SENTENCES)
    features = PROCESSOR.features(examples, tokenizer, length)
    assert features.lengths.max() <= length and (len(features) > 2) == (length < 64) and features.truncated == 0
    targets = PROCESSOR.encode_labels(TAGS, examples, features)
    assert [len(row) for row in targets] == features.lengths.tolist()
    raw_results = list(perfect(features, targets))
    answers = PROCESSOR.predictions(examples, features, raw_results)
    assert [answer["tags"] for answer in answers] == TAGS
    assert [answer["words"] for answer in answers] == SENTENCES
    found = [(entity["label"], entity["text"]) for entity in answers[0]["entities"]]
    assert found == [("PER", "Ann O'Hara"), ("LOC", "New York"), ("LOC", "U.S.")] and not answers[1]["entities"]
    for entity in answers[0]["entities"]:
        assert LINES[0][entity["start"] : entity["end"]] == entity["text"] and entity["score"] == pytest.approx(0.6)
    scores = PROCESSOR.metrics(TAGS, examples, features, raw_results)
    assert next(iter(scores)) == "entity F1" and set(scores.values()) == {1.0}


def test_words_and_raw_text_have_the_same_features_and_labels(tokenizer):
    """Same features, and the same targets from tags and from entities."""
    features = PROCESSOR.features(PROCESSOR.examples(SENTENCES), tokenizer, 9)
    texts = LINES[:2]
    raw = PROCESSOR.features(texts, tokenizer, 9)
    assert raw.tokens == features.tokens
    targets = PROCESSOR.encode_labels(TAGS, PROCESSOR.examples(SENTENCES), features)
    answers = PROCESSOR.predictions(texts, raw, list(perfect(raw, targets)))
    entities = [answer["entities"] for answer in answers]
    assert [entity["text"] for entity in entities[0]] == ["Ann O'Hara", "New York", "U.S."]
    for found, wanted in zip(PROCESSOR.encode_labels(entities, texts, raw), targets, strict=True):
        assert found.tolist() == wanted.tolist()


def test_first_tokens_are_labelled():
    examples = PROCESSOR.examples([["Nobody", "did", "U.S.", "\u200b", "", "to"]])
    tags = [["B-PER", "O", "B-LOC", "B-PER", "B-PER", "I-LOC"]]
    (targets,) = PROCESSOR.encode_labels(tags, examples, PROCESSOR.features(examples, word_piece(), 32))
    #                            no ##body did u . s . to
    assert targets.tolist() == [IGNORED, 3, IGNORED, 0, 1, 2, 2, 2, 2, IGNORED]
    assert targets.dtype == np.int32


def test_a_word_outside_entities_has_one_label():
    """An address has dozens of pieces; as targets they would drown the entities."""
    examples = PROCESSOR.examples([["o.us", "U.S."]])
    (targets,) = PROCESSOR.encode_labels([["O", "B-LOC"]], examples, PROCESSOR.features(examples, word_piece(), 32))
    #                                     o . us        u . s .
    assert targets[targets != IGNORED].tolist() == [0, 1, 2, 2, 2]
    parts = make_processor("tagging", ("NN", "NNP"))  # where nothing is outside every piece is of its word's class
    (targets,) = parts.encode_labels([["NN", "NNP"]], examples, parts.features(examples, word_piece(), 32))
    assert (targets != IGNORED).sum() > 5


def test_words_without_tokens_are_outside():
    examples = PROCESSOR.examples([["\u200b", "Ann", ""], [], "\u200b"])
    features = PROCESSOR.features(examples, word_piece(), 8)
    assert features.lengths.tolist() == [3, 2, 2]
    targets = PROCESSOR.encode_labels([["B-PER"] * 3, [], ["B-PER"]], examples, features)
    assert [row.tolist() for row in targets] == [[IGNORED, 3, IGNORED], [IGNORED] * 2, [IGNORED] * 2]
    answers = PROCESSOR.predictions(examples, features, list(perfect(features, targets)))
    assert [answer["tags"] for answer in answers] == [["O", "B-PER", "O"], [], ["O"]]


def test_a_word_belongs_to_the_window_with_most_context():
    examples = PROCESSOR.examples([["did"] * 20])
    processor = make_processor("tagging", LABELS, {"stride": 2})
    features = processor.features(examples, word_piece(), 8)  # windows of 6 tokens
    words = [window.words.tolist() for window in features.alignment]
    assert words[0] == [0, 1, 2, 3] and words[1] == [4, 5] and words[-1] == [16, 17, 18, 19]
    assert sum(words, []) == list(range(20))
    assert sum((row != IGNORED).sum() for row in processor.encode_labels([["O"] * 20], examples, features)) == 20


def test_words_that_share_a_token_share_its_tag():
    """The vocabulary has the whole of what a raw text splits."""
    tokenizer = JapaneseTokenizer([*SPECIAL, "東京", "に"])
    features = PROCESSOR.features(["東京に"], tokenizer, 8)
    targets = PROCESSOR.encode_labels([["B-LOC", "I-LOC", "O"]], ["東京に"], features)
    assert targets[0].tolist() == [IGNORED, 1, 0, IGNORED]
    (answer,) = PROCESSOR.predictions(["東京に"], features, list(perfect(features, targets)))
    assert answer["tags"] == ["B-LOC", "I-LOC", "O"]
    assert [(entity["text"], entity["start"], entity["end"]) for entity in answer["entities"]] == [("東京", 0, 2)]


def test_labels_may_be_numbers_and_arrays():
    examples = PROCESSOR.examples(SENTENCES)
    numbers = [[LABELS.index(tag) for tag in tags] for tags in TAGS]
    features = PROCESSOR.features(examples, word_piece(), 64)
    expected = [row.tolist() for row in PROCESSOR.encode_labels(TAGS, examples, features)]
    for y in (numbers, [np.array(row) for row in numbers], tuple(map(tuple, TAGS))):
        assert [row.tolist() for row in PROCESSOR.encode_labels(y, examples, features)] == expected


def test_the_scheme_of_the_labels_is_kept():
    processor = make_processor("tagging", ("O", "B-X", "I-X", "E-X", "S-X"))
    examples = processor.examples([["U.S.", "to"]])
    (targets,) = processor.encode_labels([["S-X", "O"]], examples, processor.features(examples, word_piece(), 16))
    assert targets.tolist() == [IGNORED, 1, 2, 2, 3, 0, IGNORED]
    entities = [[{"start": 0, "end": 3, "label": "X"}]]
    (targets,) = processor.encode_labels(entities, ["Ann to"], processor.features(["Ann to"], word_piece(), 16))
    assert targets.tolist() == [IGNORED, 4, 0, IGNORED]


def test_parts_of_speech_mark_no_entities():
    processor = make_processor("tagging", ("NN", "VB", "S"))
    examples = processor.examples([["Ann", "flew"]])
    features = processor.features(examples, word_piece(), 16)
    raw_results = [{"probabilities": np.eye(3, dtype=np.float32)[[0, 2]]}]
    assert processor.predictions(examples, features, raw_results)[0]["entities"] == []
    scores = processor.metrics([["NN", "VB"]], examples, features, raw_results)
    assert next(iter(scores.items())) == ("tag accuracy", 0.5)


def test_parts_of_speech_may_look_like_prefixes():
    processor = make_processor("tagging", ("B", "I", "N"))
    examples = processor.examples([["U.S.", "to"]])
    (targets,) = processor.encode_labels([["B", "I"]], examples, processor.features(examples, word_piece(), 16))
    assert targets.tolist() == [IGNORED, 0, 0, 0, 0, 1, IGNORED]


def test_packed_inputs():
    ids = [[2, 5, 6, 3], [2, 5, 3]]
    features = Features(TokenLists(ids, [[0] * len(row) for row in ids]), np.arange(2))
    y = np.array([[IGNORED, 3, IGNORED, IGNORED, IGNORED], [IGNORED, 0, IGNORED, IGNORED, IGNORED]])
    targets = PROCESSOR.encode_labels(y, features.example, features)
    assert [row.tolist() for row in targets] == [[IGNORED, 3, IGNORED, IGNORED], [IGNORED, 0, IGNORED]]
    raw_results = list(perfect(features, targets))
    assert [reading["probabilities"].shape for reading in raw_results] == [(4, 5), (3, 5)]
    assert PROCESSOR.metrics(y, range(2), features, raw_results)["entity F1"] == 1.0
    for wrong, told in (([[0, 9, 0, 0], [0] * 3], "row 0: .*0 to 4.*9"), ([[0] * 4, [0]], "row 1: .*3 tokens")):
        with pytest.raises(KerasBertError, match=told):
            PROCESSOR.encode_labels(wrong, features.example, features)


def test_label_names_come_from_the_training_data():
    kind = processor_class("tagging")
    assert kind.label_names(TAGS) == LABELS
    assert kind.label_names([["I-X", "O"]]) == ("O", "B-X", "I-X")
    assert kind.label_names([["S-X", "O"], ["B-X", "E-X"]]) == ("O", "B-X", "E-X", "S-X")
    assert kind.label_names([["VB", "NN"]]) == ("NN", "VB")
    assert kind.label_names([[], [{"start": 0, "end": 1, "label": "X"}]]) == ("O", "B-X", "I-X")
    for y in ([["O"]], [[], []]):
        with pytest.raises(KerasBertError, match="two or more"):
            kind.label_names(y)
    for y, told in ((["O"], "row 0: expected a list"), ([["O"], [None]], "row 1: .*None"), ([[["O"]]], "row 0: .*'O'")):
        with pytest.raises(KerasBertError, match=told):
            kind.label_names(y)


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ([["O"] * 6, ["O", "O"]], "row 1: expected one tag a word, received 2 tags for 3 words"),
        ([["O"] * 6], "received 1 for 2 texts"),
        ([["O"] * 6, ["O", "O", "B-ORG"]], "row 1: expected a tag among O, B-LOC.*'B-ORG'"),
        ([["O"] * 6, [0, 0, 5]], "row 1: .*0 to 4, received 5"),
        ([["O"] * 6, "OOO"], "row 1: expected a list"),
        ([[{"start": 1, "end": 5, "label": "LOC"}], ["O"] * 3], "row 0: .*begin and end with a word.*'ew Y'.*1-5"),
        ([[{"start": 0, "end": 99, "label": "LOC"}], ["O"] * 3], r"row 0: .*25 characters.*\(0, 99\)"),
        ([[{"start": 0, "label": "LOC"}], ["O"] * 3], r"row 0: .*\(0, None\)"),
        ([[{"start": 0, "end": 3}], ["O"] * 3], "row 0: expected a label"),
        ([[{"start": 0, "end": 3, "label": "LOC"}, "O"], ["O"] * 3], "row 0: expected entities.*'O'"),
        ([[{"start": s, "end": 8, "label": "LOC"} for s in (0, 4)], ["O"] * 3], "row 0: .*overlap.*'York'"),
        ([[{"start": 0, "end": 3, "label": "ORG"}], ["O"] * 3], "row 0: expected a tag among .*'B-ORG'"),
    ],
)
def test_errors_name_the_row_of_a_wrong_label(y, told):
    examples = PROCESSOR.examples(["New York, Ann flew to it.", ["Ann", "flew", "."]])
    y = [["O"] * 8 if row == ["O"] * 6 else row for row in y]
    with pytest.raises(KerasBertError, match=told):
        PROCESSOR.check_labels(y, examples)


@pytest.mark.parametrize(
    ("x", "told"),
    [
        ("Ann flew", "put it in a list"),
        ({"a": 1}, "dict"),
        (3, "int"),
        ([["a", 3]], "row 0: .*int in row 1"),
        ([3], "row 0"),
    ],
)
def test_errors_name_the_row_of_a_wrong_example(x, told):
    with pytest.raises(KerasBertError, match=told):
        PROCESSOR.examples(x)


def test_examples_of_all_kinds():
    assert PROCESSOR.examples(("a b", b"c", ["d"], ("e", "f"), np.array(["g"]))) == [
        "a b",
        "c",
        ("d",),
        ("e", "f"),
        ("g",),
    ]
    assert PROCESSOR.examples(np.array(["a b"])) == ["a b"]


@pytest.mark.parametrize("stride", [0, 1.5, True])
def test_wrong_strides_are_rejected(stride):
    with pytest.raises(KerasBertError, match="stride"):
        make_processor("tagging", LABELS, {"stride": stride})
