"""The API reference: every public name stands on a page, with its arguments, its results and an example."""

import ast
import dataclasses
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kerasbert.training import TrainConfig

API = Path(__file__).parents[2] / "docs" / "api"
FACADES = (
    "kerasbert",
    "kerasbert.compression",
    "kerasbert.compression.pruning.structured",
    "kerasbert.data",
    "kerasbert.data.assistant",
    "kerasbert.encoders",
    "kerasbert.export",
    "kerasbert.losses",
    "kerasbert.plots",
    "kerasbert.processors",
    "kerasbert.tasks",
    "kerasbert.text",
    "kerasbert.training",
    "kerasbert.training.distillation",
    "kerasbert.zoo",
)
SECTIONS = "Args|Attributes|Returns|Yields|Raises|Example"
LONGEST_EXAMPLE = 8  # lines


def is_documented(value: Any) -> bool:
    """Whether a value is a class or a function of kerasbert, which has a docstring of its own."""
    inner = inspect.unwrap(value) if callable(value) else value
    return (inspect.isclass(inner) or inspect.isfunction(inner)) and inner.__module__.startswith("kerasbert")


@cache
def public_names() -> dict[str, Any]:
    """Full name -> value of all public names."""
    found = {}
    for facade in FACADES:
        module = importlib.import_module(facade)
        named = getattr(module, "__all__", None) or [
            n for n, v in vars(module).items() if n[0] != "_" and owns(module, n, v)
        ]
        names = {*named, "open"} if facade == "kerasbert" else named
        found.update({f"{facade}.{name}": getattr(module, name) for name in sorted(names)})
    return {name: value for name, value in found.items() if not isinstance(value, ModuleType)}


def owns(module: ModuleType, name: str, value: Any) -> bool:
    """Whether a module without `__all__` defines a name itself."""
    return getattr(value, "__module__", module.__name__) == module.__name__ and not isinstance(value, ModuleType)


def resolve(name: str) -> Any:
    """Return the object of a dotted name."""
    module, rest = name, []
    while True:
        try:
            value = importlib.import_module(module)
            break
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            rest.insert(0, last)
    for each in rest:
        value = getattr(value, each)
    return value


@cache
def directives() -> dict[str, Any]:
    """Name of a mkdocstrings directive -> the object, of all API pages."""
    texts = [page.read_text("utf-8") for page in sorted(API.glob("*.md"))]
    names = [name for text in texts for name in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)]
    assert len(names) == len(set(names)), "a name stands on a page twice"
    return {name: resolve(name) for name in names}


def sections(value: Any) -> dict[str, str]:
    """Return the sections of a docstring by name."""
    parts = re.split(rf"^({SECTIONS}):\s*$", inspect.cleandoc(value.__doc__ or ""), flags=re.MULTILINE)
    return dict(zip(["summary", *parts[1::2]], parts[::2], strict=True))


def described(value: Any) -> set[str]:
    """Return the parameters that a docstring describes; for a class, those of its bases too."""
    owners = [each for each in value.__mro__ if is_documented(each)] if inspect.isclass(value) else [value]
    found: set[str] = set()
    for owner in owners:
        for name in ("Args", "Attributes"):
            for names in re.findall(
                r"^ {4}([\w*]+(?:, [\w*]+)*)(?: \(\w+\))?: ", sections(owner).get(name, ""), re.MULTILINE
            ):
                found |= set(names.replace("*", "").split(", "))
    return found


def parameters(value: Any) -> set[str]:
    """Return the names of the parameters of a function, or of the constructor of a class that has one of its own."""
    if inspect.isclass(value):
        if getattr(value, "_is_protocol", False):
            return set()
        if dataclasses.is_dataclass(value):
            return {
                each.name
                for each in dataclasses.fields(value)
                if each.init and not each.metadata and each.name[0] != "_"
            }
        if hasattr(value, "_fields"):  # a named tuple
            return set(value._fields)
        value = value.__init__
        if not is_documented(value):
            return set()
    return set(inspect.signature(value).parameters) - {"self", "cls"}


def methods(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods that a class defines, each with its docstring's function; without those that override and inherit it."""
    for name, member in vars(value).items():
        function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if name[0] != "_" and inspect.isfunction(function) and function.__qualname__ == f"{value.__name__}.{name}":
            yield name, function


def test_facades_are_all_there():
    modules = {name for name in FACADES if name.count(".") == 1}
    kerasbert = importlib.import_module("kerasbert")
    packages = {f"kerasbert.{name}" for name in kerasbert.__all__ if isinstance(getattr(kerasbert, name), ModuleType)}
    assert len(packages) > 5 and packages <= modules


def test_every_public_name_is_on_a_page():
    text = "\n".join(page.read_text("utf-8") for page in API.glob("*.md"))
    on_pages = {id(value) for value in directives().values()}
    missing = [
        name
        for name, value in public_names().items()
        if (
            id(value) not in on_pages
            if is_documented(value)
            else f"`{name.replace('kerasbert.__', 'kb.__')}`" not in text
        )
    ]
    assert missing == []


def test_every_public_name_has_an_example():
    everything = {**{k: v for k, v in public_names().items() if is_documented(v)}, **directives()}
    wrong = []
    for name, value in everything.items():
        code = re.fullmatch(r"\s*```python\n(.*?)\n\s*```\s*", sections(value).get("Example", ""), re.DOTALL)
        if code is None or len(code[1].split("\n")) > LONGEST_EXAMPLE:
            wrong.append(name)
        else:
            ast.parse(textwrap.dedent(code[1]))
    assert wrong == []


def test_every_parameter_is_described():
    undescribed = {}
    for name, value in directives().items():
        undescribed[name] = parameters(value) - described(value)
        for method, function in methods(value) if inspect.isclass(value) else ():
            if function.__doc__:
                undescribed[f"{name}.{method}"] = parameters(function) - described(function)
            elif not any(getattr(getattr(base, method, None), "__doc__", None) for base in value.__mro__[1:]):
                undescribed[f"{name}.{method}"] = {"no docstring"}
    assert {name: missing for name, missing in undescribed.items() if missing} == {}


def test_every_result_is_described():
    wrong = []
    for name, value in directives().items():
        functions = [(f"{name}.{m}", f) for m, f in methods(value)] if inspect.isclass(value) else [(name, value)]
        for label, function in functions:
            returned = function.__annotations__.get("return")
            if not function.__doc__ or returned in (None, "None"):
                continue
            parts = sections(function)
            told = re.match(r"(Return|Tell)\b", parts["summary"]) and inspect.isclass(value)
            if not (told or {"Returns", "Yields"} & parts.keys()):
                wrong.append(label)
    assert wrong == []


def test_the_settings_of_a_training_are_on_the_page():
    text = (API / "training.md").read_text("utf-8")
    table = "\n".join(setting_rows())
    assert table in text, f"docs/api/training.md lacks this table:\n\n{table}"


def setting_rows() -> list[str]:
    rows = ["| Setting | Type | Default | Meaning |", "|---|---|---|---|"]
    for field in dataclasses.fields(TrainConfig):
        default = {} if field.default is dataclasses.MISSING else field.default
        kind = getattr(field.type, "__name__", str(field.type)).replace("|", "\\|")
        meaning = field.metadata["help"].replace("|", "\\|")
        rows.append(f"| `{field.name}` | {kind} | `{default!r}` | {meaning} |")
    return rows


@pytest.mark.parametrize("text", ["Args:\n    x: A number.", "Args:\n    x, y: Numbers."])
def test_described_parameters_are_found(text):
    def function(x):
        pass

    function.__doc__ = f"Do it.\n\n{text}\n"
    assert "x" in described(function)
