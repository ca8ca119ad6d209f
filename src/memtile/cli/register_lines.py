"""What ``memtile info NAME`` prints: a register with its fields, or a short list of what a name may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from memtile.arch.registers import Access
from memtile.report.register_lookup import Found, FoundNumber, FoundRegister

_ROWS = 20
"""Rows of a list."""
_WIDTH = 80
_ACCESS = {
    Access.RW: "read and write",
    Access.RO: "read only",
    Access.WO: "write only",
    Access.WTC: "write 1 to clear",
    Access.SELF_CLEARING: "read and write, cleared by the hardware",
    Access.READ_ACTS: "a read has an effect",
    Access.MIXED: "access by field",
}
_NUMBERS = re.compile(r"(?<!S)(?<!MM)\d+")  # all but those of S2MM and MM2S


def lines_of(found: Found) -> Iterator[str]:
    """The text for a terminal of 80 columns, at most some 50 lines."""
    if found.exact:
        for each in found.registers:
            yield from _card(each, found.device)
            yield ""
    elif found.registers:
        yield from _listed(found.registers, found.device)
    if found.numbers:
        yield from _numbered(found.numbers)


def _card(found: FoundRegister, device: str) -> Iterator[str]:
    row = found.register
    if found.place is None:
        where = f"{device}, {found.kind.title}, offset 0x{row.offset:05X}"
    else:
        column, line = found.place
        where = f"{device}, {found.kind.title} ({column},{line}), address 0x{found.address:X}"
    yield f"{row.name}  [{where}]"
    inside = found.offset - row.offset
    if 0 < inside < row.span:
        yield f"  byte 0x{inside:X} of a window of 0x{row.span:X} bytes from 0x{row.offset:05X}"
    elif inside:
        yield f"  also at offset 0x{row.offset:05X}"
    access = "" if row.is_memory or not row.fields else f"{_ACCESS[row.access]}; reset 0x{row.reset:X}; "
    yield from _folded(f"{access}{found.does}.", "  ")
    if row.fields and not row.is_memory:
        codes = row.access is Access.MIXED
        yield "  bits   reset   " + ("access  " if codes else "") + "field"
        for field in row.fields:
            bits = f"{field.msb}:{field.lsb}" if field.msb > field.lsb else str(field.msb)
            code = f"{field.access.value:<8}" if codes else ""
            yield f"  {bits:<7}{f'0x{field.get(row.reset):X}':<8}{code}{field.name}"
    called = f"; in the driver {found.driver_name}" if found.driver_name.upper() != row.name.upper() else ""
    yield from _folded(f"Source: {found.source}{called if found.driver_name else ''}.", "  ")


def _folded(text: str, indent: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _listed(rows: Sequence[FoundRegister], device: str) -> Iterator[str]:
    """Families of registers that differ by numbers in their names, one in a line."""
    families: dict[tuple[str, str], list[FoundRegister]] = {}
    for each in rows:
        families.setdefault((each.kind.role, _NUMBERS.sub("#", each.register.name)), []).append(each)
    yield f"{len(rows)} register{'s' * (len(rows) > 1)} of {device} fit; give a full name, or --tile:"
    shown = [(_family(pattern, of), of) for (_, pattern), of in families.items()][:_ROWS]
    width = max(len(name) for name, _ in shown)
    for name, of in shown:
        first = of[0]
        head = f"  {name:<{width}}  {first.kind.role:<9}  0x{first.register.offset:05X}  "
        yield _cut(head + first.does)
    if len(families) > _ROWS:
        yield f"  ... and {len(families) - _ROWS} more; give more of the name"


def _family(pattern: str, rows: Sequence[FoundRegister]) -> str:
    """``Lock#_value x64``, or the name of the only register."""
    return rows[0].register.name if len(rows) == 1 else f"{pattern} x{len(rows)}"


def _numbered(rows: Sequence[FoundNumber]) -> Iterator[str]:
    width = max(len(each.name) for each in rows[:_ROWS])
    for each in rows[:_ROWS]:
        yield _cut(f"{each.name:<{width}}  {each.number:>3}  {each.what} of the {each.kind.title}")
    if len(rows) > _ROWS:
        yield f"... and {len(rows) - _ROWS} more; give more of the name, or --tile"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 3].rstrip()}..."


def text_of(found: Found) -> str:
    """The lines as one text."""
    return "\n".join(_without_last(lines_of(found)))


def _without_last(lines: Iterable[str]) -> list[str]:
    done = [*lines]
    while done and not done[-1]:
        done.pop()
    return done
