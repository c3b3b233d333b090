import pytest

import kerasbert as kb
from kerasbert.files.known_keys import KnownKeys

KEYS = KnownKeys(
    used=frozenset({"pooling_mode"}),
    harmless=frozenset({"version"}),
    only={"include_prompt": (True, None), "size": (1,)},
    refused={"crf": "a CRF is not supported"},
)


def test_known_keys_pass_without_a_note(capsys):
    KEYS.check({"pooling_mode": "cls", "version": 3, "include_prompt": True, "size": 1}, "config.json")
    assert capsys.readouterr().err == ""


def test_unknown_keys_are_named_in_a_note(capsys):
    KEYS.check(dict.fromkeys(["a", "b\x1b", "c", "d"]), "known_keys_note.json")
    assert capsys.readouterr().err == "note: known_keys_note.json: ignored 4 unknown keys (a, 'b\\x1b', c and 1 more)\n"


def test_unknown_keys_are_errors_under_strict():
    with (
        kb.strict(),
        pytest.raises(kb.KerasBertError, match=r"config.json: expected known keys only, received 1 .*\(a\)"),
    ):
        KEYS.check({"a": 1}, "config.json")


@pytest.mark.parametrize("value", [False, 1, "true"])
def test_values_that_change_results_are_errors(value):
    with pytest.raises(
        kb.KerasBertError, match="expected include_prompt True or None, the only supported values, received"
    ):
        KEYS.check({"include_prompt": value}, "config.json")


def test_a_boolean_does_not_pass_for_a_number():
    with pytest.raises(kb.KerasBertError, match="expected size 1, the only supported value, received True"):
        KEYS.check({"size": True}, "config.json")


def test_refused_keys_are_errors_with_the_reason():
    with pytest.raises(kb.KerasBertError, match="expected no crf, received True; a CRF is not supported"):
        KEYS.check({"crf": True}, "config.json")
