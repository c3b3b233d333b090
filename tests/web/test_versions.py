"""One version of each npm package, wherever it is named."""

import json
import re
from pathlib import Path

from kerasbert.export.backends.environments.known import WEB

ROOT = Path(__file__).parents[2]


def versions_of(packages: tuple[str, ...]) -> dict[str, str]:
    return {name: version for name, _, version in (package.rpartition("@") for package in packages)}


def test_the_page_is_tested_with_what_setup_installs():
    package = json.loads((ROOT / "web_demo" / "package.json").read_text("utf-8"))
    assert package["private"] is True and package["type"] == "module" and "dependencies" not in package
    for name, version in versions_of(WEB.packages).items():
        assert package["devDependencies"][name] == version
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in package["devDependencies"].values())


def test_the_guide_names_the_same_versions():
    text = (ROOT / "docs" / "guides" / "web.md").read_text("utf-8")
    version = versions_of(WEB.packages)["@litertjs/core"]
    named = re.findall(r"@litertjs/[a-z-]+(?:`? \| |@|` )(\d+\.\d+\.\d+)", text)
    assert named and set(named) == {version}
