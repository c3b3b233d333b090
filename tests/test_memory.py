"""Page faults with and without `keep_memory`, in subprocesses because the setting cannot be undone."""

import json
import os
import subprocess
import sys

import pytest

from kerasbert import memory

BLOCK = 32 * 2**20
CHILD = f"""
import json, resource, sys
from kerasbert.memory import keep_memory, release

def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def resident(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

kept = keep_memory() if "keep" in sys.argv else None
b"x" * {BLOCK}
before = faults()
for _ in range(5):
    b"x" * {BLOCK}
count, held = faults() - before, resident()
release()
print(json.dumps([kept, count, held - resident()]))
"""
needs_glibc = pytest.mark.skipif(not memory._is_glibc(), reason="only glibc can be told to keep memory")


def run_child(*arguments, **environment):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    process = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], env={**inherited, **environment}, capture_output=True, text=True, check=True
    )  # fmt: skip
    return json.loads(process.stdout)


@needs_glibc
def test_kept_memory_causes_no_page_faults():
    _, default_faults, _ = run_child()
    kept, faults, returned = run_child("keep")
    assert kept
    assert default_faults >= 50  # five times 16 huge pages at least
    assert faults <= default_faults / 10
    assert returned >= 0.9 * BLOCK  # by `release`, in spite of the settings


@needs_glibc
@pytest.mark.parametrize(
    "environment",
    [{"MALLOC_ARENA_MAX": "4"}, {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=8"}],
    ids=["old", "tunables"],
)
def test_environment_settings_take_precedence(environment):
    kept, faults, _ = run_child("keep", **environment)
    assert not kept
    assert faults >= 50


@pytest.mark.parametrize("error", [AttributeError, ValueError, OSError])
def test_other_c_libraries_are_not_called(monkeypatch, error):
    def confstr(name):
        raise error(name)

    monkeypatch.setattr(memory.os, "confstr", confstr)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: pytest.fail("the C library was called"))
    assert not memory.keep_memory()
    memory.release()
