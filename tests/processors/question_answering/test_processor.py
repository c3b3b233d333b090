"""Questions about texts, without a model."""

import json

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors import Features, make_processor
from kerasbert.processors.features import TokenLists
from kerasbert.processors.registry import processor_settings

SHORT = ("the film", "we saw a good book")
LONG = ("the film", "it was so very good and we saw it in the end of a song")


def problem(**settings):
    return make_processor("question_answering", settings=settings)


@pytest.fixture
def tokenizer(tiny):
    return tiny.tokenizer()


def raw_results(rows, peaks, height=5.0, cls=0.0):
    """Logits that are 0 but at `peaks`: of some rows the places of the start and the end, or several of them with heights."""
    found = []
    for row, length in enumerate(rows.lengths):
        logits = {name: np.zeros((1, length), np.float32) for name in ("start_logits", "end_logits")}
        for first, last, *high in peaks.get(row, ()):
            logits["start_logits"][0, first] = logits["end_logits"][0, last] = (high or [height])[0]
        for values in logits.values():
            values[0, 0] = cls
        found.append(logits)
    return found


# -- examples


def test_every_form_of_examples():
    pairs = [SHORT, LONG]
    dicts = [{"question": question, "context": context, "id": 1} for question, context in pairs]
    asks = problem()
    for x in (pairs, dicts, tuple(zip(*pairs, strict=True)), [list(pair) for pair in pairs], np.array(pairs).tolist()):
        assert asks.examples(x) == pairs
    assert asks.examples([]) == []


@pytest.mark.parametrize(
    ("x", "told"),
    [
        ([SHORT, "film"], "row 1: .*question, context.*'film'"),
        (["film"], "row 0"),
        ([{"question": "film"}], "row 0: .*context"),
        ([{"question": 3, "context": "film"}], "row 0: .*question.*3"),
        ({"question": "film", "context": "book"}, "list"),
        ((["film"], ["book", "song"]), "1 questions, 2 contexts"),
        ([("film", 3)], "int"),
    ],
)
def test_examples_that_are_none(x, told):
    with pytest.raises(KerasBertError, match=told):
        problem().examples(x)


# -- rows


def test_a_short_context_is_one_row_as_the_tokenizer_makes_it(tokenizer):
    rows = problem().features([SHORT], tokenizer, 16)
    encoded = tokenizer.encode([SHORT[0]], [SHORT[1]], max_length=16)
    assert (rows.tokens.input_ids, rows.tokens.token_type_ids) == (encoded.input_ids, encoded.token_type_ids)
    assert (len(rows), rows.truncated) == (1, 0)


@pytest.mark.parametrize("trim", [True, False])
def test_two_separators_and_types_of_zero_as_in_roberta(trim):
    from kerasbert.text import ByteLevelBPE

    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "f", "i", "l", "m", "\u0120", "\u0120f"]
    bpe = ByteLevelBPE(tokens, merges=["\u0120 f"], trim_offsets=trim)
    asks, example = problem(), ("film", "film  film")
    rows = asks.features([example], bpe, 20)
    encoded = bpe.encode(*[[text] for text in example], max_length=20)
    assert (rows.tokens.input_ids, rows.tokens.token_type_ids) == (encoded.input_ids, encoded.token_type_ids)
    assert rows.alignment[0].begin == encoded.boundaries[0] == 7
    # f i l m, a space, a space with f, i l m: the space belongs to no answer, whatever token it is in.
    found = asks.encode_labels([(6, "film")], [example], rows)
    assert (found["start_logits"].item(), found["end_logits"].item()) == (12, 15)
    (answer,) = asks.predictions([example], rows, raw_results(rows, {0: [(12, 15)]}))
    assert (answer["answer"], answer["start"]) == ("film", 6)


def test_a_long_context_has_windows_that_overlap(tokenizer):
    rows = problem().features([SHORT, LONG], tokenizer, 12)
    assert rows.example.tolist() == [0, 1, 1, 1] and max(rows.lengths) == 12
    spans = [(window.first, window.end) for window in rows.alignment[1:]]
    assert spans == [(0, 7), (4, 11), (8, 15)]  # room for 7, of which 3 overlap: no more than half
    assert [(w.first, w.end) for w in problem(stride=7).features([LONG], tokenizer, 12).alignment] == [
        (0, 7),
        (7, 14),
        (14, 15),
    ]
    assert len(problem(stride=99).features([LONG], tokenizer, 12)) == 3  # nothing is ever skipped
    words = LONG[1].split()
    for row, window in enumerate(rows.alignment[1:], start=1):
        ids = rows.tokens.input_ids[row][window.positions]
        assert [tokenizer.vocabulary[i] for i in ids] == words[window.first : window.end]


def test_a_long_question_leaves_half_of_the_row(tokenizer):
    rows = problem().features([("film " * 20, "a book"), SHORT], tokenizer, 13)
    assert rows.truncated == 1 and rows.alignment[0].begin == 1 + 5 + 1


def test_rows_too_short_for_two_texts(tokenizer):
    with pytest.raises(KerasBertError, match="at least 5 tokens.*4"):
        problem().features([SHORT], tokenizer, 4)


def test_an_empty_context_has_a_row_and_no_answer(tokenizer):
    rows = problem().features([("film", "")], tokenizer, 12)
    (answer,) = problem().predictions([("film", "")], rows, raw_results(rows, {}))
    assert (answer["answer"], answer["start"], answer["end"]) == ("", None, None)


# -- targets


@pytest.mark.parametrize(
    "y",
    [
        {"text": "good book", "answer_start": 9},
        {"text": ["good book", "book"], "answer_start": [9, 14]},
        {"text": np.array(["good book"]), "answer_start": np.array([9])},
        [{"text": "good book", "answer_start": 9}, {"text": "a", "answer_start": 7}],
        (9, "good book"),
        [(9, "good book")],
    ],
)
def test_every_form_of_answers(tokenizer, y):
    rows = problem().features([SHORT], tokenizer, 16)
    targets = problem().encode_labels([y], [SHORT], rows)
    assert {name: values.tolist() for name, values in targets.items()} == {"start_logits": [7], "end_logits": [8]}
    assert all(values.dtype == np.int32 for values in targets.values())


@pytest.mark.parametrize("y", [None, [], {"text": [], "answer_start": []}, {"text": "", "answer_start": 0}])
def test_no_answer_points_to_cls(tokenizer, y):
    rows = problem().features([SHORT], tokenizer, 16)
    targets = problem().encode_labels([y], [SHORT], rows)
    assert [values.tolist() for values in targets.values()] == [[0], [0]]


def test_only_windows_with_the_whole_answer_point_to_it(tokenizer):
    rows = problem().features([LONG], tokenizer, 12)
    start = LONG[1].index("and we")  # words 5 and 6: in the windows 0 to 7 and 4 to 11
    targets = problem().encode_labels([(start, "and we")], [LONG], rows)
    assert [values.tolist() for values in targets.values()] == [[4 + 5, 4 + 1, 0], [4 + 6, 4 + 2, 0]]
    start = LONG[1].index("so very good and we saw")  # longer than what two windows share, and across both
    targets = problem().encode_labels([(start, "so very good and we saw")], [LONG], rows)
    assert not any(values.any() for values in targets.values())


def test_an_answer_inside_a_word_takes_its_tokens(tokenizer):
    example = ("film", "the films end")  # film ##s
    rows = problem().features([example], tokenizer, 16)
    asks = problem()
    for text, last in (("film", 4), ("films", 5), ("fil", 4)):
        targets = asks.encode_labels([(4, text)], [example], rows)
        assert (targets["start_logits"].item(), targets["end_logits"].item()) == (4, last)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ((8, "good book"), "row 1, 'the film': .*'good book' at character 8.*' good boo'"),
        ((-9, "good"), "at character -9"),  # not counted from the end
        ((99, "book"), "at character 99"),
        ("good book", "row 1, 'the film': .*answer_start.*'good book'"),
        ({"text": "good book"}, "row 1"),
        ({"text": ["good book"], "answer_start": [9, 3]}, "row 1"),
        ((9.0, "good book"), "row 1"),
        ((9, None), "row 1"),
    ],
)
def test_answers_that_the_context_does_not_have(tokenizer, value, told):
    examples = [SHORT, SHORT]
    rows = problem().features(examples, tokenizer, 16)
    for call in (lambda y: problem().encode_labels(y, examples, rows), lambda y: problem().check_labels(y, examples)):
        with pytest.raises(KerasBertError, match=told):
            call([None, value])
    with pytest.raises(KerasBertError, match="1 for 2"):
        problem().encode_labels([None], examples, rows)


def packed_rows():
    return Features(TokenLists([[2, 5, 3, 6, 3], [2, 5, 3, 3]], [[0] * 5, [0] * 4]), np.arange(2))


def test_targets_of_packed_rows_are_places():
    rows, asks = packed_rows(), problem()
    as_dict = {"start_logits": [3, 0], "end_logits": np.array([3, 0])}
    for y in (as_dict, [[3, 3], [0, 0]], np.array([[3, 3], [0, 0]])):
        targets = asks.encode_labels(y, rows.example, rows)
        assert [values.tolist() for values in targets.values()] == [[3, 0], [3, 0]]
    logits = raw_results(rows, {0: [(3, 2)]})
    assert asks.metrics(as_dict, rows.example, rows, logits) == {
        "exact match": 0.5,
        "start accuracy": 1.0,
        "end accuracy": 0.5,
    }


@pytest.mark.parametrize(
    ("y", "told"),
    [
        ({"start_logits": [3, 0]}, "start_logits and end_logits.*start_logits"),
        ({"start_logits": [3, 0], "end_logits": [3]}, "end_logits.*1 for 2"),
        ([[3, 3], [0, 4]], r"row 1: .*\[0, 4\]"),
        ([[3, 3]], "1 for 2"),
        ([3, 0], "shape"),
        ([[0.5, 1], [0, 0]], "whole numbers"),
    ],
)
def test_places_that_are_none(y, told):
    rows = packed_rows()
    with pytest.raises(KerasBertError, match=told):
        problem().encode_labels(y, rows.example, rows)


# -- answers


def test_an_answer_is_a_piece_of_the_context(tokenizer):
    example = ("the film?", "We saw  a GOOD, so lovely\tbook!")
    asks = problem(n_best=3)
    rows = asks.features([example], tokenizer, 24)
    words = [tokenizer.vocabulary[i] for i in rows.tokens.input_ids[0]]
    first, last = words.index("good"), words.index("book")
    (answer,) = asks.predictions([example], rows, raw_results(rows, {0: [(first, last)]}))
    assert answer["answer"] == "GOOD, so lovely\tbook" == example[1][answer["start"] : answer["end"]]
    assert answer["score"] == 10.0 and answer["no_answer_score"] == 0.0
    assert [each["score"] for each in answer["best"]] == [10.0, 5.0, 5.0]
    assert sum(each["probability"] for each in answer["best"]) == pytest.approx(1)
    assert answer["probability"] == answer["best"][0]["probability"] > 0.9
    json.dumps(answer)


def test_spans_lie_in_the_context_forwards_and_are_not_too_long(tokenizer):
    rows = problem().features([SHORT], tokenizer, 16)  # [CLS] the film [SEP] we saw a good book [SEP]
    peaks = {0: [(1, 2, 9.0), (8, 4, 3.0), (9, 9, 8.0)]}  # the question; backwards; [SEP]
    (answer,) = problem().predictions([SHORT], rows, raw_results(rows, peaks))
    assert answer["score"] == 3.0 and "book" not in answer["answer"].split()[:-1]
    assert all(each["start"] < each["end"] for each in answer["best"])
    assert len(answer["best"]) == 15  # all spans of five words
    (answer,) = problem(longest_answer=2).predictions([SHORT], rows, raw_results(rows, {0: [(4, 8, 5.0), (6, 7, 2.0)]}))
    assert max(len(each["answer"].split()) for each in answer["best"]) == 2
    assert len(answer["best"]) == 9


def test_the_search_finds_what_trying_all_spans_finds(tokenizer):
    draw = np.random.default_rng(0)
    asks = problem(longest_answer=4, n_best=6, stride=3)
    rows = asks.features([LONG], tokenizer, 12)
    logits = [{name: draw.normal(size=(1, n)) for name in asks.outputs} for n in rows.lengths]
    expected = {}
    for window, reading in zip(rows.alignment, logits, strict=True):
        for i in range(window.first, window.end):
            for j in range(i, min(i + 4, window.end)):
                places = np.array([i, j]) - window.first + window.begin
                score = reading["start_logits"][0, places[0]] + reading["end_logits"][0, places[1]]
                text = " ".join(LONG[1].split()[i : j + 1])
                expected[i, j] = max((score, text), expected.get((i, j), (-np.inf, "")))
    best = sorted(expected.values(), reverse=True)[:6]
    (answer,) = asks.predictions([LONG], rows, logits)
    assert [each["answer"] for each in answer["best"]] == [text for _, text in best]
    assert [each["score"] for each in answer["best"]] == pytest.approx([score for score, _ in best])
    nothing = min(reading["start_logits"][0, 0] + reading["end_logits"][0, 0] for reading in logits)
    assert answer["no_answer_score"] == pytest.approx(nothing)


def test_windows_of_one_question_are_compared(tokenizer):
    examples = [LONG, SHORT]
    rows = problem().features(examples, tokenizer, 12)
    peaks = {0: [(5, 5, 2.0)], 2: [(9, 10, 4.0)], 3: [(8, 8, 3.0)]}
    first, second = problem().predictions(examples, rows, raw_results(rows, peaks))
    assert (first["answer"], first["score"]) == ("a song", 8.0)
    assert (second["answer"], second["score"]) == ("book", 6.0)
    peaks = {0: [(9, 9, 3.0)], 1: [(5, 5, 1.0)]}  # the same word in two windows
    first = problem().predictions(examples, rows, raw_results(rows, peaks))[0]
    assert (first["answer"], first["score"]) == ("and", 6.0)


def test_no_answer_when_it_is_allowed_and_scores_more(tokenizer):
    rows = problem().features([SHORT], tokenizer, 16)
    logits = raw_results(rows, {0: [(8, 8, 3.0)]}, cls=4.0)
    assert problem().predictions([SHORT], rows, logits)[0]["answer"] == "book"
    (answer,) = problem(no_answer=True).predictions([SHORT], rows, logits)
    assert (answer["answer"], answer["start"], answer["end"], answer["score"]) == ("", None, None, 8.0)
    assert [each["answer"] for each in answer["best"][:2]] == ["", "book"]
    assert problem(no_answer=True, no_answer_threshold=2.5).predictions([SHORT], rows, logits)[0]["answer"] == "book"


def test_one_window_with_an_answer_is_enough(tokenizer):
    asks = problem(no_answer=True)
    rows = asks.features([LONG], tokenizer, 12)
    logits = raw_results(rows, {1: [(5, 5, 3.0)]}, cls=9.0)
    logits[1]["start_logits"][0, 0] = logits[1]["end_logits"][0, 0] = 0.0
    (answer,) = asks.predictions([LONG], rows, logits)
    assert (answer["answer"], answer["no_answer_score"]) == ("and", 0.0)


def test_logits_that_are_no_numbers(tokenizer):
    rows = problem().features([SHORT], tokenizer, 16)
    logits = [{name: np.full((1, n), np.nan) for name in problem().outputs} for n in rows.lengths]
    (answer,) = problem().predictions([SHORT], rows, logits)
    assert answer["answer"] == "" and np.isfinite(answer["score"])


def test_padding_is_not_read(tokenizer):
    rows = problem().features([SHORT], tokenizer, 16)
    outputs = {name: np.arange(16.0) for name in problem().outputs}
    assert {name: values.shape for name, values in problem().raw_result(outputs, rows, 0).items()} == {
        "start_logits": (1, 10),
        "end_logits": (1, 10),
    }


def test_scores_are_over_all_right_answers(tokenizer):
    examples, y = [SHORT, LONG], [[(14, "book"), (9, "good book")], None]
    asks = problem(no_answer=True)
    rows = asks.features(examples, tokenizer, 24)
    scores = asks.metrics(y, examples, rows, raw_results(rows, {0: [(7, 8)], 1: [(8, 8)]}))
    assert (scores["exact match"], scores["no-answer accuracy"], scores["answerable F1"]) == (0.5, 0.0, 1.0)
    assert next(iter(scores)) == "F1"


def test_targets_read_as_logits_give_the_answers_back(tokenizer):
    """Over windows, sub-words, capitals and punctuation."""
    context = "It was so lovely, very GOOD films! And we saw it: in the end, a warm song was bright."
    words = ("lovely, very", "GOOD films", "it: in", "a warm song", "bright")
    examples = [("it ?", context)] * len(words)
    y = [(context.index(text), text) for text in words]
    for length in (12, 16, 32):
        asks = problem()
        rows = asks.features(examples, tokenizer, length)
        targets = asks.encode_labels(y, examples, rows)
        peaks = {i: [(s, e)] for i, (s, e) in enumerate(zip(*targets.values(), strict=True)) if s}
        assert [a["answer"] for a in asks.predictions(examples, rows, raw_results(rows, peaks))] == list(words)


def test_the_best_threshold(tokenizer):
    examples, y = [SHORT, SHORT, SHORT], [(14, "book"), None, (9, "good")]
    asks = problem()
    rows = asks.features(examples, tokenizer, 16)
    logits = raw_results(rows, {0: [(8, 8, 3.0)], 1: [(8, 8, 2.0)], 2: [(7, 7, 4.0)]}, cls=1.0)
    assert asks.best_threshold(y, examples, rows, logits) == (2.0 - 6.0, 1.0)
    tuned = problem(no_answer=True, no_answer_threshold=-4.0)
    assert tuned.metrics(y, examples, rows, logits)["F1"] == 1.0


def test_settings_make_the_problem_again():
    asks = problem(stride=3, unit="character")
    assert problem(**json.loads(json.dumps(processor_settings(asks)))) == asks


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"stride": 0}, "stride.*0"),
        ({"longest_answer": None}, "longest_answer.*None"),
        ({"n_best": True}, "n_best.*True"),
        ({"unit": "token"}, "word, character.*'token'"),
        ({"name": "spans"}, "settings of the task type.*'name'"),
    ],
)
def test_wrong_settings(settings, told):
    with pytest.raises(KerasBertError, match=told):
        problem(**settings)
