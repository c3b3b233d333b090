"""Programs of the tests of `android_demo/core` on the JVM, as `mvn -f android_demo/pom.xml -pl core test-compile` made them."""

import argparse
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.record import ROOT

CORE = ROOT / "android_demo" / "core" / "target"
_STDLIB = Path(".m2", "repository", "org", "jetbrains", "kotlin", "kotlin-stdlib")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options `--java` and `--stdlib` to a parser."""
    parser.add_argument("--java", default="java", metavar="COMMAND")
    parser.add_argument("--stdlib", type=Path, metavar="JAR", help="kotlin-stdlib (in Maven's repository)")


def command(main: str, words: Sequence[str], java: str = "java", stdlib: Path | None = None) -> list[str]:
    """Build the command line of a program.

    Args:
        main: The class with its `main`.
        words: Its arguments.
        java: The command of the JVM.
        stdlib: The jar of Kotlin's standard library; None for that in Maven's repository.

    Raises:
        SystemExit: When the program is not compiled.
    """
    classes = [CORE / "classes", CORE / "test-classes", stdlib or _find_stdlib()]
    if missing := [str(path) for path in classes if not path.exists()]:
        raise SystemExit(
            f"expected compiled Kotlin, received no {missing[0]}; run mvn -f android_demo/pom.xml -pl core test-compile"
        )
    options = ["-XX:+UseSerialGC", "-Xmx1g", "-Dfile.encoding=UTF-8", "-cp", os.pathsep.join(map(str, classes))]
    return [java, *options, main, *words]


def version(java: str) -> str:
    """Return the first line with which a JVM describes itself."""
    process = subprocess.run([java, "-version"], capture_output=True, text=True, check=True)
    return process.stderr.splitlines()[0]


def _find_stdlib() -> Path:
    found = re.search("<kotlin.version>(.*?)</kotlin.version>", (CORE.parents[1] / "pom.xml").read_text("utf-8"))
    number = found[1] if found else ""
    return Path.home() / _STDLIB / number / f"kotlin-stdlib-{number}.jar"
