"""Runs the commands and the Python code of a page, in the order in which they stand, in one folder.

A block with a title is also written as the file of that name.

    python tests/docs/run_page.py docs/guides/train.md FOLDER

Blocks of `sh` run in bash and end with the first command that fails. Blocks of `python` share their names. A block after a line
`<!-- not run: reason -->` is left out. `KERASBERT_PROGRAMS` may name a folder with another program `kerasbert`, which is then run.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(
    r"^(?P<indent> *)(?:<!-- not run: (?P<reason>[^>]+) -->\n+ *)?"
    r'```(?P<language>sh|python)(?: title="(?P<title>[^"\n]+)")?(?: [^\n]*)?\n(?P<code>.*?)^ *```$',
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block of code.

    Attributes:
        language: `sh` or `python`.
        code: The code.
        reason: Why it is not run; None if it is.
        line: Its first line in the page.
        title: The file that it is, beside being run; None for none.
    """

    language: str
    code: str
    reason: str | None
    line: int
    title: str | None = None


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page."""
    text = page.read_text("utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        code = re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        found.append(
            Block(
                match["language"], code, match["reason"], text.count("\n", 0, match.start("code")) + 1, match["title"]
            )
        )
    return found


def run(page: Path) -> None:
    """Run the blocks of a page in the working directory."""
    programs = os.pathsep.join(
        [*filter(None, [os.environ.get("KERASBERT_PROGRAMS")]), str(Path(sys.executable).parent)]
    )
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "COLUMNS": "80"}
    names: dict = {"__name__": "__main__"}
    for block in blocks(page):
        if block.reason:
            continue
        print(f"--- {page.name}, line {block.line}", flush=True)
        start = time.monotonic()
        if block.title:
            Path(block.title).write_text(block.code, "utf-8")
        if block.language == "sh":
            subprocess.run(["bash", "-e", "-o", "pipefail", "-c", block.code], check=True, env=environment)
        else:
            exec(compile("\n" * (block.line - 1) + block.code, str(page), "exec"), names)
        print(f"--- {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    page = Path(sys.argv[1]).absolute()
    os.chdir(sys.argv[2])
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")  # as many pages as cores run at a time
    sys.path.insert(0, "")
    run(page)
