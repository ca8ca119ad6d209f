"""Routes, lock ids and buffer addresses of mlir-aie's own compiler tests, and those that memtile configures.

``python tests/oracle/mlir_routing.py MLIR_AIE/test [--json] [PATTERN]`` reads the tests of a checkout,
which is not part of the project. Routes are read back from the registers of the configured array and
compared by delivery: which packets of which port, or which circuit, reach which ports, and whether the
header is still there. Where CHECK lines show switches, those are compared rule by rule: the same, or
another route with the same delivery. Texts of the first generation have another geometry: their compute
rows are moved up by two, into a device of AIE-ML, whose memory rows lie between, and a second core port
becomes a DMA port. The exit code is 1 if anything differs without a message.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memtile import Array
from memtile.arch.ports import PORTS, SLOTS_PER_SLAVE, WIRES, port_kind
from memtile.arch.switch_registers import SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.arch.tiles import WORD_BYTES, TileKind
from memtile.design.tile import Tile
from memtile.errors import MemtileError
from memtile.importers.mlir import reader
from memtile.importers.mlir.buffer_addresses import place_buffers
from memtile.importers.mlir.configure import Configured, configure, port_name
from memtile.importers.mlir.description import DeviceDescription, EndDescription
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.placing import number_locks
from memtile.importers.mlir.token_packets import Text

_OLD, _NEW, _MOVED = "xcvc1902", "xcve2802", 2
Place = tuple[int, int]
Port = tuple[Place, str]


class Verdict(NamedTuple):
    """What came of one part of a test: same, route, refused, theirs, nothing or differs; and why."""

    kind: str
    why: str = ""


@dataclass
class Box:
    """A switch: circuits by master, masters of packets with their selects, and rules by slave."""

    circuits: dict[str, str] = field(default_factory=dict)
    masters: dict[str, tuple[int, frozenset[int], bool]] = field(default_factory=dict)
    rules: dict[str, list[tuple[int, int, int, int]]] = field(default_factory=lambda: defaultdict(list))


def ours(array: Array) -> dict[Place, Box]:
    """The switches of an array, from their registers."""
    places = ((column, row) for column in range(array.columns) for row in range(array.rows))
    found = {place: _box(array.tile(*place)) for place in places}
    return {place: box for place, box in found.items() if box.circuits or box.masters}


def _box(tile: Tile) -> Box:
    ports, box = PORTS[tile.kind.name], Box()

    def words(offset: int, count: int) -> list[int]:
        return [int(word) for word in tile.own_door.block_read32(ports.base + offset, count)]

    slaves = words(SLAVE_CONFIG_OFFSET, len(ports.slaves))
    for name, word in zip(ports.masters, words(0, len(ports.masters)), strict=True):
        if word >> 31 and word >> 30 & 1:
            msels = frozenset(n for n in range(4) if word >> 3 + n & 1)
            box.masters[name] = word & 7, msels, bool(word >> 7 & 1)
        elif word >> 31:
            box.circuits[name] = ports.slaves[word & 0x7F]
    for index, name in enumerate(ports.slaves):
        slots = words(SLOT_OFFSET + index * SLOTS_PER_SLAVE * WORD_BYTES, SLOTS_PER_SLAVE)
        if slaves[index] >> 30 & 1:
            taken = [slot for slot in slots if slot >> 8 & 1]
            box.rules[name] = [(s >> 16 & 31, s >> 24 & 31, s & 7, s >> 4 & 3) for s in taken]
    return box


def delivered(
    boxes: dict[Place, Box], start: Port, packet: int | None, ends: set[Port]
) -> set[tuple[Place, str, bool]]:
    """The ports where words from a slave leave the switches, or the ``ends``, and if the header is there."""
    reached: set[tuple[Place, str, bool]] = set()
    todo, seen = [start], {start}
    while todo:
        place, slave = todo.pop()
        box = boxes.get(place, Box())
        nexts = [(name, False) for name, source in box.circuits.items() if source == slave]
        if packet is not None:
            rule = next((each for each in box.rules.get(slave, []) if packet & each[0] == each[1]), None)
            if rule is not None:
                hit = [(n, m) for n, m in box.masters.items() if m[0] == rule[2] and rule[3] in m[1]]
                nexts += [(name, drop) for name, (_, _, drop) in hit]
        for name, drop in nexts:
            following = None if (place, name) in ends else _beyond(place, name)
            if following is None:
                reached.add((place, name, not drop))
            elif following not in seen:
                seen.add(following)
                todo.append(following)
    return reached


def _beyond(place: Place, master: str) -> Port | None:
    """The slave that a master is wired to; None where words leave the switches."""
    kind = port_kind(master)
    if kind not in WIRES or (kind == "SOUTH" and place[1] == 0):
        return None
    opposite, columns, rows = WIRES[kind]
    return (place[0] + columns, place[1] + rows), opposite + master.removeprefix(kind)


_LINE = re.compile(r"^\s*//\s*CHECK\w*(?:-NEXT|-DAG|-SAME)?:(.*)$", re.MULTILINE)
_VALUE = r"(?:%\[\[(\w+)(?::.*?)?\]\]|%\S*?(\w*tile_\d+_\d+))"
_TILE = re.compile(_VALUE + r"\s*=\s*aie\.tile\((\d+), (\d+)\)")
_SWITCH = re.compile(r"aie\.(switchbox|shim_mux)\((?:%\[\[(\w+)|%\S*?(\w*tile_\d+_\d+)|\{\{)")


def checked(text: str, moved: int) -> dict[Place, Box]:
    """The switches that CHECK lines describe, as far as their tiles are known there."""
    tiles: dict[str, Place] = {}
    places = set(re.findall(r"^[^/\n]*aie\.tile\((\d+), (\d+)\)", text, re.MULTILINE))
    if len(places) == 1:
        column, row = places.pop()
        tiles[""] = _place(column, row, moved)
    found: dict[Place, _Described] = {}
    described: _Described | None = None
    for line in _LINE.findall(text):
        name, here = _TILE.search(line), _SWITCH.search(line)
        if name:
            tiles[name[1] or name[2].removeprefix("}}")] = _place(name[3], name[4], moved)
        if here:
            place = tiles.get(here[2] or here[3] or "")
            is_switch = here[1] == "switchbox" and place is not None
            described = found.setdefault(place, _Described(place)) if is_switch and place else None
        if described is not None:
            described.read(line)
    boxes = {place: each.box for place, each in found.items()}
    return {place: box for place, box in boxes.items() if box.circuits or box.masters or box.rules}


@dataclass
class _Described:
    """A switch of CHECK lines, as it is read."""

    place: Place
    box: Box = field(default_factory=Box)
    selects: dict[str, tuple[int, int]] = field(default_factory=dict)
    slave: str = ""

    def read(self, line: str) -> None:
        """Take what a line says of it."""
        if each := re.search(r"connect<(\w+) : (\d+), (\w+) : (\d+)>", line):
            self.box.circuits[_port(each[3], each[4])] = _port(each[1], each[2])
        if each := re.search(r"%\[\[(\w+)(?::.*?)?\]\] = aie\.amsel<(\d+)> ?\((\d+)\)", line):
            self.selects[each[1]] = int(each[2]), int(each[3])
        if each := re.search(r"masterset\((\w+) : (\d+), (.*?)\)", line):
            self._master(line, *each.groups())
        if each := re.search(r"packet_rules\((\w+) : (\d+)\)", line):
            self.slave = _port(each[1], each[2])
        if each := re.search(r"rule\((\d+), (\d+), %\[\[(\w+)", line):
            select = self.selects.get(each[3], (-1, -1))
            self.box.rules[self.slave].append((int(each[1]), int(each[2]), *select))

    def _master(self, line: str, bundle: str, number: str, names: str) -> None:
        chosen = [self.selects[name] for name in re.findall(r"\[\[(\w+)", names) if name in self.selects]
        if chosen:
            keep = re.search(r"keep_pkt_header = (\w+)", line)
            drop = keep[1] != "true" if keep else _ends_header(bundle, self.place)
            self.box.masters[_port(bundle, number)] = chosen[0][0], frozenset(m for _, m in chosen), drop


def _ends_header(bundle: str, place: Place) -> bool:
    """Whether a header ends at a master of which nothing is said (mlir-aie, AIERT)."""
    return bundle == "DMA" or (bundle == "South" and place[1] == 0)


def _port(bundle: str, number: str) -> str:
    return port_name(bundle, int(number))


def _place(column: str, row: str, moved: int) -> Place:
    return int(column), int(row) + (moved if int(row) else 0)


Wanted = tuple[EndDescription, int | None, list[tuple[EndDescription, bool | None]]]


def wanted(device: DeviceDescription) -> Iterator[Wanted]:
    """What a device asks for: per source and id its targets, and whether they keep the header."""
    asked: defaultdict[tuple[EndDescription, int | None], dict[EndDescription, None]] = defaultdict(dict)
    keep: dict[EndDescription, bool | None] = {}
    for flow in device.flows:
        for target in flow.targets:
            keep[target] = flow.keep_header
            for source in flow.sources:
                asked[source, flow.packet][target] = None
    for (source, packet), targets in asked.items():
        yield source, packet, [(target, keep[target]) for target in targets]


def _moved(part: str, moved: int) -> str:
    """A text of the first generation as one of AIE-ML."""
    tile = re.compile(r"aie\.tile\((\d+), (\d+)\)")
    return tile.sub(lambda m: "aie.tile({}, {})".format(*_place(m[1], m[2], moved)), part).replace(_OLD, _NEW)


def _at(made: Configured, end: EndDescription, *, receives: bool) -> Port:
    tile = made.tiles[end.tile]
    assert tile.place is not None
    if tile.kind.role == "interface" and end.bundle == "DMA":
        return tile.place, (("SOUTH2", "SOUTH3") if receives else ("SOUTH3", "SOUTH7"))[end.channel]
    return tile.place, port_name(end.bundle, end.channel)


def compare_routes(text: str, part: str, name: str, run: str) -> Verdict:
    """A test of aie-create-pathfinder-flows."""
    moved = _MOVED if _OLD in part else 0
    if moved and "DMA : 1" not in part:
        text, part = (each.replace("Core : 1", "DMA : 1") for each in (text, part))
    fails = "not aie-opt" in run or re.search(r"expected-error.*\n\s*aie\.packet_flow", part) is not None
    try:
        made = _configured(_moved(part, moved), name)
    except MemtileError as error:
        return Verdict("same" if fails else "refused", str(error).split("\n")[0])
    if not made.device.flows:
        return Verdict("nothing")
    boxes = ours(made.array)
    for each in wanted(made.device):
        if "route-circuit=false" not in run or each[1] is not None:
            wrong = _not_delivered(made, boxes, *each)
            if wrong:
                return Verdict("differs", wrong)
    if fails:
        return Verdict("theirs", "mlir-aie finds no route, memtile does")
    return _same_boxes(checked(text, moved), boxes)


def _not_delivered(
    made: Configured,
    boxes: dict[Place, Box],
    end: EndDescription,
    packet: int | None,
    targets: Sequence[tuple[EndDescription, bool | None]],
) -> str:
    """Where words of a source come to other places than its flows say; empty = nowhere."""
    start, expected = _at(made, end, receives=False), set()
    for target, keep in targets:
        place, port = _at(made, target, receives=True)
        kept = not _ends_header(target.bundle, place) if keep is None else keep
        expected.add((place, port, packet is None or kept))
    got = delivered(boxes, start, packet, {each[:2] for each in expected})
    return "" if got == expected else f"{start} {packet}: {sorted(got)} for {sorted(expected)}"


def _same_boxes(theirs: dict[Place, Box], boxes: dict[Place, Box]) -> Verdict:
    """Whether the switches that the CHECK lines show are ours too."""
    if not theirs:
        return Verdict("delivery", "the CHECK lines show flows alone")
    for place, box in theirs.items():
        mine = boxes.get(place, Box())
        if any(mine.circuits.get(m) != s for m, s in box.circuits.items()):
            return Verdict("route", f"circuits of {place}")
        if any(mine.masters.get(m) != selects for m, selects in box.masters.items()):
            return Verdict("route", f"masters of {place}: {mine.masters} for {box.masters}")
        if not all(_same_rules(mine.rules.get(s, []), rules) for s, rules in box.rules.items()):
            return Verdict("route", f"rules of {place}: {dict(mine.rules)} for {dict(box.rules)}")
    return Verdict("same")


def _same_rules(mine: Sequence[tuple[int, ...]], theirs: Sequence[tuple[int, ...]]) -> bool:
    """Whether rules are the same, in their order; selects that a test has no name for may be any."""
    pairs = zip(mine, theirs, strict=False)
    return len(mine) == len(theirs) and all(a == b or (b[2] < 0 and a[:2] == b[:2]) for a, b in pairs)


def _configured(part: str, name: str) -> Configured:
    device = devices(reader.read(Text(name, part)))[0]
    return configure(device, Array(device.device))


def _kinds(device: DeviceDescription) -> dict[str, TileKind]:
    array = Array(device.device)
    return {name: array.tile(*tile.place).kind for name, tile in device.tiles.items() if tile.place}


def compare_locks(text: str, part: str, name: str, run: str) -> Verdict:
    """A test of aie-assign-lock-ids: ids in the order of the text."""
    fails = "expected-error" in part or "not aie-opt" in run
    device = devices(reader.read(Text(name, _moved(part, _MOVED if _OLD in part else 0))))[0]
    try:
        number_locks(device, _kinds(device))
    except MemtileError as error:
        return Verdict("same" if fails else "differs", str(error).split("\n")[0])
    expected = [int(n) for n in re.findall(r"CHECK:.*aie\.lock\(%\S+, (\d+)\)", text)]
    mine = [lock.number for lock in device.locks.values()]
    if fails or len(mine) != len(expected):
        return Verdict("differs" if fails else "nothing", f"{mine}")
    return Verdict("same" if mine == expected else "differs", f"{mine} for {expected}")


def compare_addresses(text: str, part: str, name: str, run: str) -> Verdict:
    """A test of aie-assign-buffer-addresses: address by symbol."""
    if _OLD in part:
        return Verdict("nothing", "memory of the first generation")
    fails = re.search(r"expected-error.*failed\.\}", part) is not None or "not aie-opt" in run
    scheme = re.search(r"alloc-scheme=(\S+?)[\"']", run)
    source = f"// RUN: alloc-scheme={scheme[1]}\n{part}" if scheme else part
    try:
        device = devices(reader.read(Text(name, source)))[0]
        if device.fifos:
            _configured(source, name)
        place_buffers(device, _kinds(device), list(device.buffers))
    except MemtileError as error:
        return Verdict("same" if fails else "refused", str(error).split("\n")[0])
    lines = re.findall(r"CHECK:.*aie\.buffer\(.*address = (\S+) : i32.*sym_name = \"(\w+)\"", text)
    many = re.compile(r"^[^/\n]*= aie\.buffer\(", re.MULTILINE)
    first = len(many.findall(text.split(part)[0]))
    mine = {buffer.name: buffer for buffer in device.buffers.values()}
    found = lines[first : first + len(mine)] if len(lines) > len(mine) else lines
    expected = [(int(at), mine[name]) for at, name in found if name in mine and at.isdecimal()]
    wrong = [f"{buffer.name} at {buffer.address} for {at}" for at, buffer in expected if buffer.address != at]
    if fails:
        return _fails(source, name)
    return Verdict("differs" if wrong else "same" if expected else "nothing", ", ".join(wrong))


def _fails(source: str, name: str) -> Verdict:
    try:
        _configured(source, name)
    except MemtileError as error:
        return Verdict("same", str(error).split("\n")[0])
    return Verdict("differs", "mlir-aie refuses it")


_COMPARED: Mapping[str, Callable[[str, str, str, str], Verdict]] = {
    "create-packet-flows": compare_routes,
    "create-flows": compare_routes,
    "assign-lock-ids": compare_locks,
    "assign-buffer-addresses": compare_addresses,
}


def results(root: Path, pattern: str = "") -> dict[str, Verdict]:
    """The verdict of each part of each test."""
    found: dict[str, Verdict] = {}
    for path in sorted(each for folder in _COMPARED for each in (root / folder).rglob("*.mlir")):
        name, text = str(path.relative_to(root)), path.read_text()
        run = " ".join(line for line in text.splitlines() if "RUN:" in line)
        if pattern not in name:
            continue
        for number, part in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE)):
            if "aie.device" in part:
                found[f"{name}:{number}"] = _COMPARED[path.relative_to(root).parts[0]](text, part, name, run)
    return found


def main(arguments: list[str]) -> int:
    """Print the verdicts; 1 if anything differs, 2 if there is no test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", type=Path, help="folder test of a checkout of mlir-aie")
    parser.add_argument("pattern", nargs="?", default="", help="part of the paths of those that are compared")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    found = results(given.tests, given.pattern)
    if not found:
        print(f"{given.tests}: no tests in {', '.join(_COMPARED)}", file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps({name: verdict._asdict() for name, verdict in found.items()}, indent=1))
    else:
        for name, verdict in found.items():
            print(f"{verdict.kind:9}{name}  {verdict.why}")
        print(dict(Counter(verdict.kind for verdict in found.values())))
    return int(any(verdict.kind == "differs" for verdict in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
