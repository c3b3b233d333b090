"""The tags of a file as a whole: every common scheme gives the same entities, and tags of no scheme are refused."""

import numpy as np
import pytest

from kerasbert.console.strictness import strict
from kerasbert.data.conll import read_conll
from kerasbert.data.entities import SCHEMES, convert_tags, scheme_of, spans
from kerasbert.data.tag_schemes import recognize_tags
from kerasbert.errors import KerasBertError
from kerasbert.processors.tagging import Tagging

# Entities of seqeval 1.2.2 (strict, IOBES) after M- and W- are written as I- and S-.
BMES = ["B-PER", "E-PER", "B-PER", "M-PER", "M-PER", "E-PER", "S-LOC", "S-LOC", "O"]
ENTITIES = [("PER", 0, 2), ("PER", 2, 6), ("LOC", 6, 7), ("LOC", 7, 8)]
IOB2 = ["B-PER", "I-PER", "B-PER", "I-PER", "I-PER", "I-PER", "B-LOC", "B-LOC", "O"]


@pytest.fixture
def read(tmp_path):
    def read(tags, **settings):
        path = tmp_path / "a.conll"
        path.write_text("".join(f"w{place} {tag}\n" for place, tag in enumerate(tags)))
        return read_conll(path, **settings)

    return read


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (BMES, "bmes"),
        ([tag.replace("S-", "W-") for tag in BMES], "bmewo"),
        ([tag.replace("M-", "I-") for tag in BMES], "iobes"),
        ([tag.replace("M-", "I-").replace("E-", "L-").replace("S-", "U-") for tag in BMES], "bilou"),
        (IOB2, "iob2"),
        ([tag.lower() for tag in IOB2], "iob2"),
        ([tag.replace("-", "_") for tag in IOB2], "iob2"),
        ([tag if tag == "O" else f"{tag[2:]}-{tag[0]}" for tag in BMES], "bmes"),
    ],
)
def test_every_scheme_of_a_file_gives_the_same_entities(read, tags, scheme):
    table = read(tags)
    upper = {"per": "PER", "loc": "LOC"}
    assert [tag[:2] + upper.get(tag[2:], tag[2:]) for tag in table.y[0]] == IOB2
    assert table.scheme == scheme


@pytest.mark.parametrize("scheme", SCHEMES)
def test_entities_survive_the_conversion_to_a_scheme(scheme):
    converted = convert_tags(BMES, scheme)
    assert [tuple(span) for span in spans(converted)] == ENTITIES == [tuple(span) for span in spans(BMES)]
    assert scheme_of([converted]) == scheme


@pytest.mark.parametrize("outside", ["o", "0", "_", "NONE", "none", "-", "OUT"])
def test_other_names_of_outside_are_read_as_o_with_a_note(read, outside, capsys):
    assert read(["B-LOC", "I-LOC", outside, outside]).y == [["B-LOC", "I-LOC", "O", "O"]]
    assert f"the tag {outside!r} is read as O" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (["B-PER", "X", "O"], "line 1: expected a tag for each word, received 'X' beside B-PER; join the pieces"),
        (["B-LOC", "Q-LOC", "O"], "line 1: expected O, or a prefix among .*received 'Q-LOC' beside B-LOC"),
        (["B-LOC", "LOC", "O"], "received 'LOC' beside B-LOC"),
        (["B-LOC", "I", "O"], "received 'I' beside B-LOC"),
        (["B-LOC", "_", "O"], "expected one tag for words outside of entities, received '_' and 'O'"),
        (["B-LOC", "M-LOC", "I-LOC"], "expected tags of one scheme among IOB, .*received the prefixes B, I, M"),
        (["B-LOC", "L-LOC", "E-LOC"], "received the prefixes B, E, L"),
        (["(PER*", "*", "*)", "(LOC)"], r"received brackets around entities"),
    ],
)
def test_tags_of_no_scheme_raise(read, tags, message):
    with pytest.raises(KerasBertError, match=message) as error:
        read(tags)
    assert "a.conll" in str(error.value)


@pytest.mark.parametrize("tags", [["NOUN", "X", "_", "0"], ["B", "S", "V"], ["PER", "O", "LOC"], ["O", "0"]])
def test_tags_without_prefixes_stay(read, tags):
    assert read(tags).y == [tags]


def test_sentences_with_unknown_tags_can_be_left_out(tmp_path):
    (tmp_path / "a.conll").write_text("a B-X\n\nb Q-X\n\nc O\n")
    table = read_conll(tmp_path / "a.conll", skip_bad_rows=True)
    assert (table.x, table.bad.count) == ([["a"], ["c"]], 1)


def test_forms_of_prefixes_are_recognized_for_all_tags_or_none():
    assert recognize_tags({"PER-B", "a-b-B", "O"}, "").usual == {"PER-B": "B-PER", "a-b-B": "B-a-b"}
    for tags in ({"B-PER", "O"}, {"NN", "O"}, {"O"}, {"B-I", "I-I"}, {"B_x", "NN"}):
        assert recognize_tags(tags, "").usual == {}


def predicted(tiny, labels, tags):
    processor = Tagging(labels=tuple(labels))
    rows = np.eye(len(labels))[[labels.index(tag) for tag in tags]]
    words = [f"w{place}" for place in range(len(tags))]

    features = processor.features([tuple(words)], tiny.tokenizer(), 64)
    return processor.predictions([tuple(words)], features, [{"probabilities": rows}])[0]


def test_a_checkpoint_with_bmes_labels_predicts_whole_entities(tiny):
    labels = sorted({*BMES, "M-LOC"})
    prediction = predicted(tiny, labels, BMES)
    assert [entity["text"] for entity in prediction["entities"]] == ["w0 w1", "w2 w3 w4 w5", "w6", "w7"]


@pytest.mark.parametrize("outside", ["0", "o", "_", "NONE", "X", "[PAD]"])
def test_other_names_of_outside_in_a_checkpoint_are_no_entities(tiny, outside):
    prediction = predicted(tiny, ["B-LOC", "I-LOC", outside], ["B-LOC", "I-LOC", outside, outside])
    assert [entity["text"] for entity in prediction["entities"]] == ["w0 w1"]


def test_labels_of_a_checkpoint_without_a_prefix_are_noted(capsys):
    processor = Tagging(labels=("O", "B-A", "I-A", "odd"))
    assert processor.tags.outside == "O"
    assert "labels of the model: read as entities 'odd' beside tags with a prefix" in capsys.readouterr().err
    with strict(), pytest.raises(KerasBertError, match="expected tags of one scheme, received 'odd'"):
        _ = Tagging(labels=("O", "B-A", "I-A", "odd")).tags


def test_tags_in_iob2_are_encoded_for_a_model_of_another_scheme():
    labels = tuple(sorted({*BMES, "M-LOC", "B-LOC", "E-LOC", "S-PER"}))
    tags = Tagging(labels=labels).tags
    words = tuple("abcdefghi")
    assert tags.names(tags.encode([IOB2], [words])[0]) == BMES
    with pytest.raises(KerasBertError, match="expected a tag among .*received 'B-ORG'"):
        tags.encode([["B-ORG"]], [("a",)])


def test_the_display_shows_each_word_with_its_tag_where_tags_mark_no_entities(tiny):
    labels = ["DET", "NOUN", "VERB"]
    prediction = predicted(tiny, labels, ["DET", "NOUN", "VERB"])
    lines = Tagging.display.lines({"text": "w0 w1 w2", **prediction})
    assert [line[:4] for line in lines] == [
        ["DET", "", "w0", "0-2"],
        ["NOUN", "", "w1", "3-5"],
        ["VERB", "", "w2", "6-8"],
    ]
    nothing = predicted(tiny, ["O", "B-X"], ["O", "O"])
    assert Tagging.display.lines({"text": "w0 w1", **nothing}) == [["-", "", "", "", "w0 w1"]]
