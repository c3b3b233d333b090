"""Every target of the Makefile is in its help, and CI runs every target that checks something."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
NO_CHECKS = {"help", "install", "quickstart", "bench", "clean"}


def phony() -> set[str]:
    return set(re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[1].split())


def test_every_target_is_in_the_help():
    assert set(re.findall(r'^\t@echo "make ([a-z-]+) ', MAKEFILE, re.MULTILINE)) == phony() - {"help"}


def test_every_target_has_a_rule():
    assert phony() <= set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_ci_runs_every_check():
    ran = re.findall(r"\bmake ([a-z-]+)", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert set(ran) == phony() - NO_CHECKS


def test_every_check_is_on_the_page_for_contributors():
    page = (ROOT / "docs" / "contribute" / "index.md").read_text("utf-8")
    assert set(re.findall(r"^\| `make ([a-z-]+)` \|", page, re.MULTILINE)) == phony() - NO_CHECKS


def test_shares_run_every_test_once():
    files = [str(path) for path in sorted((ROOT / "tests").glob("test_[a-m]*.py"))]  # they import no TensorFlow
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    whole, *shares = (_collected([*command, *share]) for share in ([], *(["--share", f"{k}/2"] for k in (1, 2))))
    assert sorted(test for share in shares for test in share) == sorted(whole)
    assert all(shares), "no share is empty"
    places = [{test.partition("::")[0] for test in share} for share in shares]
    assert not places[0] & places[1], "tests of a file stay together"


def _collected(command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]
