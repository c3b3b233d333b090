import pytest

from kerasbert.errors import KerasBertError
from kerasbert.text import vocabulary_size
from kerasbert.text.vocabulary_size import check_vocabulary_size


@pytest.fixture(autouse=True)
def nothing_noted(monkeypatch):
    monkeypatch.setattr(vocabulary_size, "_noted", set())


@pytest.mark.parametrize("rows", [30522, 30528, 30592, 30720])
def test_equal_and_padded_sizes_are_accepted(capsys, rows):
    check_vocabulary_size(30522, rows)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("size", "rows", "message"),
    [
        (500, 8000, "a: expected a vocabulary of 8000 tokens .*, received 500: it was cut short, .*vocab_size=500"),
        (28996, 30522, "received 28996: it was cut short, or belongs to another checkpoint"),
        (30522, 31546, "received 30522"),
        (30523, 30522, "a: expected a vocabulary of at most 30522 tokens .*, received 30523: .* another checkpoint"),
    ],
)
def test_vocabularies_of_another_checkpoint_raise(size, rows, message):
    with pytest.raises(KerasBertError, match=message):
        check_vocabulary_size(size, rows, "a")


def test_a_few_missing_tokens_are_noted_once(capsys):
    for _ in range(2):
        check_vocabulary_size(7333, 8000, "a")
    assert (
        capsys.readouterr().err
        == "note: a: 667 of the 8,000 rows of the token embeddings have no token in the vocabulary; is it complete?\n"
    )
    check_vocabulary_size(128000, 128100, "a")
    assert "100 of the 128,100 rows" in capsys.readouterr().err
