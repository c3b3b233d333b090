"""Freed memory stays with a process that asked for it; measured in processes of their own, since it cannot be undone."""

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
found, held = faults() - before, resident()
release()
print(json.dumps([kept, found, held - resident()]))
"""
needs_glibc = pytest.mark.skipif(not memory._glibc(), reason="only glibc is asked to keep memory")


def child(*arguments, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *arguments], env={**clean, **environment}, capture_output=True, text=True, check=True
    )  # fmt: skip
    return json.loads(done.stdout)


@needs_glibc
def test_kept_memory_is_not_asked_for_again():
    _, faults_of_glibc, _ = child()
    kept, faults, returned = child("keep")
    assert kept
    assert faults_of_glibc >= 50  # five times 16 huge pages at least
    assert faults <= faults_of_glibc / 10
    assert returned >= 0.9 * BLOCK  # by `release` all the same


@needs_glibc
@pytest.mark.parametrize(
    "environment",
    [{"MALLOC_ARENA_MAX": "4"}, {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=8"}],
    ids=["old", "tunables"],
)
def test_settings_of_the_environment_win(environment):
    kept, faults, _ = child("keep", **environment)
    assert not kept
    assert faults >= 50


@pytest.mark.parametrize("error", [AttributeError, ValueError, OSError])
def test_other_c_libraries_are_left_alone(monkeypatch, error):
    def confstr(name):
        raise error(name)

    monkeypatch.setattr(memory.os, "confstr", confstr)
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: pytest.fail("the C library was called"))
    assert not memory.keep_memory()
    memory.release()
