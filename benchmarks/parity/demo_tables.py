"""Writes the tables that `android_demo/core` and `web_demo/core` share with Python, as Kotlin and as JavaScript.

    python -m benchmarks.parity.demo_tables            # after a change of a table
    python -m benchmarks.parity.demo_tables --check    # names the files that differ, and exits with 1

The sources are the tables of `kerasbert.export.tflite` (operators, types of tensors, the schema), those of `kerasbert.data.entities`
(tags), the processors (types of tasks), `kerasbert.text` (names of special tokens), Python's white space, and for Unicode the engine of
the tokenizers; see `unicode_tables`.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.common.record import ROOT
from benchmarks.parity import unicode_tables
from kerasbert.data import entities
from kerasbert.export.tflite import graph_faults, graph_reader, verifier
from kerasbert.export.tflite.model import schema
from kerasbert.files.atomic import atomic_file
from kerasbert.processors.base import Processor
from kerasbert.processors.registry import PROCESSORS, processor_class
from kerasbert.text import client_rules
from kerasbert.text.client_wordpiece import CLIENT_ROLES
from kerasbert.text.tokenizer_files import BERT_SPECIAL_TOKENS

KOTLIN_ROOT = ROOT / "android_demo" / "core" / "src" / "main" / "kotlin" / "kerasbert" / "core"
WEB_ROOT = ROOT / "web_demo" / "core"
FIRST_LINE = "// Written by benchmarks/parity/demo_tables.py: change the tables of Python, and run it again.\n"
NOT_IN_DEMOS = ("joint",)  # files of several heads, which the demos refuse
_LINE = 140
# The kind of a setting by the type of its value.
_KINDS: dict[Any, str] = {
    int: "COUNT",
    int | None: "COUNT_OR_NULL",
    float: "NUMBER",
    float | None: "NUMBER",
    bool: "FLAG",
    bool | None: "FLAG",
    str: "TEXT",
    dict | None: "PROMPTS",
    str | None: "TEXT",  # left out of a file where it is None
}
_KINDS_BY_NAME = {"default_prompt_name": "PROMPT_NAME"}


@dataclass(frozen=True)
class Table:
    """A table of a file: a set, a map, or a map of maps.

    Attributes:
        name: The name of the constant.
        description: One sentence.
        entries: The values of the set, or the keys and values of the map.
    """

    name: str
    description: str
    entries: Iterable[Any] | Mapping[Any, Any]


class Char(str):
    """A text of one character, which Kotlin has a type for."""


@dataclass(frozen=True)
class Call:
    """A value that the file's language makes: by a constructor in Kotlin, and by a function or as an object in JavaScript."""

    kotlin: str
    javascript: str


def main() -> int:
    """Write the files, or compare them with what is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    check = parser.parse_args().check
    different = {path: source for path, source in sources().items() if _content(path) != source}
    for path, source in different.items():
        if not check:
            with atomic_file(path) as partial:
                Path(partial).write_text(source, "utf-8")
        print(f"{path.relative_to(ROOT)} {'differs: run this command without --check' if check else 'is written'}")
    return int(check and bool(different))


def sources() -> dict[Path, str]:
    """Return the content of every generated file."""
    return {**table_sources(), **unicode_sources(unicode_tables.make_tables())}


def unicode_sources(tables: Mapping[str, str]) -> dict[Path, str]:
    """Return the files with the Unicode tables."""
    return {
        KOTLIN_ROOT / "text" / "UnicodeData.kt": FIRST_LINE + unicode_tables.kotlin(tables),
        WEB_ROOT / "text" / "unicode_tables.js": FIRST_LINE + unicode_tables.javascript(tables),
    }


def table_sources() -> dict[Path, str]:
    """Return the files with the tables of Python's modules."""
    fields = 'import { many, numbers, one, OPTIONS, scalar, TEXT } from "./fields.js";\n'
    return {
        KOTLIN_ROOT / "file" / "ModelTables.kt": kotlin("kerasbert.core.file", model_tables()),
        WEB_ROOT / "file" / "model_tables.js": javascript(model_tables(), fields),
        KOTLIN_ROOT / "tasks" / "TagTables.kt": kotlin("kerasbert.core.tasks", tag_tables()),
        WEB_ROOT / "tasks" / "tag_tables.js": javascript(tag_tables()),
        KOTLIN_ROOT / "file" / "TaskTables.kt": kotlin("kerasbert.core.file", task_tables()),
        WEB_ROOT / "file" / "task_tables.js": javascript(task_tables()),
        KOTLIN_ROOT / "text" / "TokenTables.kt": kotlin("kerasbert.core.text", token_tables()),
        WEB_ROOT / "text" / "token_tables.js": javascript(token_tables()),
    }


def model_tables() -> list[Table]:
    """Return the tables of operators, of types of tensors, and of the schema."""
    codes = vars(schema().BuiltinOperator)
    names = sorted(graph_faults.INPUTS)
    counts = {
        codes[name]: _count(name, *graph_faults.INPUTS[name], name in graph_faults.STRING_OPERATORS) for name in names
    }
    optional = {codes[name]: place for name, place in graph_reader.FIRST_OPTIONAL_INPUT.items()}
    zero_points = {name: Call(f"{a}L..{b}L", f"[{a}, {b}]") for name, (a, b) in graph_faults.ZERO_POINTS.items()}
    layout = {name: {slot: _field(kind) for slot, kind in slots.items()} for name, slots in verifier.LAYOUT.items()}
    layout = {name: slots for name, slots in layout.items() if slots}
    return [
        Table("INPUT_COUNTS", "The inputs of operators by their number in `BuiltinOperator`. Kernels read the least unchecked.", counts),
        Table("NO_INPUTS", "Operators without inputs.", sorted(codes[name] for name in graph_reader.NO_INPUTS)),
        Table("NO_OUTPUTS", "Operators without outputs.", sorted(codes[name] for name in graph_reader.NO_OUTPUTS)),
        Table("TWO_INPUTS", "Operators whose second input is read unchecked.", sorted(codes[name] for name in graph_reader.TWO_INPUTS)),
        Table("FIRST_OPTIONAL_INPUT", "The first input that may be missing, by operator.", optional),
        Table("BITS", "The bits of an element, by type.", graph_faults.BITS),
        Table("ZERO_POINTS", "The smallest and the largest zero point, by type.", zero_points),
        Table("WITHOUT_SIZE", "Types whose elements have no size of their own.", sorted(graph_faults.WITHOUT_SIZE)),
        Table("LAYOUT", "Table -> slot of its vtable -> kind of the field, as in TFLite's schema.fbs. Others are numbers.", layout),
        Table("OPTIONS_WITH_VECTORS", "Tables of options by their number in `BuiltinOptions`.", verifier.OPTIONS_WITH_VECTORS),
    ]  # fmt: skip


def tag_tables() -> list[Table]:
    """Return the tables of the prefixes of tags."""
    like = {Char(prefix): Char(other) for prefix, other in entities.LIKE.items()}
    expanded = {Char(prefix): prefixes for prefix, prefixes in entities.EXPANDED.items()}
    return [
        Table("LIKE", "The prefix of IOBES that a prefix is read as.", like),
        Table("BARE", "Tags that are a prefix alone.", entities.BARE),
        Table("OTHER_OUTSIDE", "Further tags of words outside of entities, and of no words.", sorted(entities.OTHER_OUTSIDE)),
        Table("EXPANDED", "Prefixes of words that share the token of a tag: of the first, of those between, of the last.", expanded),
    ]  # fmt: skip


def task_tables() -> list[Table]:
    """Return the table of the types of tasks that the demos have: those with one head."""
    forms = {name: _task_form(processor_class(name)) for name in PROCESSORS if name not in NOT_IN_DEMOS}
    return [
        Table("TASK_FORMS", "The form of examples, outputs and settings, by the name of the type of the task.", forms)
    ]


def token_tables() -> list[Table]:
    """Return the tables of special tokens and of white space."""
    spaces = [Char(chr(code)) for code in range(sys.maxunicode + 1) if chr(code).isspace()]
    client_spaces = [ord(space) for space in client_rules.SPACE]
    client_names = {role: BERT_SPECIAL_TOKENS[role] for role in CLIENT_ROLES}
    return [
        Table("SPECIAL_NAMES", "The name of a special token by its role, where the settings have none.", BERT_SPECIAL_TOKENS),
        Table("CLIENT_NAMES", "Names of special tokens that MediaPipe Tasks and the Task Library know alone.", client_names),
        Table("CLIENT_SPACES", "Code points of the white space of these clients.", client_spaces),
        Table("SPACES", "Characters for which Python's `str.isspace` holds.", spaces),
    ]  # fmt: skip


def kotlin(package: str, tables: Iterable[Table]) -> str:
    """Return the Kotlin source of tables."""
    parts = [f"{FIRST_LINE}package {package}\n"]
    for table in tables:
        items, is_map = _items(table.entries, _kotlin_value, "{} to {}")
        body = f"{'mapOf' if is_map else 'setOf'}(\n{_lines(items, 4)}\n)"
        parts.append(f"/** {table.description} */\ninternal val {table.name} = {body}\n")
    return "\n".join(parts)


def javascript(tables: Iterable[Table], imports: str = "") -> str:
    """Return the JavaScript source of tables."""
    parts = [FIRST_LINE + imports]
    for table in tables:
        is_object = isinstance(table.entries, Mapping) and isinstance(next(iter(table.entries.values())), dict)
        items, is_map = _items(table.entries, _javascript_value, "{}: {}" if is_object else "[{}, {}]")
        begin, end = ("{", "}") if is_object else (f"new {'Map' if is_map else 'Set'}([", "])")
        parts.append(f"/** {table.description} */\nexport const {table.name} = {begin}\n{_lines(items, 2)}\n{end};\n")
    return "\n".join(parts)


def _items(entries: Iterable | Mapping, value: Any, pair: str) -> tuple[list[str], bool]:
    """Return the items of a set or a map, and True for a map."""
    if isinstance(entries, Mapping):
        return [pair.format(value(key), value(entry)) for key, entry in entries.items()], True
    return [value(entry) for entry in entries], False


def _lines(items: Iterable[str], indent: int) -> str:
    """Join items with commas to lines."""
    lines = [""]
    for item in items:
        if lines[-1] and ("\n" in lines[-1] + item or indent + len(lines[-1]) + len(item) + 2 > _LINE):
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}{item},"
    return "\n".join(" " * indent + line for line in lines)


def _kotlin_value(value: Any) -> str:
    if isinstance(value, Call):
        return value.kotlin
    if isinstance(value, dict):
        return f"mapOf(\n{_lines(_items(value, _kotlin_value, '{} to {}')[0], 8)}\n    )"
    if isinstance(value, Char):
        return f"'{_escaped(value)}'"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _escaped(character: Char) -> str:
    """Return a character as both languages write it: white space by its number."""
    return f"\\u{ord(character):04x}" if character.isspace() else character


def _javascript_value(value: Any) -> str:
    if isinstance(value, Call):
        return value.javascript
    if isinstance(value, dict):
        return f"{{\n{_lines(_items(value, _javascript_value, '{}: {}')[0], 4)}\n  }}"
    if isinstance(value, Char):
        return f'"{_escaped(value)}"'
    return f'"{value}"' if isinstance(value, str) else str(value)


def _count(name: str, least: int, most: int, takes_texts: bool) -> Call:
    texts = str(takes_texts).lower()
    javascript = f'{{ name: "{name}", least: {least}, most: {most}, takesTexts: {texts} }}'
    return Call(f'InputCount("{name}", {least}, {most}, {texts})', javascript)


def _field(kind: Any) -> Call:
    """Return the kind of a field of the schema; see `kerasbert.export.tflite.verifier`."""
    if kind in (verifier.STRING, verifier.OPTIONS):
        name = "Text" if kind == verifier.STRING else "Options"
        return Call(name, name.upper())
    if isinstance(kind, int | str):
        name, argument = ("Scalar", kind) if isinstance(kind, int) else ("One", f'"{kind}"')
    else:
        name, argument = ("Numbers", kind[0]) if isinstance(kind, tuple) else ("Many", f'"{kind[0]}"')
    return Call(f"{name}({argument})", f"{name.lower()}({argument})")


def _task_form(processor: type[Processor]) -> Call:
    """Return the form of a type of task."""
    kinds = {
        field.name: _KINDS_BY_NAME.get(field.name) or _KINDS[field.type]
        for field in fields(processor)
        if field.name != "labels"
    }
    outputs = ", ".join(f'"{name}"' for name in processor.outputs)
    second = "none" if processor.self_supervised else processor.second_input  # the demos fill masks of single texts
    rank, per_token = processor.output_rank, str(processor.per_token).lower()
    kotlin_kinds = _joined((f'"{name}" to SettingKind.{kind}' for name, kind in kinds.items()), 12, 4)
    javascript_kinds = (f'["{name}", "{kind.lower().replace("_", " ")}"]' for name, kind in kinds.items())
    return Call(
        f"TaskForm(\n        SecondInput.{second.upper()}, listOf({outputs}), {rank}, {per_token},\n"
        f"        mapOf({kotlin_kinds}),\n    )",
        f'{{\n    second: "{second}", outputs: [{outputs}], rank: {rank}, perToken: {per_token},\n'
        f"    settings: new Map([{_joined(javascript_kinds, 6, 2)}]),\n  }}",
    )


def _joined(items: Iterable[str], indent: int, step: int) -> str:
    """Join items, on lines of their own where they are many."""
    items = list(items)
    text = ", ".join(items)
    return text if len(text) < _LINE - 40 else f"\n{_lines(items, indent)}\n{' ' * (indent - step)}"


def _content(path: Path) -> str:
    return path.read_text("utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
