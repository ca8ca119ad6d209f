"""Addresses for buffers that have none, by the rules of mlir-aie's pass (aie-assign-buffer-addresses).

A build looks for a bank for each buffer in turn, the largest first, and, if that does not work out, puts them
one behind the other. A tile or an option of aiecc may ask for one of the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.importers.mlir.description import BufferDescription, DeviceDescription, TileDescription
from memtile.importers.mlir.descriptors import element_bytes
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.overlay import run_lines

_BANKS = {"memory": 8, "compute": 4}  # of mlir-aie's allocator, which pairs those of the hardware (DEV-MEM-1)
_ALIGNED = {"memory": WORD_BYTES, "compute": 32}  # bytes (mlir-aie: width of the load and store bus)
BASIC, BANKED = "basic-sequential", "bank-aware"
_OPTION = "alloc-scheme="


@dataclass(slots=True)
class _Piece:
    """A buffer to be placed.

    Attributes:
        buffer: as the text has it.
        nbytes: of it.
        step: its address is a multiple of so many bytes.
        at: its address.
        bank: of the allocator.
    """

    buffer: BufferDescription
    nbytes: int
    step: int
    at: int | None
    bank: int | None

    @property
    def end(self) -> int:
        """The byte behind it."""
        assert self.at is not None
        return self.at + self.nbytes

    def after(self, address: int) -> int:
        """The first address from there on that it may have."""
        return -(-address // self.step) * self.step


def place_buffers(device: DeviceDescription, kinds: Mapping[str, TileKind], declared: Sequence[str]) -> None:
    """Give each buffer of a tile its address.

    Where neither way finds room for what would fit, the addresses are those of the second, which the memory
    refuses.

    Args:
        device: whose buffers get addresses.
        kinds: kind of each tile, by the name of its value.
        declared: buffers that the text declares; the others come from object FIFOs, in the order in which
            these were lowered.

    Raises:
        InputFileError: a scheme that mlir-aie does not have, banks without room where it must be banks, or
            more buffers than the memory holds.
    """
    stacks = {core.tile: core.stack for core in device.cores}
    inside: defaultdict[str, list[BufferDescription]] = defaultdict(list)
    for name in _order(device, declared):
        if device.buffers[name].tile:
            inside[device.buffers[name].tile].append(device.buffers[name])
    for tile, buffers in inside.items():
        kind, stack = kinds[tile], stacks.get(tile, 0)
        if kind.role not in _BANKS or all(buffer.address is not None for buffer in buffers):
            continue
        pieces = [_piece(buffer, kind) for buffer in buffers]
        scheme = _scheme(device, tile)
        if scheme == BASIC or not _by_banks(pieces, kind, stack):
            if scheme == BANKED:
                says = f"the {_BANKS[kind.role]} banks of the {kind.title} have no room for its buffers"
                step = f'Leave out {BANKED}, or ask for allocation_scheme = "{BASIC}".'
                form = OperationForm(device.tiles[tile].operation)
                raise form.error(says, "buffers within banks", reason="mlir_buffer", step=step)
            _check_room(pieces, device.tiles[tile], kind, stack)
            _in_sequence(pieces, stack)
        for piece in pieces:
            piece.buffer.address = piece.at


def _check_room(pieces: Sequence[_Piece], tile: TileDescription, kind: TileKind, stack: int) -> None:
    """Refuse buffers that are larger than the memory of their tile, however they are placed."""
    total = stack + sum(piece.nbytes for piece in pieces)
    if total <= kind.memory_bytes:
        return
    groups: defaultdict[str, list[_Piece]] = defaultdict(list)
    for piece in pieces:
        groups[piece.buffer.name.rpartition("_buff_")[0] or piece.buffer.name].append(piece)
    ordered = sorted(groups.items(), key=lambda group: -sum(piece.nbytes for piece in group[1]))
    parts = [f"{name} {len(group)} x {group[0].nbytes:,}" for name, group in ordered]
    parts += [f"stack {stack:,}"] if stack else []
    place = "({},{})".format(*tile.place) if tile.place is not None else tile.name
    raise OperationForm(ordered[0][1][0].buffer.operation).error(
        f"the buffers of {kind.title} {place} need {total:,} bytes, its memory has "
        f"{kind.memory_bytes:,}: {', '.join(parts)}",
        f"at most {kind.memory_bytes} bytes",
        given=f"{total} bytes",
        reason="buffer_fit",
        step="Make the buffers smaller, or reduce the depth of object FIFOs.",
    )


def _piece(buffer: BufferDescription, kind: TileKind) -> _Piece:
    nbytes = element_bytes(OperationForm(buffer.operation), buffer.shape) * buffer.shape.elements
    step = _ALIGNED[kind.role] if buffer.aligned else 1
    return _Piece(buffer, nbytes, step, buffer.address, buffer.bank)


def _order(device: DeviceDescription, declared: Sequence[str]) -> list[str]:
    """The buffers in the order in which they stand after the object FIFOs are lowered.

    Those of a FIFO are put behind the last tile, before those of the FIFO that was lowered before it.
    """
    last = max((tile.operation.at for tile in device.tiles.values()), default=0)
    before = [name for name in declared if device.buffers[name].operation.at < last]
    made: dict[str, list[str]] = {}
    for name in device.buffers:
        if name not in declared:
            made.setdefault(name.rpartition("_buff_")[0], []).append(name)
    after = [name for name in declared if name not in before]
    return [*before, *(name for group in reversed(made.values()) for name in group), *after]


def _scheme(device: DeviceDescription, tile: str) -> str:
    """The scheme that a tile or the line that calls the compiler asks for; empty = one after the other."""
    found = OperationForm(device.tiles[tile].operation).attributes.get("allocation_scheme")
    if found is None:
        lines = " ".join(run_lines(device))
        return next((each for each in (BASIC, BANKED) if _OPTION + each in lines), "")
    if found not in (BASIC, BANKED, ""):
        allowed = f"{BASIC} or {BANKED}"
        raise OperationForm(device.tiles[tile].operation).error(f"the allocation scheme is {found}", allowed)
    return str(found)


def _by_banks(pieces: Sequence[_Piece], kind: TileKind, stack: int) -> bool:
    """Each buffer in the next bank that has room for it; whether all found one.

    Those of one size come in their order (DEV-MLIR-8).
    """
    banks, size = _BANKS[kind.role], kind.memory_bytes // _BANKS[kind.role]
    free = [n * size for n in range(banks)]
    free[0] += stack
    given = [piece for piece in pieces if piece.at is not None]
    for piece in sorted(given, key=lambda piece: piece.at or 0):
        bank = (piece.at or 0) // size
        if bank >= banks or (piece.at or 0) < free[bank] or piece.bank not in (None, bank):
            return False
        free[bank] = piece.end
    for piece in pieces:
        wanted = piece.bank if piece.at is None else None
        if wanted is not None and not (0 <= wanted < banks and _into_bank(piece, wanted, free, size)):
            return False
    made: list[_Piece] = []
    turn = 0
    for piece in sorted((each for each in pieces if each.at is None), key=lambda each: -each.nbytes):
        tried = ((turn + n) % banks for n in range(banks))
        bank = next((n for n in tried if _into_bank(piece, n, free, size)), -1)
        if bank < 0:
            for each in made:
                each.at = None
            return False
        made.append(piece)
        turn = (bank + 1) % banks
    return all(place <= (n + 1) * size for n, place in enumerate(free)) and _apart(pieces, stack)


def _into_bank(piece: _Piece, bank: int, free: list[int], size: int) -> bool:
    """Place a buffer behind what a bank has already; whether it has room for it."""
    start = piece.after(free[bank])
    if start + piece.nbytes > (bank + 1) * size:
        return False
    piece.at, free[bank] = start, start + piece.nbytes
    return True


def _apart(pieces: Sequence[_Piece], stack: int) -> bool:
    """Whether no two buffers overlap, nor one the stack."""
    spans = sorted((piece.at or 0, piece.end) for piece in pieces)
    ends = [stack, *(end for _, end in spans)]
    return all(end <= start for end, (start, _) in zip(ends, spans, strict=False))


def _in_sequence(pieces: Sequence[_Piece], stack: int) -> None:
    """The largest first, one behind the other, past those that have an address."""
    given = sorted((piece for piece in pieces if piece.at is not None), key=lambda piece: piece.at or 0)
    address = stack
    for piece in sorted((each for each in pieces if each.at is None), key=lambda each: -each.nbytes):
        address = piece.after(address)
        while given and address + piece.nbytes > (given[0].at or 0):
            address = piece.after(given.pop(0).end)
        piece.at, address = address, address + piece.nbytes
