"""What the register tables say a replayed driver call leaves behind: an independent register file.

It knows the oracle's tables and driver.md-level facts only, no timing: no clock runs during a replay.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, Protocol

from support.formats.oracle_files import load

MODULES = {"memory": ("memory_tile",), "compute": ("memory", "core"), "interface": ("noc", "pl")}
MEMORY_BYTES = {"memory": 0x80000, "compute": 0x10000, "interface": 0}
WINDOW = {"memory": 0xD0000, "compute": 0x40000, "interface": 0x40000}
LOCKS = {"memory": (0xC0000, 64), "compute": (0x1F000, 16), "interface": (0x14000, 16)}
QUEUES = {"memory": (0xA0600, 12), "compute": (0x1DE00, 4), "interface": (0x1D200, 4)}
STATUS = {"memory": (0xA0660, 0xA0680), "compute": (0x1DF00, 0x1DF10), "interface": (0x1D220, 0x1D228)}
UNDESCRIBED = {0x36060: 0b11, 0x36070: 0}  # core registers that the driver writes: bits that keep
CORE_TRACE_STATUS = 0x340D8
ONES = 0xFFFF_FFFF


class Target(Protocol):
    """Something that answers at offsets ``column << 25 | row << 20 | register``."""

    def write32(self, address: int, value: int) -> None: ...
    def mask_write32(self, address: int, mask: int, value: int) -> None: ...
    def read32(self, address: int) -> int: ...


class Register(NamedTuple):
    name: str
    reset: int
    masks: dict[str, int]

    def mask(self, *accesses: str) -> int:
        return sum(self.masks.get(access, 0) for access in accesses)


@cache
def registers(tile: str) -> dict[int, Register]:
    found = {}
    for entry in (entry for module in MODULES[tile] for entry in load("registers")["modules"][module]):
        masks: dict[str, int] = {}
        for name, msb, lsb, access in entry["fields"]:
            if name != "Reserved":
                access = access or "rw"
                masks[access] = masks.get(access, 0) | (1 << msb + 1) - (1 << lsb)
        found[entry["offset"]] = Register(entry["name"], entry["reset"] or 0, masks)
    if tile == "compute":
        found |= {offset: Register("undescribed", 0, {"rw": mask}) for offset, mask in UNDESCRIBED.items()}
    return found


class RegisterFile:
    """Values that reads should return, by absolute offset.

    ``memory_rows`` says which rows hold memory tiles.
    """

    def __init__(self, memory_rows: range = range(1, 2)) -> None:
        self._memory_rows = memory_rows
        self.values: dict[int, int] = {}
        self.pushes: dict[int, int] = {}  # by status register

    def tile(self, address: int) -> str:
        row = address >> 20 & 0x1F
        return "interface" if row == 0 else "memory" if row in self._memory_rows else "compute"

    def register(self, address: int) -> Register | None:
        """The described register at ``address``; None in data memory and the lock request window."""
        tile, offset = self.tile(address), address & 0xFFFFF
        if offset < MEMORY_BYTES[tile] or WINDOW[tile] <= offset < WINDOW[tile] + 0x400 * LOCKS[tile][1]:
            return None
        return registers(tile)[offset]

    def live(self, address: int) -> bool:
        """Whether hardware, not software, decides what a read gives."""
        register = self.register(address)
        return register is not None and register.name.startswith(("DMA_S2MM_Status", "DMA_MM2S_Status"))

    def read(self, address: int) -> int:
        register = self.register(address)
        if register is None:
            return self.request(address) if self._requests(address) else self.values.get(address, 0)
        if self.tile(address) == "compute" and address & 0xFFFFF == CORE_TRACE_STATUS:
            return self.values.get(address - 8, 0) & 3  # the mode of Trace_Control0; no trace runs
        return self.values.get(address, register.reset) & register.mask("rw", "ro", "wtc")

    def write(self, address: int, value: int) -> None:
        register = self.register(address)
        if register is None:
            if not self._requests(address):
                self.values[address] = value
            return
        held, kept = self.values.get(address, register.reset), register.mask("rw")
        self.values[address] = (held & ~kept | value & kept) & ~(register.mask("wtc") & value)
        self._partner(address, register, value)
        self._queue(address, value)
        if register.name == "AIE_Tile_Column_Reset" and value & 1:
            self._reset_above(address)

    def _reset_above(self, interface: int) -> None:
        """The tiles above an interface tile are reset, but for their data memory."""
        for table in (self.values, self.pushes):
            for at in [at for at in table if at >> 25 == interface >> 25 and at >> 20 != interface >> 20]:
                if self.register(at) is not None:
                    del table[at]

    def request(self, address: int) -> int:
        """An attempt at the lock request window: condition, change, 0..63."""
        tile, offset = self.tile(address), address & 0xFFFFF
        base, _ = LOCKS[tile]
        lock = (offset - WINDOW[tile]) // 0x400
        operand = offset >> 2 & 0x7F
        operand -= 128 if operand & 0x40 else 0
        at = address - offset + base + lock * 0x10
        value = self.values.get(at, 0) & 0x3F
        if offset & 0x200:
            if value < -operand if operand < 0 else value != operand:
                return 0
            operand = -abs(operand)
        self.values[at] = max(0, min(63, value + operand))
        return 1

    def _requests(self, address: int) -> bool:
        tile, offset = self.tile(address), address & 0xFFFFF
        return WINDOW[tile] <= offset < WINDOW[tile] + 0x400 * LOCKS[tile][1]

    def _partner(self, address: int, register: Register, value: int) -> None:
        for word, partner, distance in (("_Set", "_Value", 8), ("_Clr", "_Value", 4)):
            if register.name.endswith(word):
                at = address + distance
                other = self.register(at)
                assert other is not None
                assert other.name == register.name.replace(word, partner)
                held = self.values.get(at, other.reset)
                self.values[at] = (held | value if word == "_Set" else held & ~value) & 0xFFFF

    def _queue(self, address: int, value: int) -> None:
        tile, offset = self.tile(address), address & 0xFFFFF
        first, channels = QUEUES[tile]
        ch, is_queue = divmod(offset - first, 8)
        if 0 <= ch < channels:
            base = STATUS[tile][ch >= channels // 2] + ch % (channels // 2) * 4
            at = address - offset + base
            if is_queue:
                self.pushes[at] = min(self.pushes.get(at, 0) + 1, 4)
            elif tile != "interface" and value & 0b10:
                self.pushes[at] = 0


def preset(pokes: list[list[int]], step: int, target: Target, file: RegisterFile) -> None:
    """Bring about what the recorder was told to answer, as far as software can: locks that are granted."""
    for at, address, _value in pokes:
        if at == step:
            register = file.register(address)
            if register is not None and register.mask("rw"):
                target.write32(address, _value)
                file.write(address, _value)
            elif register is None and address & 0x200:
                offset = address & 0xFFFFF
                base, _ = LOCKS[file.tile(address)]
                lock = address - offset + base + (offset - WINDOW[file.tile(address)]) // 0x400 * 0x10
                operand = offset >> 2 & 0x7F
                target.write32(lock, 128 - operand if operand & 0x40 else operand)
                file.write(lock, 128 - operand if operand & 0x40 else operand)


def replay(case: dict[str, Any], target: Target, file: RegisterFile) -> Iterator[tuple[int, int, int]]:
    """Do the operations of a case; gives (address, read, expected) of each read that software decides."""
    for step, (op, address, value, mask) in enumerate(case["writes"]):
        preset(case["pokes"], step, target, file)
        if op in ("R", "MP"):
            if file.live(address):
                yield address, target.read32(address) >> 20 & 7, file.pushes.get(address, 0)
            else:
                yield address, target.read32(address), file.read(address)
        elif op == "MW":
            target.mask_write32(address, mask, value)
            file.write(address, file.read(address) & ~mask & ONES | value & mask)
        else:
            target.write32(address, value)
            file.write(address, value)


def written(case: dict[str, Any]) -> list[int]:
    """Addresses that the case writes, once each."""
    return list(dict.fromkeys(address for op, address, _, _ in case["writes"] if op not in ("R", "MP")))
