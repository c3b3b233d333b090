"""Arguments of public functions are checked by the rules of settings, with the messages of arguments."""

import pytest

from kerasbert.arguments import check_choice, check_flag, check_whole_number
from kerasbert.errors import KerasBertError


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: check_whole_number("3", "a size"), "expected a size of at least 1, received '3'; pass a whole number"),
        (
            lambda: check_whole_number(True, "a size"),
            "expected a size of at least 1, received True; pass a whole number",
        ),
        (lambda: check_whole_number(0, "a size", most=4), "expected a size from 1 to 4, received 0; raise it"),
        (lambda: check_whole_number(5, "a size", most=4), "expected a size from 1 to 4, received 5; lower it"),
        (lambda: check_flag(1, "a flag"), "expected a flag as True or False, received 1; pass one of them"),
        (lambda: check_choice("c", "a kind of", "ab"), "expected a kind of a, b, received 'c'; name one of these"),
        (lambda: check_choice(["a"], "a kind of", "ab"), "expected a kind of a, b, received list; name one of these"),
        (lambda: check_choice(None, "a kind of", "ab"), "expected a kind of a, b, received None; name one of these"),
    ],
)
def test_a_wrong_argument_is_an_error_of_one_line(check, message):
    with pytest.raises(KerasBertError) as error:
        check()
    assert str(error.value) == message
