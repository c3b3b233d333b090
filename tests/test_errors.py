from kerasbert.errors import MAX_LENGTH, KerasBertError


def test_a_long_message_keeps_its_start_and_its_end():
    message = str(KerasBertError("expected a label, received " + "a" * 100_000 + "; take another"))
    assert MAX_LENGTH - 3 <= len(message) <= MAX_LENGTH
    assert message.startswith("expected a label, received aaa")
    assert message.endswith("aaa; take another")
    start, rest = message.split(" ... (")
    left_out, end = rest.split(" characters left out) ... ")
    assert len(start) + int(left_out.replace(",", "")) + len(end) == 27 + 100_000 + 14


def test_a_short_message_stays_as_it_is():
    assert str(KerasBertError("é" * MAX_LENGTH)) == "é" * MAX_LENGTH
    assert KerasBertError("a", 1).args == ("a", 1)
    assert str(KerasBertError()) == ""


def test_a_message_is_one_line():
    assert str(KerasBertError("received a\n  b\u2028c\r\n; take another\n")) == "received a b c ; take another"


def test_every_message_can_be_printed_and_written():
    assert str(KerasBertError("received \ud800")).encode("utf-8") == b"received \\ud800"
