"""The tables that the Kotlin and the JavaScript core share with Python are generated from those of Python."""

import sys

import pytest

from benchmarks.parity import demo_tables


def test_the_committed_files_are_those_of_python():
    changed = [path for path, source in demo_tables.table_sources().items() if path.read_text("utf-8") != source]
    assert changed == [], "run python -m benchmarks.parity.demo_tables, and the tests of android_demo and web_demo"


@pytest.mark.parametrize("path", demo_tables.unicode_sources({}))
def test_every_generated_file_says_so_in_its_first_line(path):
    for each in (path, *demo_tables.table_sources()):
        assert each.read_text("utf-8").startswith(demo_tables.FIRST_LINE)


def test_the_check_finds_a_changed_table_and_writes_nothing(tmp_path, monkeypatch, capsys):
    sources = {tmp_path / "same.js": "1", tmp_path / "changed.js": "2", tmp_path / "missing.js": "3"}
    (tmp_path / "same.js").write_text("1")
    (tmp_path / "changed.js").write_text("0")
    monkeypatch.setattr(demo_tables, "ROOT", tmp_path)
    monkeypatch.setattr(demo_tables, "sources", lambda: sources)
    monkeypatch.setattr(sys, "argv", ["demo_tables", "--check"])
    assert demo_tables.main() == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["changed.js", "missing.js"]
    assert (tmp_path / "changed.js").read_text() == "0"
    monkeypatch.setattr(sys, "argv", ["demo_tables"])
    assert demo_tables.main() == 0
    monkeypatch.setattr(sys, "argv", ["demo_tables", "--check"])
    assert demo_tables.main() == 0
    assert {path: path.read_text() for path in sources} == sources
