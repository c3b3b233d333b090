"""Cases that Python and both demos read alike; `PackedFilesContractTest.kt` and `packed_files_contract_test.js` read the same file."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite import metadata

FOLDER = Path(__file__).parents[3] / "android_demo" / "testdata"
CONTRACT = json.loads((FOLDER / "packed_files.json").read_text("utf-8"))
CONTENT = (FOLDER / CONTRACT["file"]).read_bytes()
TOKENS = 45


def changed(case):
    content = CONTENT
    if "vocabulary" in case:
        content = repacked(case["vocabulary"], case["tokens"])
    content = bytearray(content)
    for place, value in case.get("set", ()):
        content[len(content) - place : len(content) - place + 1] = bytes.fromhex(value)
    return bytes(content[: len(content) - case.get("cut", 0)]) + bytes.fromhex(case.get("append", "")) * case.get(
        "times", 1
    )


def repacked(further_lines, tokens):
    stream = io.BytesIO(CONTENT[: CONTENT.find(b"PK\x03\x04")])
    with zipfile.ZipFile(io.BytesIO(CONTENT)) as old, zipfile.ZipFile(stream, "a", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            text = old.read(name).decode("utf-8")
            if name == "vocab.txt":
                text += further_lines
            new.writestr(zipfile.ZipInfo(name), text.replace(f'"vocab_size": {TOKENS}', f'"vocab_size": {tokens}'))
    return stream.getvalue()


@pytest.mark.parametrize("case", CONTRACT["cases"], ids=lambda case: case["case"])
def test_cases_of_the_contract(case):
    content = changed(case)
    try:
        read = metadata.read(content)
    except KerasBertError:
        read = None
    assert (read is not None) is case["read"]
    if read is not None:
        assert len(read.vocabulary) == case.get("tokens", TOKENS)


def test_size_of_an_archive_with_a_comment():
    case = next(case for case in CONTRACT["cases"] if case["case"].startswith("a comment of the length"))
    assert (
        metadata.packed_size(changed(case))
        == metadata.packed_size(CONTENT) + 5
        == len(CONTENT) - CONTENT.find(b"PK\x03\x04") + 5
    )
