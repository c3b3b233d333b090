"""What an installed kerasbert consists of, and the versions it is tested with."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def name(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9._-]+", requirement)[0]).lower()


def test_every_package_is_installed():
    folders = {
        file.parent.relative_to(ROOT)
        for top in ("kerasbert", "export", "zoo")
        for file in (ROOT / top).rglob("__init__.py")
        if not any(folder.is_symlink() for folder in file.parents)
    }
    found = {".".join(folder.parts) for folder in folders}
    expected = {package if package.startswith("kerasbert") else f"kerasbert.{package}" for package in found}
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == expected


def test_mapped_packages_are_complete():
    setuptools = PROJECT["tool"]["setuptools"]
    outside = {
        package for package in setuptools["packages"] if package.startswith(("kerasbert.export", "kerasbert.zoo"))
    }
    assert {package: package.removeprefix("kerasbert.").replace(".", "/") for package in outside} == setuptools[
        "package-dir"
    ]


def test_constraints_are_exact_versions_only():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+!]*", line)] == []
    pinned = [name(line) for line in lines]
    assert len(set(pinned)) == len(pinned)
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = {name(requirement) for group in (PROJECT["project"]["dependencies"], *extras) for requirement in group}
    assert wanted - set(pinned) == set()
