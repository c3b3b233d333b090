"""Crashes and signals become a message of one line, and leave no files."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kerasbert.cli.process.supervision import _clear
from kerasbert.files.own_files import SITE, marked_json
from kerasbert.files.partials import NEW, OLD, hidden_prefix
from kerasbert.files.site_folder import SITE_FILE

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
from kerasbert.cli.process.claims import claims
from kerasbert.cli.outputs.destinations import check_out_folder
from kerasbert.cli.process.interrupts import handle_interrupts, native_code
from kerasbert.cli.process.quiet import quiet_libraries
from kerasbert.cli.process.supervision import supervise
from kerasbert.files.cleanup import collect_temporary_files, temporary_folder

def run(log):
    with quiet_libraries(False, log), claims(None) as claimed, collect_temporary_files(), temporary_folder("graph"):
        check_out_folder(Path(sys.argv[2]))
        with handle_interrupts(claimed.interruption_message), native_code():
            what = sys.argv[1]
            if what == "exit":
                return 3
            if what == "memory":
                os.write(2, b"terminate called after throwing an instance of 'std::bad_alloc'\\n")
                os.abort()
            if what == "wait":
                print("waits", flush=True)
                time.sleep(60)
            os.kill(os.getpid(), int(what))

sys.exit(supervise(run))
"""


@pytest.fixture
def supervised(tmp_path):
    (tmp_path / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    yield lambda what: subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(what), str(tmp_path / "out")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment,
    )  # fmt: skip
    assert [path.name for path in tmp_path.rglob("*")] == ["tmp"]


@pytest.mark.parametrize(
    ("what", "code", "message"),
    [
        ("exit", 3, ""),
        ("memory", 1, "error: there is not enough memory for this command; it used 0.0 GB: free some, or use a smaller model"),
        (int(signal.SIGABRT), 1, "error: native code aborted (SIGABRT), often because memory ran out; it used 0.0 GB"),
        (int(signal.SIGSEGV), 1, "error: native code crashed (SIGSEGV); --debug shows its output"),
        (int(signal.SIGKILL), 1, "error: the command was killed (SIGKILL), often because memory ran out"),
    ],
)  # fmt: skip
def test_terminations_are_reported(supervised, what, code, message):
    with supervised(what) as process:
        out, messages = process.communicate(timeout=60)
    assert process.returncode == code and out == ""
    assert messages.count("\n") == (1 if message else 0) and messages.startswith(message)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_command(supervised, tmp_path, number):
    # A shell's background job ignores SIGINT, and one under nohup SIGHUP.
    before = {each: signal.signal(each, signal.SIG_DFL) for each in (signal.SIGINT, signal.SIGHUP)}
    try:
        process = supervised("wait")
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    with process:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(number)
        _, messages = process.communicate(timeout=60)
    assert process.returncode == 130 and messages == f"interrupted; nothing was written to {tmp_path / 'out'}\n"


def test_a_killed_supervisor_kills_the_command(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "wait", str(tmp_path / "out")], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "waits\n"
        process.kill()
        assert process.stdout.read() == ""  # no writer is left
    assert len(list(tmp_path.iterdir())) == 3
    again = [sys.executable, "-c", SCRIPT, "exit", str(tmp_path / "out")]
    assert subprocess.run(again, env={**os.environ, "TMPDIR": str(tmp_path)}).returncode == 3
    assert not list(Path(tmp_path).iterdir())  # the next command has removed its files


def test_a_signal_while_a_library_has_replaced_stderr(tmp_path):
    script = SCRIPT.replace(
        "time.sleep(60)", "sys.stderr = __import__('io').StringIO(); os.kill(os.getpid(), signal.SIGTERM)"
    )
    done = subprocess.run([sys.executable, "-c", script, "wait", str(tmp_path / "out")], capture_output=True, text=True)
    assert done.returncode == 130 and done.stderr == f"interrupted; nothing was written to {tmp_path / 'out'}\n"


@pytest.mark.parametrize("ending", [NEW, OLD])
def test_what_a_killed_command_left_of_a_site_is_removed(tmp_path, ending):
    site, other = tmp_path / "site", tmp_path / f"{hidden_prefix('site')}abcdefgh{ending}"
    for folder, name in ((site, "new.js"), (other, "old.js")):
        folder.mkdir()
        (folder / name).write_text("")
        listed = {name: {"bytes": 0, "sha256": ""}}
        (folder / SITE_FILE).write_text(marked_json(SITE, {"files": listed}))
    (other / "notes.txt").write_text("mine")
    assert _clear([site]) == ""
    assert not other.exists() and sorted(path.name for path in site.iterdir()) == [SITE_FILE, "new.js", "notes.txt"]


def test_a_file_of_others_with_the_name_of_a_sites_list_is_kept(tmp_path):
    model, other = tmp_path / "model", tmp_path / f"{hidden_prefix('model')}abcdefgh{OLD}"
    for folder in (model, other):
        folder.mkdir()
        (folder / "kerasbert.json").write_text("{}")
    (other / SITE_FILE).write_text("mine")
    _clear([model])
    assert (model / SITE_FILE).read_text() == "mine" and not other.exists()


IGNORE_SIGCHLD = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.mark.parametrize(("what", "code"), [("exit", 3), (int(signal.SIGKILL), 1)])
def test_a_command_ends_where_its_parent_ignores_sigchld(tmp_path, what, code):
    command = [sys.executable, "-c", IGNORE_SIGCHLD, "-c", SCRIPT, str(what), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == code
    assert done.stderr == "" if code == 3 else done.stderr.startswith("error: the command was killed (SIGKILL)")


@pytest.mark.parametrize(
    ("closed", "out", "err"),
    [
        (">&-", "", "note: standard output is closed, so the result is not printed\n"),
        ("2>&-", "small-en", ""),
        ("<&-", "small-en", ""),
        ("<&- >&- 2>&-", "", ""),
    ],
)
@pytest.mark.long_cases
def test_a_command_works_with_closed_streams(closed, out, err):
    line = f"exec $PROGRAM -m kerasbert zoo list {closed}"
    environment = {**os.environ, "PROGRAM": sys.executable}
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0 and done.stderr == err
    assert out in done.stdout if out else done.stdout == ""
