"""What a progress bar says in which width, and that notes stand above it."""

import contextlib
import io
import sys

import pytest

from kerasbert.console import progress as module
from kerasbert.console.output import note
from kerasbert.console.progress import BAR, GAP, clock, progress


@pytest.fixture
def time(monkeypatch):
    """A clock that only the test moves."""

    class Time:
        now = 0.0

        def monotonic(self):
            return self.now

    stopped = Time()
    monkeypatch.setattr(module, "time", stopped)
    return stopped


@pytest.fixture
def training(time):
    """A training in its middle."""
    state = module._State("training")
    state.update(0, 126, (), None, "steps")
    time.now = 20  # the first step compiles
    state.update(1, 126, (), None, "steps")
    time.now = 80
    state.update(61, 126, ("loss 0.4321", "accuracy 0.8123", "1,234 examples/s"), None, "steps")
    return state


def shown(state, width):
    return GAP.join("=" * len(part) if part.startswith(BAR) else part for part in state.parts(width))


def test_parts_go_in_the_order_of_their_worth(training):
    lines = [
        "training  ================  61/126 steps  loss 0.4321  accuracy 0.8123  1,234 examples/s  1:20 elapsed  1:05 left",
        "training  ================  61/126 steps  loss 0.4321  accuracy 0.8123  1:20 elapsed  1:05 left",
        "training  ================  61/126 steps  loss 0.4321  accuracy 0.8123  1:05 left",
        "training  ========  61/126 steps  loss 0.4321  accuracy 0.8123  1:05 left",
        "training  61/126 steps  loss 0.4321  accuracy 0.8123  1:05 left",
        "training  61/126 steps  loss 0.4321  accuracy 0.8123",
        "training  61/126 steps  loss 0.4321",
        "training  61/126 steps",
        "training",
    ]
    assert [shown(training, len(line)) for line in lines] == lines
    assert [shown(training, len(line) - 1) for line in lines] == [*lines[1:], lines[-1]]


def test_parts_of_a_loss_go_before_the_bar(training):
    training.remarks = ("loss 1.1319", "accuracy 0.2133", "label_loss 2.2601", "soft_labels 0.0019", "36 examples/s")
    assert shown(training, 80) == "training  ========  61/126 steps  loss 1.1319  accuracy 0.2133  1:05 left"
    assert "label_loss 2.2601  1:05 left" in shown(training, 105)


def test_80_columns_hold_the_metric_and_the_time_that_is_left(training):
    assert "accuracy 0.8123  1:05 left" in shown(training, 80)


def test_a_long_name_leaves_room_for_the_count(training):
    training.what = "3/7 quantize: calibrate, then train on with 8-bit weights and activations"
    assert shown(training, 80) == "3/7 quantize: calibrate, then ...  61/126 steps  loss 0.4321  accuracy 0.8123"


def test_lines_say_it_all(training):
    told = "training: 61/126 steps, loss 0.4321, accuracy 0.8123, 1,234 examples/s, 1:20 elapsed, 1:05 left"
    assert training.line() == told


def test_a_stage_has_a_clock_of_its_own(training, time):
    training.update(0, 0, (), "scoring dev", "rows")
    assert training.line() == "scoring dev: 0:00 elapsed"
    time.now = 100
    training.update(250, 500, (), "scoring dev", "rows")
    assert training.line() == "scoring dev: 250/500 rows, 0:20 elapsed"
    time.now = 110
    training.update(500, 500, (), "scoring dev", "rows")
    training.update(61, 126, (), "training", "steps")
    assert training.line() == "training: 61/126 steps, 1:20 elapsed, 1:05 left"


def test_a_stage_that_comes_again_begins_anew(time):
    state = module._State("scoring dev")
    for time.now, done in ((0, 0), (10, 64), (20, 128)):
        state.update(done, 128, (), "scoring dev", "rows")
    state.update(5, 10, (), "training", "steps")
    for time.now, done in ((100, 0), (102, 64), (104, 96)):
        state.update(done, 128, (), "scoring dev", "rows")
    assert state.line() == "scoring dev: 96/128 rows, 0:04 elapsed, 0:02 left"


def test_a_resumed_training_is_estimated_by_its_own_steps(time):
    state = module._State("training")
    for time.now, done in ((0, 100), (30, 101), (40, 111)):
        state.update(done, 121, (), None, "steps")
    assert state.left == "0:10 left"


def test_clock():
    assert [clock(seconds) for seconds in (0, 65, 3599.7, 7207)] == ["0:00", "1:05", "1:00:00", "2:00:07"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_notes_stand_above_the_bar(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("training [bold]x[/bold] \x1b[31m") as bar:
        bar.update(1, 3, ("loss 0.5000",), unit="steps")
        bar._live.refresh()
        note("epoch 1 of 1: \x1b[31mloss\x1b[0m [red]0.5[/red]")
        bar.update(3, 3, ("loss 0.2500",), unit="steps")
        bar._live.refresh()
    note("after")
    text = terminal.getvalue()
    assert "epoch 1 of 1: \\x1b[31mloss\\x1b[0m [red]0.5[/red]\n" in text
    assert "training [bold]x[/bold] \\x1b[31m" in text and "loss 0.2500" in text
    before = text.partition("epoch 1")[0]
    assert before.endswith("\r\x1b[2K")  # the bar's line was cleared
    assert text.endswith("after\n")


def test_anything_but_a_terminal_gets_lines(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_LINE", 0.01)
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream), progress("converting") as lines:
        lines._thread.join(0.1)
    assert stream.getvalue().startswith("converting: 0:00 elapsed\n")
    assert "\x1b" not in stream.getvalue()
