"""Lines of the driver's simulator protocol: ``W 0X<16 hex> 0X<8 hex>``, ``R 0X<16 hex>``; ``0x<8 hex>``.

Source: the socket back end of AMD's open driver. It sends upper-case digits; both cases are read.
"""

from __future__ import annotations

import re
from typing import NamedTuple

NO_ANSWER = 0xFFFF_FFFF
"""Reply to a read that cannot be answered; the protocol has no error, and a 0 would look like success."""

_REQUEST = re.compile(rb"(?:W 0[xX]([0-9a-fA-F]{16}) 0[xX]([0-9a-fA-F]{8})|R 0[xX]([0-9a-fA-F]{16}))\n")
FORMS = "W 0X<16 hex digits> 0X<8 hex digits> and R 0X<16 hex digits>, each with a line feed"
"""What lines are, for messages."""


class Request(NamedTuple):
    """A well-formed line; ``value`` is None for a read."""

    address: int
    value: int | None


def parse(line: bytes) -> Request | None:
    """The request of a line, its line feed included; None when it is malformed."""
    found = _REQUEST.fullmatch(line)
    if found is None:
        return None
    address, value, read_address = found.groups()
    if read_address is not None:
        return Request(int(read_address, 16), None)
    return Request(int(address, 16), int(value, 16))


def reply(value: int) -> bytes:
    """The answer to a read; 11 bytes."""
    return f"0x{value:08x}\n".encode("ascii")
