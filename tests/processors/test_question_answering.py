"""Questions about texts, without a model."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kerasbert.errors import KerasBertError
from kerasbert.processors import Features, make_processor
from kerasbert.processors.features import TokenLists
from kerasbert.processors.question_answering import QuestionAnswering

SHORT = ("the film", "we saw a good book")
LONG = ("the film", "it was so very good and we saw it in the end of a song")


def question_answering(**settings):
    return make_processor("question_answering", settings=settings)


@pytest.fixture
def tokenizer(tiny):
    return tiny.tokenizer()


def raw_results(features, peaks, height=5.0, cls=0.0):
    """Logits that are 0 except at `peaks`: for some rows the positions of start and end, or several of them with heights."""
    found = []
    for row, length in enumerate(features.lengths):
        logits = {name: np.zeros((1, length), np.float32) for name in ("start_logits", "end_logits")}
        for first, last, *high in peaks.get(row, ()):
            logits["start_logits"][0, first] = logits["end_logits"][0, last] = (high or [height])[0]
        for values in logits.values():
            values[0, 0] = cls
        found.append(logits)
    return found


# -- examples


def test_all_forms_of_examples():
    pairs = [SHORT, LONG]
    dicts = [{"question": question, "context": context, "id": 1} for question, context in pairs]
    processor = question_answering()
    for x in (pairs, dicts, tuple(zip(*pairs, strict=True)), [list(pair) for pair in pairs], np.array(pairs).tolist()):
        assert processor.examples(x) == pairs
    assert processor.examples([]) == []


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
def test_wrong_examples_are_rejected(x, told):
    with pytest.raises(KerasBertError, match=told):
        question_answering().examples(x)


# -- features


def test_a_short_context_is_one_row_as_the_tokenizer_makes_it(tokenizer):
    features = question_answering().features([SHORT], tokenizer, 16)
    encoded = tokenizer.encode([SHORT[0]], [SHORT[1]], max_length=16)
    assert (features.tokens.input_ids, features.tokens.token_type_ids) == (encoded.input_ids, encoded.token_type_ids)
    assert (len(features), features.truncated) == (1, 0)


@pytest.mark.parametrize("trim", [True, False])
def test_two_separators_and_types_of_zero_as_in_roberta(trim):
    from kerasbert.text import ByteLevelBPE

    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "f", "i", "l", "m", "\u0120", "\u0120f"]
    bpe = ByteLevelBPE(tokens, merges=["\u0120 f"], trim_offsets=trim)
    processor, example = question_answering(), ("film", "film  film")
    features = processor.features([example], bpe, 20)
    encoded = bpe.encode(*[[text] for text in example], max_length=20)
    assert (features.tokens.input_ids, features.tokens.token_type_ids) == (encoded.input_ids, encoded.token_type_ids)
    assert features.alignment[0].begin == encoded.boundaries[0] == 7
    # f i l m, a space, a space with f, i l m: the space belongs to no answer, whatever token it is in.
    found = processor.encode_labels([(6, "film")], [example], features)
    assert (found["start_logits"].item(), found["end_logits"].item()) == (12, 15)
    (answer,) = processor.predictions([example], features, raw_results(features, {0: [(12, 15)]}))
    assert (answer["answer"], answer["start"]) == ("film", 6)


def test_a_long_context_has_windows_that_overlap(tokenizer):
    features = question_answering().features([SHORT, LONG], tokenizer, 12)
    assert features.example.tolist() == [0, 1, 1, 1] and max(features.lengths) == 12
    spans = [(window.first, window.end) for window in features.alignment[1:]]
    assert spans == [(0, 7), (4, 11), (8, 15)]  # room for 7, of which 3 overlap: no more than half
    assert [(w.first, w.end) for w in question_answering(stride=7).features([LONG], tokenizer, 12).alignment] == [
        (0, 7),
        (7, 14),
        (14, 15),
    ]
    assert len(question_answering(stride=99).features([LONG], tokenizer, 12)) == 3  # nothing is ever skipped
    words = LONG[1].split()
    for row, window in enumerate(features.alignment[1:], start=1):
        ids = features.tokens.input_ids[row][window.positions]
        assert [tokenizer.vocabulary[i] for i in ids] == words[window.first : window.end]


def test_a_long_question_leaves_half_of_the_row(tokenizer):
    features = question_answering().features([("film " * 20, "a book"), SHORT], tokenizer, 13)
    assert features.truncated == 1 and features.alignment[0].begin == 1 + 5 + 1


def test_rows_too_short_for_two_texts_are_rejected(tokenizer):
    with pytest.raises(KerasBertError, match="at least 5 tokens.*4"):
        question_answering().features([SHORT], tokenizer, 4)


def test_an_empty_context_has_a_row_and_no_answer(tokenizer):
    features = question_answering().features([("film", "")], tokenizer, 12)
    (answer,) = question_answering().predictions([("film", "")], features, raw_results(features, {}))
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
def test_all_forms_of_answers(tokenizer, y):
    features = question_answering().features([SHORT], tokenizer, 16)
    targets = question_answering().encode_labels([y], [SHORT], features)
    assert {name: values.tolist() for name, values in targets.items()} == {"start_logits": [7], "end_logits": [8]}
    assert all(values.dtype == np.int32 for values in targets.values())


@pytest.mark.parametrize("y", [None, [], {"text": [], "answer_start": []}, {"text": "", "answer_start": 0}])
def test_no_answer_points_to_cls(tokenizer, y):
    features = question_answering().features([SHORT], tokenizer, 16)
    targets = question_answering().encode_labels([y], [SHORT], features)
    assert [values.tolist() for values in targets.values()] == [[0], [0]]


def test_only_windows_with_the_whole_answer_point_to_it(tokenizer):
    features = question_answering().features([LONG], tokenizer, 12)
    start = LONG[1].index("and we")  # words 5 and 6: in the windows 0 to 7 and 4 to 11
    targets = question_answering().encode_labels([(start, "and we")], [LONG], features)
    assert [values.tolist() for values in targets.values()] == [[4 + 5, 4 + 1, 0], [4 + 6, 4 + 2, 0]]
    start = LONG[1].index("so very good and we saw")  # longer than what two windows share, and across both
    targets = question_answering().encode_labels([(start, "so very good and we saw")], [LONG], features)
    assert not any(values.any() for values in targets.values())


def test_an_answer_inside_a_word_takes_its_tokens(tokenizer):
    example = ("film", "the films end")  # film ##s
    features = question_answering().features([example], tokenizer, 16)
    processor = question_answering()
    for text, last in (("film", 4), ("films", 5), ("fil", 4)):
        targets = processor.encode_labels([(4, text)], [example], features)
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
def test_answers_that_are_not_in_the_context_are_rejected(tokenizer, value, told):
    examples = [SHORT, SHORT]
    features = question_answering().features(examples, tokenizer, 16)
    for call in (
        lambda y: question_answering().encode_labels(y, examples, features),
        lambda y: question_answering().check_labels(y, examples),
    ):
        with pytest.raises(KerasBertError, match=told):
            call([None, value])
    with pytest.raises(KerasBertError, match="1 for 2"):
        question_answering().encode_labels([None], examples, features)


def packed_rows():
    return Features(TokenLists([[2, 5, 3, 6, 3], [2, 5, 3, 3]], [[0] * 5, [0] * 4]), np.arange(2))


def test_labels_of_packed_rows_are_positions():
    features, processor = packed_rows(), question_answering()
    as_dict = {"start_logits": [3, 0], "end_logits": np.array([3, 0])}
    for y in (as_dict, [[3, 3], [0, 0]], np.array([[3, 3], [0, 0]])):
        targets = processor.encode_labels(y, features.example, features)
        assert [values.tolist() for values in targets.values()] == [[3, 0], [3, 0]]
    logits = raw_results(features, {0: [(3, 2)]})
    assert processor.metrics(as_dict, features.example, features, logits) == {
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
def test_wrong_positions_are_rejected(y, told):
    features = packed_rows()
    with pytest.raises(KerasBertError, match=told):
        question_answering().encode_labels(y, features.example, features)


# -- answers


def test_an_answer_is_a_span_of_the_context(tokenizer):
    example = ("the film?", "We saw  a GOOD, so lovely\tbook!")
    processor = question_answering(n_best=3)
    features = processor.features([example], tokenizer, 24)
    words = [tokenizer.vocabulary[i] for i in features.tokens.input_ids[0]]
    first, last = words.index("good"), words.index("book")
    (answer,) = processor.predictions([example], features, raw_results(features, {0: [(first, last)]}))
    assert answer["answer"] == "GOOD, so lovely\tbook" == example[1][answer["start"] : answer["end"]]
    assert answer["score"] == 10.0 and answer["no_answer_score"] == 0.0
    assert [each["score"] for each in answer["best"]] == [10.0, 5.0, 5.0]
    assert sum(each["probability"] for each in answer["best"]) == pytest.approx(1)
    assert answer["probability"] == answer["best"][0]["probability"] > 0.9
    json.dumps(answer)


def test_spans_are_within_the_context_and_not_too_long(tokenizer):
    features = question_answering().features([SHORT], tokenizer, 16)  # [CLS] the film [SEP] we saw a good book [SEP]
    peaks = {0: [(1, 2, 9.0), (8, 4, 3.0), (9, 9, 8.0)]}  # the question; backwards; [SEP]
    (answer,) = question_answering().predictions([SHORT], features, raw_results(features, peaks))
    assert answer["score"] == 3.0 and "book" not in answer["answer"].split()[:-1]
    assert all(each["start"] < each["end"] for each in answer["best"])
    assert len(answer["best"]) == 15  # all spans of five words
    (answer,) = question_answering(longest_answer=2).predictions(
        [SHORT], features, raw_results(features, {0: [(4, 8, 5.0), (6, 7, 2.0)]})
    )
    assert max(len(each["answer"].split()) for each in answer["best"]) == 2
    assert len(answer["best"]) == 9


def test_the_search_agrees_with_trying_all_spans(tokenizer):
    draw = np.random.default_rng(0)
    processor = question_answering(longest_answer=4, n_best=6, stride=3)
    features = processor.features([LONG], tokenizer, 12)
    logits = [{name: draw.normal(size=(1, n)) for name in processor.outputs} for n in features.lengths]
    expected = {}
    for window, reading in zip(features.alignment, logits, strict=True):
        for i in range(window.first, window.end):
            for j in range(i, min(i + 4, window.end)):
                places = np.array([i, j]) - window.first + window.begin
                score = reading["start_logits"][0, places[0]] + reading["end_logits"][0, places[1]]
                text = " ".join(LONG[1].split()[i : j + 1])
                expected[i, j] = max((score, text), expected.get((i, j), (-np.inf, "")))
    best = sorted(expected.values(), reverse=True)[:6]
    (answer,) = processor.predictions([LONG], features, logits)
    assert [each["answer"] for each in answer["best"]] == [text for _, text in best]
    assert [each["score"] for each in answer["best"]] == pytest.approx([score for score, _ in best])
    nothing = min(reading["start_logits"][0, 0] + reading["end_logits"][0, 0] for reading in logits)
    assert answer["no_answer_score"] == pytest.approx(nothing)


def test_windows_of_one_question_are_compared(tokenizer):
    examples = [LONG, SHORT]
    features = question_answering().features(examples, tokenizer, 12)
    peaks = {0: [(5, 5, 2.0)], 2: [(9, 10, 4.0)], 3: [(8, 8, 3.0)]}
    first, second = question_answering().predictions(examples, features, raw_results(features, peaks))
    assert (first["answer"], first["score"]) == ("a song", 8.0)
    assert (second["answer"], second["score"]) == ("book", 6.0)
    peaks = {0: [(9, 9, 3.0)], 1: [(5, 5, 1.0)]}  # the same word in two windows
    first = question_answering().predictions(examples, features, raw_results(features, peaks))[0]
    assert (first["answer"], first["score"]) == ("and", 6.0)


def test_no_answer_if_allowed_and_its_score_is_higher(tokenizer):
    features = question_answering().features([SHORT], tokenizer, 16)
    logits = raw_results(features, {0: [(8, 8, 3.0)]}, cls=4.0)
    assert question_answering().predictions([SHORT], features, logits)[0]["answer"] == "book"
    (answer,) = question_answering(no_answer=True).predictions([SHORT], features, logits)
    assert (answer["answer"], answer["start"], answer["end"], answer["score"]) == ("", None, None, 8.0)
    assert [each["answer"] for each in answer["best"][:2]] == ["", "book"]
    assert (
        question_answering(no_answer=True, no_answer_threshold=2.5).predictions([SHORT], features, logits)[0]["answer"]
        == "book"
    )


@pytest.mark.parametrize(
    ("half", "threshold", "answer"),
    [
        (4, 1.5, "book"), (4, 1, "book"), (4, 0.5, ""), (3, 0, "book"), (3, -1, "book"), (3, -1.5, ""), (-5, -16.75, "book"),
        (-5, -17.25, ""),
    ],
)  # fmt: skip
def test_the_threshold_is_a_margin_which_may_be_negative(tokenizer, half, threshold, answer):
    """The span has the score 7, no answer twice `half`. The cores in Kotlin and JavaScript have the same cases."""
    features = question_answering().features([SHORT], tokenizer, 16)
    logits = raw_results(features, {0: [(8, 8, 3.5)]}, cls=half)
    settings = {"no_answer": True, "no_answer_threshold": float(threshold)}
    assert question_answering(**settings).predictions([SHORT], features, logits)[0]["answer"] == answer
    always = question_answering(**{**settings, "no_answer": False})
    assert always.predictions([SHORT], features, logits)[0]["answer"] == "book"


def test_one_window_with_an_answer_is_enough(tokenizer):
    processor = question_answering(no_answer=True)
    features = processor.features([LONG], tokenizer, 12)
    logits = raw_results(features, {1: [(5, 5, 3.0)]}, cls=9.0)
    logits[1]["start_logits"][0, 0] = logits[1]["end_logits"][0, 0] = 0.0
    (answer,) = processor.predictions([LONG], features, logits)
    assert (answer["answer"], answer["no_answer_score"]) == ("and", 0.0)


def test_logits_that_are_not_finite_are_ignored(tokenizer):
    features = question_answering().features([SHORT], tokenizer, 16)
    logits = [{name: np.full((1, n), np.nan) for name in question_answering().outputs} for n in features.lengths]
    (answer,) = question_answering().predictions([SHORT], features, logits)
    assert answer["answer"] == "" and np.isfinite(answer["score"])


def test_padding_does_not_change_predictions(tokenizer):
    features = question_answering().features([SHORT], tokenizer, 16)
    outputs = {name: np.arange(16.0) for name in question_answering().outputs}
    assert {name: values.shape for name, values in question_answering().raw_result(outputs, features, 0).items()} == {
        "start_logits": (1, 10),
        "end_logits": (1, 10),
    }


def test_metrics_accept_all_right_answers(tokenizer):
    examples, y = [SHORT, LONG], [[(14, "book"), (9, "good book")], None]
    processor = question_answering(no_answer=True)
    features = processor.features(examples, tokenizer, 24)
    scores = processor.metrics(y, examples, features, raw_results(features, {0: [(7, 8)], 1: [(8, 8)]}))
    assert (scores["exact match"], scores["no-answer accuracy"], scores["answerable F1"]) == (0.5, 0.0, 1.0)
    assert next(iter(scores)) == "F1"


def test_labels_as_logits_give_the_same_answers(tokenizer):
    """Over windows, sub-words, capitals and punctuation."""
    context = "It was so lovely, very GOOD films! And we saw it: in the end, a warm song was bright."
    words = ("lovely, very", "GOOD films", "it: in", "a warm song", "bright")
    examples = [("it ?", context)] * len(words)
    y = [(context.index(text), text) for text in words]
    for length in (12, 16, 32):
        processor = question_answering()
        features = processor.features(examples, tokenizer, length)
        targets = processor.encode_labels(y, examples, features)
        peaks = {i: [(s, e)] for i, (s, e) in enumerate(zip(*targets.values(), strict=True)) if s}
        assert [a["answer"] for a in processor.predictions(examples, features, raw_results(features, peaks))] == list(
            words
        )


def test_the_best_threshold(tokenizer):
    examples, y = [SHORT, SHORT, SHORT], [(14, "book"), None, (9, "good")]
    processor = question_answering()
    features = processor.features(examples, tokenizer, 16)
    logits = raw_results(features, {0: [(8, 8, 3.0)], 1: [(8, 8, 2.0)], 2: [(7, 7, 4.0)]}, cls=1.0)
    assert processor.best_threshold(y, examples, features, logits) == (2.0 - 6.0, 1.0)
    tuned = question_answering(no_answer=True, no_answer_threshold=-4.0)
    assert tuned.metrics(y, examples, features, logits)["F1"] == 1.0


def test_settings_are_json_able_and_complete():
    processor = question_answering(stride=3, unit="character")
    assert question_answering(**json.loads(json.dumps(processor.settings()))) == processor


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"no_answer": "false"}, "no_answer as true or false, received 'false'"),
        ({"no_answer": None}, "no_answer as true or false, received None"),
        ({"no_answer_threshold": "1"}, "no_answer_threshold as a number from .*, received '1'"),
        ({"no_answer_threshold": float("nan")}, "no_answer_threshold from .*received nan"),
        ({"no_answer_threshold": True}, "no_answer_threshold as a number from .*, received True"),
        ({"no_answer_threshold": 2.0**21}, "from -1048576 to 1048576"),
    ],
)
def test_wrong_settings_of_no_answer_are_rejected(settings, told):
    with pytest.raises(KerasBertError, match=told):
        QuestionAnswering(**settings)


def test_a_threshold_of_questions_without_any_span_can_be_stored(tokenizer):
    examples = [("the film", ""), ("the film", "")]
    processor = question_answering(no_answer=True)
    features = processor.features(examples, tokenizer, 16)
    threshold, score = processor.best_threshold([None, None], examples, features, raw_results(features, {}))
    assert score == 1.0 and replace(processor, no_answer_threshold=threshold).no_answer_threshold == threshold


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
def test_wrong_settings_are_rejected(settings, told):
    with pytest.raises(KerasBertError, match=told):
        question_answering(**settings)
