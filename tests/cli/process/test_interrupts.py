"""Interrupts in native code: cleanups run once, however many signals arrive."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
from kerasbert.cli.process.interrupts import handle_interrupts, native_code

lock = threading.Lock()

def close():
    with lock:
        os.kill(os.getpid(), signal.SIGTERM)  # as `timeout` does, which signals a process and its group
        time.sleep(0.05)  # the handler of a second signal would run here

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have set it to ignore
with handle_interrupts(lambda: "interrupted"), native_code(close):
    os.kill(os.getpid(), signal.{first})
    time.sleep(30)
"""


@pytest.mark.parametrize("first", ["SIGINT", "SIGTERM"])
def test_a_second_signal_does_not_enter_the_cleanups_again(first):
    program = PROGRAM.replace("{first}", first)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
