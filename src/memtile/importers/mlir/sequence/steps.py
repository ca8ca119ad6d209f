"""Steps that several operations of a sequence make: writing a BD, patching, pushing, waiting."""

from __future__ import annotations

from functools import partial

from memtile.arch.register_map import register_at
from memtile.arch.tiles import DIRECTIONS, WORD_BYTES
from memtile.design.tile import Tile
from memtile.importers.mlir.configure import start_word
from memtile.importers.mlir.forms.operands import OperationForm
from memtile.importers.mlir.sequence.sequence_reader import Reader
from memtile.runs.firmware import PATCH
from memtile.runs.operations import BlockWrite, MaskWrite, Other, Write, address_of
from memtile.runs.waits import WAIT


def whole_words(form: OperationForm, count: int) -> int:
    """Bytes as 32-bit words.

    Raises:
        InputFileError: they are not whole.
    """
    words, rest = divmod(count, WORD_BYTES)
    if rest:
        raise form.error(
            f"{count} bytes are no whole 32-bit words", "a multiple of 4 bytes", reason="mlir_words"
        )
    return words


def write_bd(reader: Reader, form: OperationForm, tile: Tile, number: int, words: list[int]) -> None:
    """Write a BD.

    Raises:
        InputFileError: the tile has no BD of that number.
    """
    assert tile.place is not None
    if not 0 <= number < tile.kind.bds:
        says = f"the {tile.title} has no BD {number}"
        raise form.error(says, f"0..{tile.kind.bds - 1}", reason="mlir_bds", given=str(number))
    at = address_of(*tile.place, tile.kind.bd_base + number * tile.kind.bd_stride)
    reader.emit(form, partial(BlockWrite, at, tuple(words)))


def patch(reader: Reader, form: OperationForm, tile: Tile, number: int, argument: int, offset: int) -> None:
    """Give a BD the address of an argument, from a byte of it on.

    Raises:
        InputFileError: a byte before it.
    """
    if offset < 0:
        says = f"what it moves of argument {argument} begins {-offset} bytes before it"
        raise form.error(says, "offsets of 0 or more", reason="mlir_offset", given=str(offset))
    said = (("address", _register(tile, number)[0]), ("argument", argument), ("offset", offset))
    reader.emit(form, partial(Other, PATCH, b"", said))


def set_address(reader: Reader, form: OperationForm, tile: Tile, number: int, address: int) -> None:
    """Give a BD the address of a buffer in the tile's own memory, as its DMA sees it (DEV-MLIR-4)."""
    at, low, mask = _register(tile, number)
    value = whole_words(form, address) << low & mask
    reader.emit(form, partial(MaskWrite, at, mask, value))


def _register(tile: Tile, number: int) -> tuple[int, int, int]:
    """The register that has the lower half of a BD's address; its lowest bit there, and the bits of it."""
    assert tile.place is not None
    word, msb, lsb = tile.kind.bd_fields["Base_Address"].parts[0]
    at = tile.kind.bd_base + number * tile.kind.bd_stride + word * WORD_BYTES
    return address_of(*tile.place, at), lsb, (1 << (msb + 1)) - (1 << lsb)


def push(
    reader: Reader,
    form: OperationForm,
    tile: Tile,
    port: tuple[int, int],
    number: int,
    runs: int,
    *,
    token: bool,
) -> None:
    """Start a BD on a channel, direction and number; a token carries the id that the tile has for it.

    Nothing waits before it for room in the queue (DEV-MLIR-5).

    Raises:
        InputFileError: more runs than a task can have.
    """
    direction, channel = port
    kind = tile.kind
    if not 0 <= channel < kind.channels:
        says = f"the {tile.title} has no channel {channel}"
        raise form.error(says, f"0..{kind.channels - 1}", reason="mlir_channel", given=str(channel))
    if not 1 <= runs <= kind.max_repeat:
        raise form.error(f"{runs} runs of a task", f"1..{kind.max_repeat}", reason="mlir_repeat")
    offset, word = start_word(tile, (DIRECTIONS[direction], channel), number, runs, token=token)
    assert tile.place is not None
    controller = reader.controllers.get(tile.place)
    if token and controller is not None:
        _controller(reader, form, tile, direction * kind.channels + channel, controller)
    at = address_of(*tile.place, offset)
    reader.emit(form, partial(Write, at, word))


def wait(
    reader: Reader,
    form: OperationForm,
    place: tuple[int, int],
    direction: int,
    channel: int,
    many: tuple[int, int] = (1, 1),
) -> None:
    """Wait for a token of a channel of each tile of a rectangle."""
    said = {"column": place[0], "row": place[1], "direction": direction, "channel": channel}
    details = (*said.items(), ("columns", many[0]), ("rows", many[1]))
    reader.emit(form, partial(Other, WAIT, b"", details))


def _controller(reader: Reader, form: OperationForm, tile: Tile, local: int, controller: int) -> None:
    """Say which id the tokens of a channel carry."""
    assert tile.place is not None
    offset = tile.kind.control_base + local * tile.kind.channel_stride
    register = register_at(tile.kind.name, offset)
    assert register is not None
    lowest = register.field("Controller_ID").lsb
    mask, value = ((1 << reader.habits.id_bits) - 1) << lowest, controller << lowest
    at = address_of(*tile.place, offset)
    reader.emit(form, partial(MaskWrite, at, mask, value))
