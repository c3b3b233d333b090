from kerasbert.errors import MAX_LENGTH, KerasBertError


def test_long_messages_are_shortened_in_the_middle():
    message = str(KerasBertError("expected a label, received " + "a" * 100_000 + "; take another"))
    assert MAX_LENGTH - 3 <= len(message) <= MAX_LENGTH
    assert message.startswith("expected a label, received aaa")
    assert message.endswith("aaa; take another")
    start, rest = message.split(" ... (")
    left_out, end = rest.split(" characters left out) ... ")
    assert len(start) + int(left_out.replace(",", "")) + len(end) == 27 + 100_000 + 14


def test_short_messages_are_unchanged():
    assert str(KerasBertError("é" * MAX_LENGTH)) == "é" * MAX_LENGTH
    assert KerasBertError("a", 1).args == ("a", 1)
    assert str(KerasBertError()) == ""


def test_messages_are_one_line():
    assert str(KerasBertError("received a\n  b\u2028c\r\n; take another\n")) == "received a b c ; take another"


def test_messages_are_encodable():
    assert str(KerasBertError("received \ud800")).encode("utf-8") == b"received \\ud800"
