"""The parts of a progress bar by width, its clocks, and notes above it."""

import contextlib
import io
import sys

import pytest

from kerasbert.console import progress as module
from kerasbert.console.output import note
from kerasbert.console.progress import BAR, GAP, format_duration, progress


@pytest.fixture
def time(monkeypatch):
    """A clock that only the test advances."""

    class Time:
        now = 0.0

        def monotonic(self):
            return self.now

    stopped = Time()
    monkeypatch.setattr(module, "time", stopped)
    return stopped


@pytest.fixture
def training(time):
    """A training that is half done."""
    state = module._State("training")
    state.update(0, 126, (), None, "steps")
    time.now = 20  # the first step compiles
    state.update(1, 126, (), None, "steps")
    time.now = 80
    state.update(61, 126, ("loss 0.4321", "accuracy 0.8123", "1,234 examples/s"), None, "steps")
    return state


def displayed_line(state, width):
    return GAP.join("=" * len(part) if part.startswith(BAR) else part for part in state.parts(width))


def test_parts_are_dropped_by_importance(training):
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
    assert [displayed_line(training, len(line)) for line in lines] == lines
    assert [displayed_line(training, len(line) - 1) for line in lines] == [*lines[1:], lines[-1]]


def test_minor_figures_are_dropped_before_the_bar(training):
    training.figures = ("loss 1.1319", "accuracy 0.2133", "label_loss 2.2601", "soft_labels 0.0019", "36 examples/s")
    assert displayed_line(training, 80) == "training  ========  61/126 steps  loss 1.1319  accuracy 0.2133  1:05 left"
    assert "label_loss 2.2601  1:05 left" in displayed_line(training, 105)


def test_80_columns_hold_the_metric_and_the_remaining_time(training):
    assert "accuracy 0.8123  1:05 left" in displayed_line(training, 80)


def test_long_names_are_shortened(training):
    training.stage = "3/7 quantize: calibrate, then train on with 8-bit weights and activations"
    assert (
        displayed_line(training, 80) == "3/7 quantize: calibrate, then ...  61/126 steps  loss 0.4321  accuracy 0.8123"
    )


def test_line_holds_all_parts(training):
    line = "training: 61/126 steps, loss 0.4321, accuracy 0.8123, 1,234 examples/s, 1:20 elapsed, 1:05 left"
    assert training.line() == line


def test_stages_have_separate_clocks(training, time):
    training.update(0, 0, (), "scoring dev", "rows")
    assert training.line() == "scoring dev: 0:00 elapsed"
    time.now = 100
    training.update(250, 500, (), "scoring dev", "rows")
    assert training.line() == "scoring dev: 250/500 rows, 0:20 elapsed"
    time.now = 110
    training.update(500, 500, (), "scoring dev", "rows")
    training.update(61, 126, (), "training", "steps")
    assert training.line() == "training: 61/126 steps, 1:20 elapsed, 1:05 left"


def test_repeated_stage_restarts_its_clock(time):
    state = module._State("scoring dev")
    for time.now, done in ((0, 0), (10, 64), (20, 128)):
        state.update(done, 128, (), "scoring dev", "rows")
    state.update(5, 10, (), "training", "steps")
    for time.now, done in ((100, 0), (102, 64), (104, 96)):
        state.update(done, 128, (), "scoring dev", "rows")
    assert state.line() == "scoring dev: 96/128 rows, 0:04 elapsed, 0:02 left"


def test_resumed_training_is_estimated_by_its_own_steps(time):
    state = module._State("training")
    for time.now, done in ((0, 100), (30, 101), (40, 111)):
        state.update(done, 121, (), None, "steps")
    assert state.left == "0:10 left"


def test_format_duration():
    assert [format_duration(seconds) for seconds in (0, 65, 3599.7, 7207)] == ["0:00", "1:05", "1:00:00", "2:00:07"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_notes_appear_above_the_bar(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("training [bold]x[/bold] \x1b[31m") as bar:
        bar.begin("training [bold]x[/bold] \x1b[31m", 3, "steps")
        bar.advance(1, figures="loss 0.5000")
        bar._live.refresh()
        note("epoch 1 of 1: \x1b[31mloss\x1b[0m [red]0.5[/red]")
        bar.advance(3, 3, ("loss 0.2500",))
        bar._live.refresh()
    note("after")
    text = terminal.getvalue()
    assert "epoch 1 of 1: \\x1b[31mloss\\x1b[0m [red]0.5[/red]\n" in text
    assert "training [bold]x[/bold] \\x1b[31m" in text and "loss 0.2500" in text
    before = text.partition("epoch 1")[0]
    assert before.endswith("\r\x1b[2K")  # the bar's line was cleared
    assert text.endswith("after\n")


def test_streams_without_terminal_get_lines(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_LINE_SECONDS", 0.01)
    stream = io.StringIO()
    with contextlib.redirect_stderr(stream), progress("converting") as lines:
        lines._thread.join(0.1)
    assert stream.getvalue().startswith("converting: 0:00 elapsed\n")
    assert "\x1b" not in stream.getvalue()
