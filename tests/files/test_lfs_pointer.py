"""Pointers of Git LFS are named by every reader, and never read as content."""

import pytest

from kerasbert.checkpoints import pytorch_file, safetensors_file
from kerasbert.errors import KerasBertError
from kerasbert.export.tflite import metadata
from kerasbert.files.json_text import read_json
from kerasbert.text.tokenizer_files import read_bytes
from kerasbert.text.wordpiece import WordPiece

POINTER = (
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32\nsize 12345\n"
)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("model.safetensors", safetensors_file.read_file),
        ("pytorch_model.bin", pytorch_file.read_file),
        ("tokenizer.json", read_json),
        ("spiece.model", read_bytes),
        ("vocab.txt", lambda path: WordPiece.from_folder(path.parent)),
        ("model.tflite", metadata.read),
    ],
)
def test_pointers_are_errors(tmp_path, name, read):
    (tmp_path / name).write_text(POINTER, "ascii")
    with pytest.raises(
        KerasBertError, match=f"{name}: expected the file itself, received a pointer of Git LFS.*git lfs pull"
    ):
        read(tmp_path / name)
