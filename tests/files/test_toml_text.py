import pytest

from kerasbert.errors import KerasBertError
from kerasbert.files.toml_text import read_toml, toml_value


@pytest.mark.parametrize(
    ("text", "received"),
    [
        (b"a = " + b"[" * 2000 + b"]" * 2000, "more than 100 levels"),
        (b".".join([b"a"] * 500) + b" = 1", "more than 100 levels"),
        (b"a = " + b"9" * 5000, "limit .* digits"),
        (b"a = {b = [1, -1" + b"0" * 400 + b"]}", "a number of more than 100 digits"),
        (b"a = \xff", "byte 0xff at offset 4"),
        (b"a =", "Invalid value"),
        (b"a = 1\na = 2", "Cannot overwrite a value"),
        (b"#" * 2_000_000, "a larger file"),
    ],
)
def test_invalid_toml_raises_only_our_error(tmp_path, text, received):
    (tmp_path / "a.toml").write_bytes(text)
    with pytest.raises(KerasBertError, match=rf"a\.toml: expected TOML.*received .*{received}"):
        read_toml(tmp_path / "a.toml")


def test_read_toml(tmp_path):
    (tmp_path / "a.toml").write_text("a = 1\n[b]\nc = [1.5, nan]\n")
    parsed = read_toml(tmp_path / "a.toml")
    assert parsed["a"] == 1 and parsed["b"]["c"][0] == 1.5
    with pytest.raises(KerasBertError, match="expected a recipe, received no such file"):
        read_toml(tmp_path / "none.toml", expected="a recipe")


EVERY_CHARACTER = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x11000), 0x1F600, 0x10FFFF)))


@pytest.mark.parametrize(
    "value",
    ["data/\U0001f600.tsv", "", '"', "\\", "\\u0041", "a\nb\r\n\tc", "\x00\x1f\x7f\x85\u2028\ufeff", EVERY_CHARACTER, True, -3, 1e-300]
    + [5e22, {"layers.-1": 1e-3, '\U0001f600 "a"\n': 2.0, "": 0.5}, {}],
)  # fmt: skip
def test_values_round_trip(tmp_path, value):
    (tmp_path / "a.toml").write_text(f"a = {toml_value(value)}\n", "utf-8")
    parsed = read_toml(tmp_path / "a.toml")["a"]
    assert parsed == value and type(parsed) is type(value)


def test_lone_surrogates_are_rejected():
    with pytest.raises(ValueError, match="surrogates not allowed"):
        toml_value("\udc80")
