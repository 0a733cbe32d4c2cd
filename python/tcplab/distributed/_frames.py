"""The entries of ``groups.bin`` and ``rows.bin``: length, checksum, content, which begins with the group's number."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

__all__ = ["entries"]

#: Bytes of the length, and of the checksum after it.
LENGTH = 4
CHECK = 8


def entries(data: bytes) -> Iterator[tuple[int, memoryview]]:
    """The number of each group, and its whole entry, up to the first one that is damaged."""
    view = memoryview(data)
    at = 0
    while at + LENGTH + CHECK <= len(view):
        begin = at + LENGTH + CHECK
        end = begin + int.from_bytes(view[at : at + LENGTH], "little")
        content = view[begin:end]
        if end > len(view) or hashlib.sha256(content).digest()[:CHECK] != bytes(view[at + LENGTH : begin]):
            return
        yield number(content), view[at:end]
        at = end


def number(content: memoryview) -> int:
    """The first whole number, in LEB128."""
    out = 0
    for place, byte in enumerate(content[:5]):
        out |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    return out
