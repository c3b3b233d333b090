"""The files that are packed behind the FlatBuffer of a `.tflite`: a zip archive whose members are stored, not compressed.

The demos read the same archives by the same rules: `PackedFiles.kt` and `packed_files.js`. Python's `zipfile` accepts more, such as bytes
behind the archive and several disks, so that a file would open here and not on a phone.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from kerasbert.errors import KerasBertError
from kerasbert.export.tflite.metadata_format import DESCRIPTION, LABELS, VOCABULARY, metadata_error

_MAX_MEMBERS = 16
_MAX_BYTES = {DESCRIPTION: 8 << 20, VOCABULARY: 32 << 20, LABELS: 4 << 20}
# Signatures and sizes of APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16. Numbers are little-endian.
_MEMBER, _MEMBER_SIZE = b"PK\x03\x04", 30
_ENTRY, _ENTRY_SIZE = b"PK\x01\x02", 46
_END, _END_SIZE = b"PK\x05\x06", 22
_MAX_COMMENT = 65_535
_ENCRYPTED = 1


@dataclass(frozen=True)
class _Member:
    """One entry of the directory of an archive."""

    name: str
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    start: int


class PackedFiles:
    """The archive behind a FlatBuffer, if there is one.

    Args:
        data: The bytes of the whole `.tflite`.
        name: Its name in messages.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self._data, self._name = data, name

    def read(self) -> dict[str, str] | None:
        """Return the text of each packed file by its name; None where kerasbert packed none.

        Raises:
            KerasBertError: When the archive is damaged or hostile.
        """
        end = self._end()
        if end is None:
            return None
        members = self._directory(end)
        if all(member.name != DESCRIPTION for member in members):
            return None
        self._check(members)
        return {member.name: self._text(member) for member in members}

    def start(self) -> int | None:
        """Return the place of the first byte of the archive; None where there is none.

        Raises:
            KerasBertError: As `read`.
        """
        end = self._end()
        if end is None:
            return None
        directory, _ = self._directory_span(end)
        return min((member.start for member in self._directory(end)), default=directory)

    def _end(self) -> int | None:
        """Return the place of the record at the end of the archive, which only a comment may follow."""
        data, last = self._data, len(self._data) - _END_SIZE
        place = data.rfind(_END, max(0, last - _MAX_COMMENT))
        while place >= 0:
            if place <= last and self._uint16(place + 20) == last - place:
                return place
            place = data.rfind(_END, max(0, last - _MAX_COMMENT), place + len(_END) - 1)
        position = data.find(DESCRIPTION.encode(), _MEMBER_SIZE)
        while position >= 0:
            if data.startswith(_MEMBER, position - _MEMBER_SIZE):
                raise self._damage("an archive without its end: the file was cut short, or other bytes follow it")
            position = data.find(DESCRIPTION.encode(), position + 1)
        return None

    def _directory_span(self, end: int) -> tuple[int, int]:
        """Return the place of the directory, and by how much offsets in it are moved.

        Offsets count from the start of the archive, or of the file, as the one who appended it did.
        """
        start = end - self._uint32(end + 12)
        shift = start - self._uint32(end + 16)
        if start < 0 or shift < 0:
            raise self._damage("an archive that does not open (a directory outside the file)")
        return start, shift

    def _directory(self, end: int) -> list[_Member]:
        count = self._uint16(end + 10)
        if count > _MAX_MEMBERS:
            raise self._damage(f"{count} packed files, more than {_MAX_MEMBERS}")
        place, shift = self._directory_span(end)
        members = []
        for _ in range(count):
            if place + _ENTRY_SIZE > end or not self._data.startswith(_ENTRY, place):
                raise self._damage("an archive that does not open (a directory without an entry)")
            flags, method = struct.unpack_from("<2H", self._data, place + 8)
            crc, packed, size, name, extra, comment = struct.unpack_from("<3I3H", self._data, place + 16)
            after_name = place + _ENTRY_SIZE + name
            if after_name > end:
                raise self._damage("an archive that does not open (a name past the directory's end)")
            start = self._uint32(place + 42) + shift
            members.append(_Member(self._ascii(place + _ENTRY_SIZE, name), flags, method, crc, packed, size, start))
            place = after_name + extra + comment
        return members

    def _check(self, members: Sequence[_Member]) -> None:
        names: set[str] = set()
        for member in members:
            if member.name not in _MAX_BYTES:
                known = ", ".join(sorted(_MAX_BYTES))
                raise self._damage(f"a packed file {member.name[:60]!r}, not one of {known}")
            if member.name in names:
                raise self._damage("the same packed file twice")
            names.add(member.name)
            if member.flags & _ENCRYPTED:
                raise self._damage(f"an encrypted {member.name}")
            # A stored member is no larger than the file, so a small archive cannot unpack into a huge one.
            if member.method != 0 or member.size != member.packed:
                raise self._damage(f"a compressed {member.name}, where stored files belong")
            if member.size > _MAX_BYTES[member.name]:
                raise self._damage(f"{member.name} of {member.size:,} bytes, more than {_MAX_BYTES[member.name]:,}")

    def _text(self, member: _Member) -> str:
        try:
            return self._content(member).decode("utf-8")
        except UnicodeDecodeError:
            raise self._unreadable(member, "it is not UTF-8") from None

    def _content(self, member: _Member) -> bytes:
        header = member.start
        if header + _MEMBER_SIZE > len(self._data) or not self._data.startswith(_MEMBER, header):
            raise self._unreadable(member, "it is not where the directory says")
        name = self._uint16(header + 26)
        start = header + _MEMBER_SIZE + name + self._uint16(header + 28)
        if start + member.size > len(self._data):
            raise self._unreadable(member, "it is longer than the file")
        if self._ascii(header + _MEMBER_SIZE, name) != member.name:
            raise self._unreadable(member, "it has another name than in the directory")
        content = self._data[start : start + member.size]
        if zlib.crc32(content) != member.crc:
            raise self._unreadable(member, "its checksum is wrong")
        return content

    def _uint16(self, place: int) -> int:
        return int.from_bytes(self._data[place : place + 2], "little")

    def _uint32(self, place: int) -> int:
        return int.from_bytes(self._data[place : place + 4], "little")

    def _ascii(self, place: int, length: int) -> str:
        """Return a name of few characters; those beyond ASCII, which no packed file of kerasbert has, become question marks."""
        if place + length > len(self._data):
            raise self._damage("a name past the end of the file")
        return "".join(chr(byte) if 32 <= byte <= 126 else "?" for byte in self._data[place : place + length])

    def _unreadable(self, member: _Member, reason: str) -> KerasBertError:
        return self._damage(f"{member.name} that cannot be read ({reason})")

    def _damage(self, received: str) -> KerasBertError:
        return metadata_error(self._name, received)
