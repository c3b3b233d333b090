"""The contents of the installed package and the pinned versions of its dependencies."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECOND = ROOT / "zoo/more"
PROJECT, SECOND_PROJECT = (tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (ROOT, SECOND))


def name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement)[0]).lower()


def test_setuptools_lists_every_package():
    folders = {
        file.parent.relative_to(ROOT)
        for top in ("kerasbert", "export", "zoo")
        for file in (ROOT / top).rglob("__init__.py")
        if not any(folder.is_symlink() for folder in file.parents) and SECOND not in file.parents
    }
    packages = {".".join(folder.parts) for folder in folders}
    expected = {package if package.startswith("kerasbert") else f"kerasbert.{package}" for package in packages}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == expected


def test_every_package_outside_kerasbert_has_its_folder():
    setuptools = PROJECT["tool"]["setuptools"]
    outside = {
        package for package in setuptools["packages"] if package.startswith(("kerasbert.export", "kerasbert.zoo"))
    }
    assert {package: package.removeprefix("kerasbert.").replace(".", "/") for package in outside} == setuptools[
        "package-dir"
    ]


def test_constraints_pin_every_dependency_exactly():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line)] == []
    pinned = [name(line) for line in lines]
    assert len(set(pinned)) == len(pinned)
    extras = PROJECT["project"]["optional-dependencies"].values()
    required = {name(requirement) for group in (PROJECT["project"]["dependencies"], *extras) for requirement in group}
    assert required - set(pinned) == {"kerasbert-zoo"}  # the package of zoo/more


def test_versions_agree():
    version = PROJECT["project"]["version"]
    source, citation = ((ROOT / path).read_text("utf-8") for path in ("kerasbert/__init__.py", "CITATION.cff"))
    assert re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)[1] == version
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == version
    assert SECOND_PROJECT["project"]["version"] == version
    assert PROJECT["project"]["optional-dependencies"]["zoo"] == [f"kerasbert-zoo=={version}"]
    assert (
        re.search(r"^## \[.*\b(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1] == version
    )
