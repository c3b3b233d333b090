"""Rare labels are described with the common label that they resemble."""

from kerasbert.data.rare_labels import rare_labels


def test_a_typing_error_is_described():
    labels = ["Sports"] * 40 + ["World"] * 12 + ["Sport", "world", "world", "Arts"]
    assert rare_labels(labels) == [
        "the label 'Arts' is seen once",
        "the label 'Sport' is seen once; is it 'Sports', which 40 rows have?",
        "the label 'world' is seen twice; is it 'World', which 12 rows have?",
    ]


def test_small_data_and_long_tails_of_labels():
    assert rare_labels(["a", "a", "b", "b", "c"]) == [] == rare_labels([])
    told = rare_labels(["often"] * 20 + [f"{n:02}" for n in range(30)])
    assert len(told) == 6 and told[-1] == "25 more labels are seen once or twice"


def test_labels_that_differ_in_case_or_white_space_are_described():
    assert rare_labels(["pos"] * 20 + ["Pos"] * 9 + ["neg "] * 5 + ["neg"] * 8) == [
        "labels that differ in case or white space only are different labels: 'Pos', 'pos'; 'neg', 'neg '"
    ]
    assert rare_labels(["pos", "Pos"]) == [
        "labels that differ in case or white space only are different labels: 'Pos', 'pos'"
    ]
