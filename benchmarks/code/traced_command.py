"""Runs one command line in this process and records which functions of kerasbert are called, and which of them get the data.

    python benchmarks/code/traced_command.py facts.json MARK MARK_ID -- train --model FOLDER ...

A child process of `walk`. It imports `kerasbert` from its environment, so that another checkout can be measured, and nothing else of
this repository.
"""

import argparse
import inspect
import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

_DEPTH, _FIRST = 4, 3  # of containers, and elements of each


class CallTrace:
    """A profile function that records calls between functions of kerasbert.

    Args:
        mark: Words with which every row of the data starts.
        mark_id: The token id of the first.
    """

    def __init__(self, mark: str, mark_id: int):
        self.mark, self.mark_id = mark, mark_id
        self.calls: dict[tuple[CodeType | None, CodeType], dict[str, Any]] = {}
        self.fitting = False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        self.fitting |= code.co_name == "train_step"
        if not _is_product(frame) or not code.co_flags & inspect.CO_OPTIMIZED:
            return
        caller = _caller(frame)
        call = self.calls.get((caller and caller.f_code, code))
        if call is None:
            if _imports(frame):
                return
            call = {"from": caller and _name(caller), "to": _name(frame), "before_fit": not self.fitting, "data": None}
            self.calls[caller and caller.f_code, code] = call
        if call["data"] is None and any(self._holds_data(value) for value in frame.f_locals.values()):
            call["data"] = "fit" if self.fitting else "before fit"
            call["turn"] = sum(each["data"] is not None for each in self.calls.values())

    def _holds_data(self, value: object, depth: int = _DEPTH) -> bool:
        if isinstance(value, str | bytes):
            return self.mark in value if isinstance(value, str) else self.mark.encode() in value
        if getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u") and hasattr(value, "tolist"):
            return bool((value == self.mark_id).any())  # type: ignore
        if depth == 0:
            return False
        if isinstance(value, list | tuple):
            ids = len(value) > 1 and value[1] == self.mark_id if _are_numbers(value) else False
            return ids or any(self._holds_data(each, depth - 1) for each in value[:_FIRST])
        if isinstance(value, Mapping):
            return any(self._holds_data(each, depth - 1) for each in list(value.values())[:20])
        if type(value).__module__.startswith("kerasbert") and not hasattr(value, "trainable_weights"):
            fields = dict(getattr(value, "__dict__", {}))
            return any(self._holds_data(each, depth - 1) for each in fields.values())
        return False


def _are_numbers(values: list | tuple) -> bool:
    return bool(values) and all(type(value) is int for value in values)


def _is_product(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").startswith("kerasbert") and frame.f_code.co_filename.endswith(".py")


def _caller(frame: FrameType) -> FrameType | None:
    """The nearest function of kerasbert on the stack."""
    caller = frame.f_back
    while caller is not None and not _is_product(caller):
        caller = caller.f_back
    return caller


def _imports(frame: FrameType) -> bool:
    """Whether a module of kerasbert that is being imported called the function."""
    caller = _caller(frame)
    while caller is not None:
        if not caller.f_code.co_flags & inspect.CO_OPTIMIZED:
            return True
        caller = _caller(caller)
    return False


def _name(frame: FrameType) -> str:
    """The module and the qualified name; a nested function counts as the one around it."""
    return f"{frame.f_globals['__name__']}:{frame.f_code.co_qualname.partition('.<locals>')[0]}"


def main() -> None:
    """Run the command line and write the calls."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", type=Path, help="result file")
    parser.add_argument("mark", help="words with which every row of the data starts")
    parser.add_argument("mark_id", type=int, help="token id of the first")
    parser.add_argument("command", nargs="+", help="the command line")
    arguments = parser.parse_args()
    from kerasbert.cli import main as run

    trace = CallTrace(arguments.mark, arguments.mark_id)
    threading.setprofile(trace)
    sys.setprofile(trace)
    code = run(arguments.command)
    sys.setprofile(None)
    threading.setprofile(None)
    arguments.facts.write_text(json.dumps({"exit_code": code, "calls": list(trace.calls.values())}), "utf-8")


if __name__ == "__main__":
    main()
