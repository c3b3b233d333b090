"""Child processes of validators: how they end is told, and nothing of them is left."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kerasbert.export.runtime.process import run_command


def python(code: str, seconds: float = 30.0, **environment):
    return run_command([sys.executable, "-S", "-c", code], seconds, environment)


def test_success_with_the_whole_log():
    ended = python("import os, sys; print('out'); print(os.environ['MORE'], file=sys.stderr)", MORE="err")
    assert ended.ok and ended.status == 0
    assert set(ended.log.split()) == {"out", "err"}


@pytest.mark.parametrize(
    "code, expected",
    [
        ("import sys; print('before'); sys.exit('no such device')", "exit code 1: no such device"),
        (
            "raise ValueError('no op of version 12.\\nRegistration failed.')",
            "exit code 1: ValueError: no op of version 12. Registration",
        ),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV"),
        (
            "import os, signal; print('big'); os.kill(os.getpid(), signal.SIGKILL)",
            "killed by SIGKILL, often for memory",
        ),
    ],
)
def test_failure_reasons(code, expected):
    ended = python(code)
    assert not ended.ok and ended.failure_reason.startswith(expected)


def test_a_hanging_process_is_killed_with_its_children():
    """Its grandchild too, which would go on writing."""
    code = (
        "import subprocess, sys, time; print('hangs', flush=True)\n"
        "subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])\n"
        "time.sleep(60)"
    )
    start = time.monotonic()
    ended = python(code, seconds=1.0)
    assert time.monotonic() - start < 20
    assert ended.status is None and ended.failure_reason == "stopped after 1 s, the time limit: hangs"


def test_children_of_a_process_end_with_it(tmp_path):
    mark = tmp_path / "pid"
    code = (
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'], stdout=subprocess.DEVNULL, "
        f"stderr=subprocess.DEVNULL)\npathlib.Path({str(mark)!r}).write_text(str(child.pid))"
    )
    assert python(code).ok
    place = Path("/proc") / mark.read_text()
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    for _ in range(100):
        if not place.exists() or "Z" in (place / "stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    pytest.fail("the grandchild is still there")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv here")
def test_a_process_ends_when_its_parent_is_killed(tmp_path):
    mark = tmp_path / "pid"
    child = f"import os, pathlib, time; pathlib.Path({str(mark)!r}).write_text(str(os.getpid())); time.sleep(60)"
    code = (
        "import sys\nfrom kerasbert.export.runtime.process import run_command\n"
        f"run_command([sys.executable, '-S', '-c', {child!r}])"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)})
    for _ in range(400):
        if mark.exists() and mark.read_text():
            break
        time.sleep(0.05)
    place = Path("/proc") / mark.read_text()
    assert place.exists()
    parent.kill()
    parent.wait()
    for _ in range(100):
        if not place.exists() or "Z" in (place / "stat").read_text().split()[2]:
            return
        time.sleep(0.05)
    pytest.fail("the child is still there")


def test_a_missing_command_raises():
    with pytest.raises(OSError):
        run_command(["no-such-command-anywhere"])
