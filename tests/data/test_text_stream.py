"""Text streams: arguments of other types."""

import pytest

import kerasbert as kb
from kerasbert.errors import KerasBertError


@pytest.mark.parametrize("paths", [5, {"a.txt": 1}, None, [7]])
def test_paths_of_other_types_are_refused(paths):
    with pytest.raises(KerasBertError, match="expected"):
        kb.data.TextStream(paths)


def test_a_block_has_characters(tmp_path):
    (tmp_path / "a.txt").write_text("a film")
    with pytest.raises(KerasBertError, match="block_bytes"):
        kb.data.TextStream(tmp_path / "a.txt", block_bytes=0)
