"""``aiex.control_packet``: a register access that a host sends through the array as a packet.

mlir-aie makes a file of them, ``ctrlpkt.bin``, which the host passes as one more argument behind those of the
sequence, and sends them from there one by one: stream header, control header, data, as one transfer each
(aie-legalize-ctrl-packet, aie-ctrl-packet-to-dma). Here the words are that argument too, unless one is given.
"""

from __future__ import annotations

from memtile.arch.packets import CONTROL_HEADER, PacketOperation, control_header, stream_header
from memtile.arch.registers import field_of
from memtile.arch.tiles import MM2S, WORD_BYTES
from memtile.bd.codec import encode
from memtile.bd.descriptor import Axi, Descriptor
from memtile.bd.windows import DmaAddress
from memtile.importers.mlir.overlay import allocation_name, channel_for, controller_id
from memtile.importers.mlir.sequence.sequence_reader import Call, Reader
from memtile.importers.mlir.sequence.steps import patch, push, wait, write_bd
from memtile.runs.operations import locate

_MOST = field_of(CONTROL_HEADER, "Beats").maximum + 1
_WORD = (1 << 32) - 1
_BD = 0


def control_packet(reader: Reader, form: Call) -> None:
    """``aiex.control_packet {address, data = array<i32: 1>, opcode = 0, stream_id = 0}``.

    Raises:
        InputFileError: an operation that control packets do not have, no data, or no channel that sends them.
    """
    column, row, offset = locate(form.number("address"))
    operation, data = _operation(form), _data(form)
    length = len(data) or form.number("length")
    if not data and not 1 <= length <= _MOST:
        says = f"{length} words are to be read; a control packet reads {_MOST}"
        raise form.error(says, f"1..{_MOST} words", reason="mlir_control_packet")
    for first in range(0, length, _MOST):
        part = data[first : first + _MOST]
        beats, address = len(part) or length, offset + first * WORD_BYTES
        header = control_header(operation, address, beats, _response(form))
        _send(reader, form, (column, row), [header, *part])


def _operation(form: Call) -> PacketOperation:
    given = form.number("opcode")
    if given not in tuple(PacketOperation):
        says = f"{given} is no operation of control packets"
        raise form.error(
            says, ", ".join(f"{n.value} ({n.name})" for n in PacketOperation), reason="mlir_opcode"
        )
    return PacketOperation(given)


def _response(form: Call) -> int:
    given, most = form.number("stream_id"), field_of(CONTROL_HEADER, "Response_ID").maximum
    if not 0 <= given <= most:
        says = f"its stream_id is {given}"
        raise form.error(says, f"0..{most}, what the header has room for", reason="mlir_control_packet")
    return given


def _data(form: Call) -> list[int]:
    if "data" not in form.attributes and "length" not in form.attributes:
        says = "it has neither data nor a length"
        raise form.error(says, "data = array<i32: ..>, or length", reason="mlir_control_packet")
    return [word & _WORD for word in form.integers("data")] if "data" in form.attributes else []


def _send(reader: Reader, form: Call, place: tuple[int, int], words: list[int]) -> None:
    """Send words to the control port of a tile, behind a header with its id; wait until they are read."""
    chip = reader.made.array.device
    described = next((each for each in reader.made.device.tiles.values() if each.place == place), None)
    if described is None:
        says = f"no tile of the text is at column {place[0]}, row {place[1]}"
        raise form.error(says, "a tile to which control packets are routed", reason="mlir_control_packet")
    name = allocation_name(place[0], channel_for(chip, place[1]))
    tile, _, channel = form.allocated(name)
    packet = [stream_header(controller_id(described, chip)), *words]
    start = len(reader.packets) * WORD_BYTES
    reader.packets += packet
    axi = Axi(max(tile.kind.bd_fields["Burst_Length"].codes), cache=reader.habits.cache)
    bd = Descriptor(tile.kind.name, len(packet), DmaAddress(0), axi=axi)
    write_bd(reader, form, tile, _BD, list(encode(bd, _BD)))
    patch(reader, form, tile, _BD, reader.arguments, start)
    push(reader, form, tile, (MM2S, channel), _BD, 1, token=True)
    assert tile.place is not None
    wait(reader, form, tile.place, MM2S, channel)
