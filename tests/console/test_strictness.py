import threading

import pytest

import kerasbert as kb
from kerasbert.console.strictness import is_strict, unknown


def test_unknown_setting_is_a_note_once(capsys):
    for _ in range(2):
        unknown("test.json", "known keys only", "1 unknown key (rotary_base)")
    assert capsys.readouterr().err == "note: test.json: ignored 1 unknown key (rotary_base)\n"


def test_unknown_setting_is_an_error_under_strict(capsys):
    with kb.strict(), pytest.raises(kb.KerasBertError) as error:
        unknown("test.json", "known keys only", "1 unknown key (strict_only)")
    assert str(error.value) == (
        "test.json: expected known keys only, received 1 unknown key (strict_only); remove it, or leave strict out to have it ignored"
    )
    assert capsys.readouterr().err == ""


def test_strict_ends_with_its_block_also_after_an_error():
    with pytest.raises(ZeroDivisionError), kb.strict():
        assert is_strict()
        with kb.strict(False):
            assert not is_strict()
        raise ZeroDivisionError
    assert not is_strict()


def test_strict_of_one_thread_does_not_change_another():
    seen = []
    with kb.strict():
        thread = threading.Thread(target=lambda: seen.append(is_strict()))
        thread.start()
        thread.join()
    assert seen == [False]


@pytest.mark.parametrize("enabled", [None, 1, "yes"])
def test_strict_refuses_other_types(enabled):
    with pytest.raises(kb.KerasBertError, match="expected strict as True or False"), kb.strict(enabled):
        pass
