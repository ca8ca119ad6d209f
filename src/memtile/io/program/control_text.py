"""Control code of AMD's assembler for NPUs as text, one operation a line, as ``.ctrltext.asm`` files have it.

Both spellings are read: that of the assembler (aiebu, XRT), ``XAIE_IO_MASKPOLL @0x801d228, 0x78003c()==0x0``
with the words of a block in lines of their own, and the older one of its disassembler, where all operands are
in a row. Names are those of transactions; a comment begins with a semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from memtile.errors import InputFileError, Problem, raise_if
from memtile.io.program.transaction_format import CUSTOMS, FIXED
from memtile.runs.operations import WORD_MAX, BlockWrite, MaskPoll, MaskWrite, Operation, Other, Write

SOURCE = "the assembler of AMD's aiebu"
_PREFIX = "XAIE_IO_"
_BEGINS = re.compile(r"^\s*XAIE_(IO|CONFIG)_\w", re.IGNORECASE | re.MULTILINE)
_LEVELS = ("NOOP", "MEM_TILE", "AIE_TILE", "AIE_REGISTERS", "INVALID")
_DIRECTIONS = ("DMA_S2MM", "DMA_MM2S")
_NUMBER = r"0x[0-9a-f][0-9a-f_]{0,31}|\d{1,20}"
_NUMBERS = re.compile(_NUMBER, re.IGNORECASE)
_ACTS = {kind.name: kind.acts for kind in (*FIXED.values(), *(kinds[0] for kinds in CUSTOMS.values()))}
_BLOCK = re.compile(
    rf"@({_NUMBER})\s*,\s*(?:\[\s*(\d{{1,9}})\s*\]|(?:{_NUMBER})(?:\s*,\s*(?:{_NUMBER}))*)", re.IGNORECASE
)
_LARGEST = (1 << 64) - 1
_OPERATION = "operation"
_SHOWN = 60  # characters of a line in a message
Make = Callable[[list[int], str], Operation]


def _form(pattern: str) -> re.Pattern[str]:
    """The operands of an operation: ``N`` stands for a number, blanks for any white space or none."""
    return re.compile(pattern.replace(" ", r"\s*").replace("N", f"({_NUMBER})"), re.IGNORECASE)


def _number(text: str) -> int:
    """The number that a text matching ``_NUMBER`` says."""
    return int(text.replace("_", ""), 16 if text[:2].lower() == "0x" else 10)


def _other(name: str, *fields: str) -> Make:
    return lambda n, place: Other(name, b"", tuple(zip(fields, n, strict=True)), _ACTS[name], place=place)


def _wait(numbers: list[int], place: str) -> Operation:
    row, rows, column, columns, direction, channel = numbers
    said = {"direction": direction, "row": row, "column": column, "rows": rows, "columns": columns}
    return Other("TOKEN_WAIT", b"", (*said.items(), ("channel", channel)), place=place)


_MASKED = r"@N, N(?: \( \))? (?:==|,) N"
_FORMS: Mapping[str, tuple[str, re.Pattern[str], Make]] = MappingProxyType(
    {
        name: (shown, _form(pattern), make)
        for name, shown, pattern, make in (
            ("WRITE", "@ADDRESS, WORD", "@N, N", lambda n, p: Write(n[0], n[1], place=p)),
            (
                "MASKWRITE",
                "@ADDRESS, MASK(), WORD",
                r"@N, N(?: \( \))? , N",
                lambda n, p: MaskWrite(n[0], n[1], n[2], place=p),
            ),
            ("MASKPOLL", "@ADDRESS, MASK()==WORD", _MASKED, lambda n, p: MaskPoll(n[0], n[1], n[2], place=p)),
            (
                "MASKPOLL_BUSY",
                "@ADDRESS, MASK()==WORD",
                _MASKED,
                lambda n, p: MaskPoll(n[0], n[1], n[2], busy=True, place=p),
            ),
            ("NOOP", "no operands", "", _other("NOOP")),
            ("PREEMPT", "#LEVEL", "#?N", _other("PREEMPT", "level")),
            ("LOADPDI", "#ID, BYTES, ADDRESS", "#?N, N, N", _other("LOADPDI", "id", "bytes", "address")),
            ("LOAD_PM_START", "COUNT, #ID", "N, #?N", lambda n, p: _other("LOAD_PM_START", "id")(n[1:], p)),
            (
                "CUSTOM_OP_TCT",
                "R[ROW]+ROWS, C[COLUMN]+COLUMNS, #DIRECTION, CHANNEL",
                r"R\[ N \] \+ N, C\[ N \] \+ N, #?N, N",
                _wait,
            ),
            (
                "CUSTOM_OP_DDR_PATCH",
                "@ADDRESS, #ARGUMENT, +OFFSET",
                r"@N, #?N, \+?N",
                _other("DDR_PATCH", "address", "argument", "offset"),
            ),
            ("CUSTOM_OP_RECORD_TIMER", "#ID", "(?:#?N)?", lambda _, p: _other("RECORD_TIMER")([], p)),
            ("CUSTOM_OP_READ_REGS", "any operands", ".*", lambda _, p: _other("READ_REGS")([], p)),
            (
                "CUSTOM_OP_MERGE_SYNC",
                "C[COLUMNS]==TOKENS",
                r"(?:C\[ N \] == N)?",
                lambda _, p: _other("MERGE_SYNC")([], p),
            ),
        )
    }
)


def looks_like_control_text(text: str) -> bool:
    """Whether a line of it begins with an operation of the assembler."""
    return bool(_BEGINS.search(text))


def read_control_text(text: str, name: str = "control code") -> tuple[Operation, ...]:
    """The operations of a text.

    Args:
        text: lines of operations, directives and comments.
        name: of the file, for places and messages.

    Raises:
        InputFileError: lines that are none; all of them at once.
    """
    reader = _ControlReader(name)
    for number, line in enumerate(text.splitlines(), 1):
        if stripped := line.partition(";")[0].strip():
            reader.take(stripped, f"{name}, line {number}")
    reader.end_block()
    raise_if(reader.problems, InputFileError)
    return tuple(reader.operations)


class _ControlReader:
    """What was read so far, and a block whose words are still to come."""

    def __init__(self, name: str) -> None:
        self.operations: list[Operation] = []
        self.problems: list[Problem] = []
        self._name = name
        self._block: tuple[int, int, str] | None = None  # address, words, place
        self._words: list[int] = []

    def take(self, line: str, place: str) -> None:
        """Read a line that is not empty."""
        mnemonic, _, operands = line.partition(" ") if " " in line else line.partition("\t")
        called, operands = mnemonic.upper().rstrip(",").removeprefix(_PREFIX), operands.strip()
        if self._block is not None and called.startswith("BLOCKWRITE."):
            self._take_word(called, operands, place)
            return
        self.end_block()
        if called == "BLOCKWRITE":
            self._begin_block(operands, place)
        elif called in _FORMS:
            self._take_operation(called, operands, place)
        elif called != ".ATTACH_TO_GROUP":  # which part of the array it is for is in the addresses
            known = ", ".join(f"{_PREFIX}{each}" for each in (*_FORMS, "BLOCKWRITE"))
            self._wrong(place, _OPERATION, mnemonic, known)

    def _take_operation(self, called: str, operands: str, place: str) -> None:
        shown, form, make = _FORMS[called]
        named = operands.upper()
        for names in (_LEVELS, _DIRECTIONS):
            for number, each in enumerate(names):
                named = re.sub(rf"#?\b{each}\b", f"#{number}", named)
        found = form.fullmatch(named)
        if found is None or (numbers := self._numbers(found.groups(), called, place)) is None:
            if found is None:
                self._wrong(place, called, operands or "no operands", shown)
            return
        self.operations.append(make(numbers, place))

    def _numbers(self, texts: Iterable[str | None], called: str, place: str) -> list[int] | None:
        """The numbers of an operation; all but addresses and offsets are words."""
        numbers = [_number(text) for text in texts if text is not None]
        large = _LARGEST if called in ("LOADPDI", "CUSTOM_OP_DDR_PATCH") else WORD_MAX
        wrong = next((number for number in numbers if number > large), None)
        if wrong is None:
            return numbers
        self._wrong(place, called, hex(wrong), f"0x0..{large:#x}")
        return None

    def _begin_block(self, operands: str, place: str) -> None:
        found = _BLOCK.fullmatch(operands)
        if found is None:
            self._wrong(place, "BLOCKWRITE", operands or "no operands", "@ADDRESS, [COUNT] or words")
        elif found[2] is not None:
            self._block = _number(found[1]), int(found[2]), place
        elif (numbers := self._numbers(_NUMBERS.findall(operands), "BLOCKWRITE", place)) is not None:
            self.operations.append(BlockWrite(numbers[0], tuple(numbers[1:]), place=place))

    def _take_word(self, called: str, operands: str, place: str) -> None:
        expected = f"BLOCKWRITE.{len(self._words)}"
        words = self._numbers([operands], called, place) if _NUMBERS.fullmatch(operands) else []
        if called == expected and words:
            self._words += words
            return
        if words is not None:
            self._wrong(place, expected, f"{called} {operands}".strip(), f"{expected} WORD")
        self._block, self._words = None, []

    def end_block(self) -> None:
        """A block that was begun has all of its words, or they are missing."""
        if self._block is None:
            return
        address, count, place = self._block
        if len(self._words) == count and count > 0:
            self.operations.append(BlockWrite(address, tuple(self._words), place=place))
        else:
            given = f"a block with {len(self._words)} words"
            self._wrong(place, "BLOCKWRITE", given, f"{max(count, 1)} words, as it says")
        self._block, self._words = None, []

    def _wrong(self, place: str, called: str, given: str, allowed: str) -> None:
        self.problems.append(
            Problem(
                called if called == _OPERATION else f"{_PREFIX}{called}",
                given[:_SHOWN],
                allowed,
                reason="control_text",
                where=place,
                source=SOURCE,
            )
        )
