import shutil
import signal
import subprocess
import sys
import threading

import pytest

from kerasbert.children import expect_children
from kerasbert.errors import KerasBertError


@pytest.fixture
def ignored():
    if not hasattr(signal, "SIGCHLD"):
        pytest.skip("the system has no SIGCHLD")
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGCHLD, before)


def exit_code():
    return subprocess.run([sys.executable, "-S", "-c", "raise SystemExit(3)"], check=False).returncode


def test_exit_codes_of_children_are_known_although_sigchld_is_ignored(ignored):
    assert exit_code() == 0  # the system discards the code
    expect_children()
    assert exit_code() == 3


def test_another_thread_is_told_to_set_sigchld(ignored):
    errors = []

    def run():
        try:
            expect_children()
        except KerasBertError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(errors) == 1 and "received one that ignores SIGCHLD; call signal.signal" in errors[0]


PARENT = """
import subprocess, sys
from kerasbert.children import end_with_this_process
subprocess.run(end_with_this_process([sys.executable, "-S", "-c", "print('started', flush=True); import time; time.sleep(60)"]))
"""


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs util-linux")
def test_a_child_ends_with_a_parent_that_was_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout.readline() == "started\n"
        parent.kill()
        assert parent.stdout.read() == ""  # ends when the last writer of the pipe, the child, is gone
