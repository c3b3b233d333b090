"""Damaged inputs from valid ones: random changes of bytes, JSON values and zip members, reproducible by seed."""

import copy
import gzip
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

# Common causes of parser errors: line and string delimiters, brackets, numbers out of range, invalid Unicode.
TOKENS = (
    *(b"\0", b"\n", b"\r\n", b"\r", b"\t", b'"', b"'", b"[", b"]", b"{", b"}", b",", b":", b"|", b"\\", b"#", b" ", b"="),
    *(b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\xed\xa0\x80", "\u2028".encode(), "\u200b".encode(), "😀".encode()),
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"0", b"null", b"true", b'""', b"[]", b"{}", b"\\ud800", b"\\udc00\\ud800"),
    *(b"9" * 5000, b"1" + b"0" * 400, b"[" * 3000, b'{"a":' * 2000, b"x" * 70_000, b"9999999999", b"-9223372036854775809"),
    *(b"nan", b"inf", b"1_000", b"0x10", b"-DOCSTART-", b"B-X", b"[UNK]", b"../../x", b"a" * 5000),
)  # fmt: skip
NUMBERS = (0, 1, 2, 3, 7, 127, 128, 255, 256, 65535, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**63, 2**64 - 1)
VALUES = (
    *(None, True, False, 0, 1, -1, 2, 5, 10**4, 2**31, 2**63, 10**20, 10**99, 10**400, 0.5, -0.0, float("nan"), float("inf")),
    *("", " ", "a", "\n", "\r", "\ud800", "\0", "9" * 5000, "../x", "[UNK]", "##", "x" * 20_000, "O", "B-", "-X", "5"),
    *([], {}, [[]], [{}], [None], {"": 0}, {"a": {}}, [1, "a"], ["a", "a"], {"type": "Sequence"}, [[["a"]]] * 3),
)  # fmt: skip


class Mutator:
    """Makes damaged inputs.

    Attributes:
        random: The source of randomness.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def mutate_file(self, name: str, data: bytes, others: Sequence[bytes] = ()) -> bytes:
        """Damage a file by the format of its name.

        Args:
            name: Of the file.
            data: Its content.
            others: Files to splice it with.
        """
        if name.endswith(".gz") and self.random.random() < 0.7:
            return gzip.compress(self.mutate_file(name.removesuffix(".gz"), gzip.decompress(data)), 1, mtime=0)
        if zipfile.is_zipfile(io.BytesIO(data)) and self.random.random() < 0.6:
            return self.mutate_zip(data)
        if name.endswith(".json") and self.random.random() < 0.6:
            return self.mutate_json(data)
        if name.endswith(".jsonl") and self.random.random() < 0.6:
            lines = data.splitlines()
            number = self.random.randrange(len(lines))
            lines[number] = self.mutate_json(lines[number])
            return b"\n".join(lines)
        return self.mutate_bytes(data, others)

    def mutate_bytes(self, data: bytes, others: Sequence[bytes] = ()) -> bytes:
        """Change one to four places."""
        changed = bytearray(data)
        for _ in range(self.random.choice((1, 1, 1, 2, 4))):
            self.random.choice(_CHANGES)(self, changed, others)
        return bytes(changed)

    def mutate_json(self, text: bytes) -> bytes:
        """Change one to three values, names or positions of a JSON text, and sometimes its bytes."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self.mutate_bytes(text)
        for _ in range(self.random.choice((1, 1, 2, 3))):
            value = self._change(value)
        changed = json.dumps(value, ensure_ascii=self.random.random() < 0.5).encode("utf-8", "surrogatepass")
        return self.mutate_bytes(changed) if self.random.random() < 0.1 else changed

    def mutate_zip(self, data: bytes) -> bytes:
        """Damage, remove, duplicate, compress or rename a member of an archive."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(member.filename, archive.read(member)) for member in archive.infolist()]
            before = data[: min((member.header_offset for member in archive.infolist()), default=0)]
        kind = zipfile.ZIP_STORED
        index = self.random.randrange(len(members))
        name, content = members[index]
        chance = self.random.random()
        if chance < 0.7:
            members[index] = name, self.mutate_file(name, content)
        elif chance < 0.75:
            del members[index]
        elif chance < 0.8:
            members.append((name, content))
        elif chance < 0.85:
            members[index] = self.random.choice(("x.npy", "../" + name, name.upper(), "a" * 300, "")), content
        else:
            kind = zipfile.ZIP_DEFLATED
        stream = io.BytesIO()
        stream.write(before)
        with zipfile.ZipFile(stream, "a" if before else "w", kind) as archive:
            for name, content in members:
                info = zipfile.ZipInfo(name)
                info.compress_type = kind
                with warnings.catch_warnings(action="ignore"):  # a duplicate name
                    archive.writestr(info, content)
        changed = stream.getvalue()
        return self.mutate_bytes(changed) if self.random.random() < 0.15 else changed

    def _change(self, value: Any) -> Any:
        """Change one place of a JSON value."""
        places = list(_places(value))
        if not places:
            return self.random.choice(VALUES)
        parent, key = self.random.choice(places)
        chance = self.random.random()
        if chance < 0.5:
            parent[key] = copy.deepcopy(self.random.choice(VALUES))
        elif chance < 0.6:
            del parent[key]
        elif chance < 0.7:
            other_parent, other_key = self.random.choice(places)
            parent[key] = json.loads(json.dumps(other_parent[other_key]))
        elif chance < 0.8 and isinstance(parent, dict):
            parent[self.random.choice(("", "a", "type", "content", "id", "5", "\ud800", key.upper()))] = parent.pop(key)
        elif chance < 0.9:
            parent[key] = self.random.choice(([parent[key]], {"a": parent[key]}, str(parent[key])))
        elif isinstance(parent, list):
            parent.insert(key, parent[key])
        elif isinstance(parent[key], int | float) and abs(parent[key]) < 1e300:
            parent[key] = parent[key] + self.random.choice((-1, 1, 0.5, 10**6, -(10**6)))
        return value


def _places(value: Any, limit: int = 400) -> Iterator[tuple[Any, Any]]:
    """Yield (parent, key) of nested values, breadth first, until the limit is reached."""
    queue, count = [value], 0
    while queue and count < limit:
        parent = queue.pop(0)
        if isinstance(parent, dict | list):
            for key in parent if isinstance(parent, dict) else range(len(parent)):
                count += 1
                yield parent, key
                queue.append(parent[key])


def _flip(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[mutator.random.randrange(len(data))] ^= 1 << mutator.random.randrange(8)


def _set(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    if data:
        data[mutator.random.randrange(len(data))] = mutator.random.choice((0, 1, 9, 10, 32, 34, 44, 127, 128, 255))


def _number(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    size = mutator.random.choice((2, 4, 8))
    if len(data) >= size:
        place = mutator.random.randrange(len(data) - size + 1)
        data[place : place + size] = (mutator.random.choice(NUMBERS) % 256**size).to_bytes(size, "little")


def _insert(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    place = mutator.random.randrange(len(data) + 1)
    end = place + mutator.random.choice((0, 0, 1, 4))
    data[place:end] = mutator.random.choice(TOKENS)


def _cut(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    del data[mutator.random.randrange(len(data) + 1) :]


def _remove(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    place = mutator.random.randrange(len(data) + 1)
    del data[place : place + mutator.random.choice((1, 2, 8, 64))]


def _repeat(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    place = mutator.random.randrange(len(data) + 1)
    part = data[place : place + mutator.random.choice((1, 8, 64))]
    data[place:place] = part * mutator.random.choice((1, 2, 50))


def _splice(mutator: Mutator, data: bytearray, others: Sequence[bytes]) -> None:
    other = mutator.random.choice(others) if others else bytes(data)
    data[mutator.random.randrange(len(data) + 1) :] = other[mutator.random.randrange(len(other) + 1) :]


_CHANGES = (_flip, _flip, _set, _number, _insert, _insert, _insert, _cut, _remove, _repeat, _splice)
