"""The machine that the lines of a lowering test expect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

from memtile.importers.mlir.types import shaped
from support.lowering.filecheck import ANY, CheckLine
from support.lowering.machines import (
    BdPart,
    BufferPart,
    ChainPart,
    ChannelPart,
    FlowPart,
    LockAction,
    LockPart,
    Machine,
    Place,
)

_VALUE = rf"[%{ANY}][^\s,():]*"
_RESULT = re.compile(rf"(?:({_VALUE}) = )?(.*)")
_TILE_NAME = re.compile(r"tile_(\d+)_(\d+)$")
_CONSTANT_NAME = re.compile(r"%c(\d+)(?:_\w+)?$")
_SYMBOL = re.compile(r'sym_name = "([^"]*)"')
_START = re.compile(rf"aie\.dma_start\((\w+), (\d+|{ANY})(?:, \^([\w${ANY}']+))?(?:, \^([\w${ANY}']+))?(.*)")
_BD = re.compile(rf"aie\.dma_bd(?:\(({_VALUE})?(.*))?$")
_LOCK = re.compile(rf"aie\.use_lock\(({_VALUE}), (\w+)(?:, ([^)]*))?\)?")
_LABEL = re.compile(rf"\^([\w${ANY}']+)(?:\([^)]*\))?:?(?:\s*//.*)?$")
_FLOW = re.compile(rf"aie\.flow\(({_VALUE}), (\w+) : (\d+), ({_VALUE}), (\w+) : (\d+)\)")
_PORT = re.compile(rf"aie\.packet_(source|dest)<({_VALUE}), (\w+) : (\d+)>")
_CHANNEL = re.compile(rf"aie\.shim_dma_allocation @(\w+) ?\(({_VALUE}, )?(\w+), (\d+)(?:, (.*))?\)")
_PAIRS = re.compile(r"<[^<>=]*= (-?\d+), [^<>=]*= (-?\d+)>")
_ACTIONS = {"Acquire": "acquire", "AcquireGreaterEqual": "acquire_ge", "Release": "release"}
_DMAS = ("aie.mem(", "aie.memtile_dma(", "aie.shim_dma(")


def expected_machine(lines: Iterable[CheckLine]) -> Machine:
    """The machine of these lines; complete if they begin with its device."""
    return _ExpectedReader().machine(list(lines))


class _Block:
    """A block of a DMA: what its lines say."""

    def __init__(self) -> None:
        self.start: re.Match[str] | None = None
        self.bd: re.Match[str] | None = None
        self.uses: list[LockAction] = []
        self.packet: tuple[int, int] | None = None
        self.following = ANY


class _ExpectedReader:
    def __init__(self) -> None:
        self.made = Machine()
        self.tiles: dict[str, Place] = {}
        self.numbers: dict[str, int] = {}
        self.names: dict[str, str] = {}
        self.packet: int | None = None
        self.ports: list[tuple[str, Place, str, int]] = []

    def machine(self, lines: list[CheckLine]) -> Machine:
        blocks: dict[str, _Block] | None = None
        tile: Place = None
        inside_core = False
        for line in lines:
            found = _RESULT.match(line.text)
            assert found is not None
            result, text = found[1] or "", found[2]
            if text.startswith(_DMAS):
                self._chains(tile, blocks)
                tile, blocks, label = self._tile(text[text.index("(") + 1 :]), {"": _Block()}, ""
                inside_core = False
            elif text.startswith(
                ("aie.core(", "aie.runtime_sequence", "func.func", "aie.buffer(", "aie.flow(")
            ):
                self._chains(tile, blocks)
                blocks, inside_core = None, text.startswith("aie.core(")
            elif blocks is None and text.startswith("aie.dma_start("):
                tile, blocks, label = None, {"": _Block()}, ""
            if blocks is None:
                if not inside_core or not text.startswith("aie.use_lock"):
                    self._declared(result, text)
                continue
            named = _LABEL.match(text)
            if named is not None or (text.startswith("aie.dma_start(") and blocks[label].start is not None):
                label = named[1] if named is not None else f"{label}+"
                blocks[label] = _Block()
            if named is not None:
                continue
            self._in_block(blocks[label], result, text)
        self._chains(tile, blocks)
        self._flow_of_packets()
        named = any("aie.device(" in line.text for line in lines)
        closed = sum(line.text == "}" for line in lines) > 1
        self.made.complete = named and closed and bool(self.made.chains)
        return self.made

    def _tile(self, text: str) -> Place:
        name = re.split(r"[,)\s]", text, maxsplit=1)[0]
        if name in self.tiles:
            return self.tiles[name]
        found = _TILE_NAME.search(name)
        return (int(found[1]), int(found[2])) if found else None

    def _number(self, text: str | None) -> int | None:
        text = (text or "").strip()
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        found = _CONSTANT_NAME.match(text)
        return self.numbers.get(text, int(found[1]) if found else None)  # type: ignore[arg-type]

    def _declared(self, result: str, text: str) -> None:
        """What stands beside the DMAs."""
        if (found := re.match(r"aie\.(?:tile|logical_tile)\((\d+), (\d+)\)", text)) is not None:
            self.tiles[result] = int(found[1]), int(found[2])
        elif (found := re.match(r"arith\.constant (-?\d+)", text)) is not None:
            self._constant(result, found[1])
        elif text.startswith(("aie.buffer(", "aie.external_buffer")):
            self._buffer(result, text)
        elif text.startswith("aie.lock("):
            found = re.search(r"init = (-?\d+)", text)
            initial = int(found[1]) if found else (None if ANY in text.partition(")")[2] else 0)
            name = self._named(result, text)
            self.made.locks[name] = LockPart(self._tile(text[len("aie.lock(") :]), initial if found else None)
        elif (found := _FLOW.match(text)) is not None:
            one = self._tile(found[1]), found[2], int(found[3])
            self.made.flows.append(FlowPart(one, (self._tile(found[4]), found[5], int(found[6]))))
        elif (found := _CHANNEL.match(text)) is not None:
            packet = re.search(r"pkt_type = (\d+), pkt_id = (\d+)", found[5] or "")
            tile = self._tile(found[2]) if found[2] else (int(found[5] or 0), 0)
            self.made.channels[found[1].removesuffix("_shim_alloc")] = ChannelPart(
                tile, found[3], int(found[4]), (int(packet[1]), int(packet[2])) if packet else None
            )
        else:
            self._packets(text)

    def _packets(self, text: str) -> None:
        if (found := re.match(r"aie\.packet_flow\((\w+)\)", text)) is not None:
            self._flow_of_packets()
            self.packet = int(found[1], 0)
        elif (found := _PORT.match(text)) is not None:
            self.ports.append((found[1], self._tile(found[2]), found[3], int(found[4])))

    def _flow_of_packets(self) -> None:
        for kind, *source in self.ports:
            for other, *target in self.ports:
                if (kind, other) == ("source", "dest"):
                    self.made.flows.append(FlowPart(tuple(source), tuple(target), self.packet))  # type: ignore[arg-type]
        self.ports = []

    def _named(self, result: str, text: str) -> str:
        symbol = _SYMBOL.search(text)
        name = f"%{symbol[1]}" if symbol else result
        self.names[result] = name
        return name

    def _buffer(self, result: str, text: str) -> None:
        kind = re.search(r": (memref<[^>]*>)", text)
        initial = re.search(r"= dense<(.*)>", text)
        values = None
        if initial is not None and kind is not None:
            values = tuple(float(each) for each in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", initial[1]))
            shape = shaped(kind[1])
            values = values * prod(shape.shape) if len(values) == 1 and shape is not None else values
        inside = text.startswith("aie.buffer(")
        tile = self._tile(text[len("aie.buffer(") :]) if inside else None
        part = BufferPart(tile, kind[1] if kind else None, values)
        self.made.buffers[self._named(result, text)] = part

    def _in_block(self, block: _Block, result: str, text: str) -> None:
        if (found := _START.match(text)) is not None:
            block.start = found
        elif (found := _BD.match(text)) is not None:
            block.bd = found
        elif (found := _LOCK.match(text)) is not None:
            value = 1 if found[3] is None else self._number(found[3])
            block.uses.append(LockAction(self.names.get(found[1], found[1]), _ACTIONS[found[2]], value))
        elif (found := re.match(r"aie\.dma_bd_packet\((\d+), (\d+)\)", text)) is not None:
            block.packet = int(found[1]), int(found[2])
        elif (found := re.match(r"aie\.next_bd(?: \^(\S+))?", text)) is not None:
            block.following = found[1] or ANY
        elif (found := re.match(r"arith\.constant (-?\d+)", text)) is not None:
            self._constant(result, found[1])

    def _constant(self, result: str, value: str) -> None:
        if ANY not in result:
            self.numbers[result] = int(value)

    def _chains(self, tile: Place, blocks: dict[str, _Block] | None) -> None:
        order = list(blocks or ())
        for at, label in enumerate(order):
            assert blocks is not None
            start = blocks[label].start
            if start is None:
                continue
            after = order[at + 1] if at + 1 < len(order) else ""
            first = start[3] if start[3] in blocks else label if blocks[label].bd is not None else after
            chain, seen, partly = list[_Block](), list[str](), False
            while first in blocks and first not in seen and blocks[first].bd is not None:
                seen.append(first)
                chain.append(blocks[first])
                first = blocks[first].following
                partly = partly or first == ANY
            repeat = re.search(r"repeat_count = (\d+)", start[5])
            pad = re.search(r"pad_value = (-?\d+)", start[5])
            bds = [
                self._bd(each, seen.index(each.following) if each.following in seen else -1) for each in chain
            ]
            self.made.chains.append(
                ChainPart(
                    tile,
                    start[1],
                    None if start[2] == ANY else int(start[2]),
                    int(repeat[1]) if repeat else 0,
                    tuple(bds),
                    int(pad[1]) if pad else (None if ANY in start[5] else 0),
                    partly,
                )
            )

    def _bd(self, block: _Block, following: int) -> BdPart:
        assert block.bd is not None
        name, rest = block.bd[1] or ANY, block.bd[2] or ""
        old = re.match(r" : \S+?>?, ([^,)]+), ([^,)]+)", rest)
        offset = re.search(r"offset = (\S+)", rest)
        length = re.search(r"len = ([^\s)]+)", rest)
        opened = name == ANY or rest.rstrip().endswith(f"{ANY})") or not rest.rstrip().endswith(")")
        pad = re.search(r"(?:pad )?\[(<const_pad.*?)\]", rest)
        acquires = [use for use in block.uses if use.action != "release"]
        releases = [use for use in block.uses if use.action == "release"]
        return BdPart(
            self.names.get(name, name),
            self._number(old[1] if old else offset[1] if offset else None),
            self._number(old[2] if old else length[1] if length else None),
            _levels(rest, opened=opened),
            _pairs(pad[1]) if pad else (None if opened else ()),
            acquires[0] if acquires else None,
            releases[-1] if releases else None,
            block.packet,
            following,
        )


def _levels(rest: str, *, opened: bool) -> tuple[tuple[int, int], ...] | None:
    """The pattern of a BD; None if the line leaves it open."""
    old = re.search(r"\[(<size = .*?)\]", rest)
    if old is not None:
        return _pairs(old[1])
    sizes, strides = (re.search(rf"{name} = \[([\d, ]*)\]", rest) for name in ("sizes", "strides"))
    if sizes is not None and strides is not None:
        one, other = ([int(n) for n in found[1].split(",")] for found in (sizes, strides))
        return tuple(zip(one, other, strict=True))
    return None if opened or "sizes =" in rest else ()


def _pairs(text: str) -> tuple[tuple[int, int], ...]:
    return tuple((int(one), int(other)) for one, other in _PAIRS.findall(text))
