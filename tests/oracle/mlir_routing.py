"""Routing, lock ids and buffer addresses of mlir-aie's own compiler tests, compared with what memtile configures.

``python tests/oracle/mlir_routing.py MLIR_AIE/test [--json] [PATTERN]`` reads the tests of a checkout, which is not
part of the project. Routes are read back from the registers of the configured array and compared by delivery: which
packets of which port, or which circuit, reach which ports, and whether the header is still there. Where the switches
of the CHECK lines are the same as ours, rule by rule, the route is the same too. Texts of the first generation have
another geometry: their compute rows are moved up by two, into a device of AIE-ML, whose memory rows lie between. The
exit code is 1 if anything differs without a message.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from memtile import Array
from memtile.arch.ports import PORTS, SLOTS_PER_SLAVE, WIRES, port_kind
from memtile.arch.switch_registers import SLAVE_CONFIG_OFFSET, SLOT_OFFSET
from memtile.errors import MemtileError
from memtile.importers.mlir import reader
from memtile.importers.mlir.buffer_addresses import place_buffers
from memtile.importers.mlir.configure import Configured, configure, port_name
from memtile.importers.mlir.description import DeviceDescription, EndDescription
from memtile.importers.mlir.forms.device_forms import devices
from memtile.importers.mlir.placing import number_locks
from memtile.importers.mlir.token_packets import Text

FOLDERS = ("create-packet-flows", "create-flows", "assign-lock-ids", "assign-buffer-addresses")
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
    found: dict[Place, Box] = {}
    for column in range(array.columns):
        for row in range(array.rows):
            tile = array.tile(column, row)
            ports, box = PORTS[tile.kind.name], Box()
            words = tile.own_door.block_read32

            def at(offset: int, count: int, base: int = ports.base, words: object = words) -> list[int]:
                return [int(word) for word in words(base + offset, count)]  # type: ignore[operator]

            slaves = at(SLAVE_CONFIG_OFFSET, len(ports.slaves))
            for name, word in zip(ports.masters, at(0, len(ports.masters)), strict=True):
                if word >> 31 and word >> 30 & 1:
                    msels = frozenset(n for n in range(4) if word >> 3 + n & 1)
                    box.masters[name] = word & 7, msels, bool(word >> 7 & 1)
                elif word >> 31:
                    box.circuits[name] = ports.slaves[word & 0x7F]
            for index, name in enumerate(ports.slaves):
                if slaves[index] >> 30 & 1:
                    for slot in at(SLOT_OFFSET + index * SLOTS_PER_SLAVE * 4, SLOTS_PER_SLAVE):
                        if slot >> 8 & 1:
                            rule = slot >> 16 & 31, slot >> 24 & 31, slot & 7, slot >> 4 & 3
                            box.rules[name].append(rule)
            if box.circuits or box.masters:
                found[column, row] = box
    return found


def delivered(
    boxes: dict[Place, Box], start: Port, packet: int | None, ends: set[Port]
) -> set[tuple[Place, str, bool]]:
    """The ports where words from a slave leave the switches, or that are ``ends``; whether the header is there."""
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


def checked(text: str, moved: int) -> dict[Place, Box]:
    """The switches that CHECK lines describe, as far as their tiles are known there."""
    tiles: dict[str, Place] = {}
    places = set(re.findall(r"^[^/\n]*aie\.tile\((\d+), (\d+)\)", text, re.MULTILINE))
    if len(places) == 1:
        column, row = places.pop()
        tiles[""] = _place(column, row, moved)
    found: dict[Place, Box] = {}
    box: Box | None = None
    selects: dict[str, tuple[int, int]] = {}
    slave = ""
    for line in re.findall(r"^\s*//\s*CHECK\w*(?:-NEXT|-DAG|-SAME)?:(.*)$", text, re.MULTILINE):
        name = re.search(
            r"(?:%\[\[(\w+)(?::.*?)?\]\]|%\S*?(\w*tile_\d+_\d+))\s*=\s*aie\.tile\((\d+), (\d+)\)", line
        )
        if name:
            tiles[name[1] or name[2].removeprefix("}}")] = _place(name[3], name[4], moved)
        here = re.search(r"aie\.(switchbox|shim_mux)\((?:%\[\[(\w+)|%\S*?(\w*tile_\d+_\d+)|\{\{)", line)
        if here:
            place = tiles.get(here[2] or here[3] or "")
            box = None if here[1] == "shim_mux" or place is None else found.setdefault(place, Box())
            selects = {}
        if box is None:
            continue
        if each := re.search(r"connect<(\w+) : (\d+), (\w+) : (\d+)>", line):
            box.circuits[_port(each[3], each[4])] = _port(each[1], each[2])
        if each := re.search(r"%\[\[(\w+)(?::.*?)?\]\] = aie\.amsel<(\d+)> ?\((\d+)\)", line):
            selects[each[1]] = int(each[2]), int(each[3])
        if each := re.search(r"masterset\((\w+) : (\d+), (.*?)\)", line):
            chosen = [selects[n] for n in re.findall(r"\[\[(\w+)", each[3]) if n in selects]
            if chosen:
                keep = re.search(r"keep_pkt_header = (\w+)", line)
                low = each[1] == "DMA" or (each[1] == "South" and place is not None and place[1] == 0)
                drop = keep[1] != "true" if keep else low
                box.masters[_port(each[1], each[2])] = chosen[0][0], frozenset(m for _, m in chosen), drop
        if each := re.search(r"packet_rules\((\w+) : (\d+)\)", line):
            slave = _port(each[1], each[2])
        if each := re.search(r"rule\((\d+), (\d+), %\[\[(\w+)", line):
            box.rules[slave].append((int(each[1]), int(each[2]), *selects.get(each[3], (-1, -1))))
    return {place: box for place, box in found.items() if box.circuits or box.masters or box.rules}


def _port(bundle: str, number: str) -> str:
    return port_name(bundle, int(number))


def _place(column: str, row: str, moved: int) -> Place:
    return int(column), int(row) + (moved if int(row) else 0)


def wanted(
    device: DeviceDescription,
) -> Iterator[tuple[EndDescription, int | None, list[tuple[EndDescription, bool | None]]]]:
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


def _at(made: Configured, end: EndDescription, *, receives: bool) -> Port:
    tile = made.tiles[end.tile]
    assert tile.place is not None
    if tile.kind.role == "interface" and end.bundle == "DMA":
        return tile.place, (("SOUTH2", "SOUTH3") if receives else ("SOUTH3", "SOUTH7"))[end.channel]
    return tile.place, port_name(end.bundle, end.channel)


def compare_routes(text: str, part: str, name: str, run: str) -> Verdict:
    """A test of aie-create-pathfinder-flows."""
    old = _OLD in part
    moved = _MOVED if old else 0
    if old and "DMA : 1" not in part:
        text, part = (each.replace("Core : 1", "DMA : 1") for each in (text, part))
    source = re.sub(
        r"aie\.tile\((\d+), (\d+)\)", lambda m: "aie.tile({}, {})".format(*_place(m[1], m[2], moved)), part
    )
    fails = "not aie-opt" in run or re.search(r"expected-error.*\n\s*aie\.packet_flow", part) is not None
    try:
        made, device = _configured(source.replace(_OLD, _NEW), name)
    except MemtileError as error:
        return Verdict("same" if fails else "refused", str(error).split("\n")[0])
    if not device.flows:
        return Verdict("nothing")
    boxes = ours(made.array)
    for end, packet, targets in wanted(device):
        if "route-circuit=false" in run and packet is None:
            continue
        start = _at(made, end, receives=False)
        expected = set()
        for target, keep in targets:
            place, port = _at(made, target, receives=True)
            default = not (target.bundle == "DMA" or (target.bundle == "South" and place[1] == 0))
            expected.add((place, port, packet is None or (default if keep is None else keep)))
        got = delivered(boxes, start, packet, {each[:2] for each in expected})
        if got != expected:
            return Verdict("differs", f"{start} {packet}: {sorted(got)} for {sorted(expected)}")
    if fails:
        return Verdict("theirs", "mlir-aie finds no route, memtile does")
    return _same_boxes(checked(text, moved), boxes)


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
    """Whether rules are the same, in their order; the selects of those whose names a test leaves open are any."""
    same_length = len(mine) == len(theirs)
    return same_length and all(
        a == b or (b[2] < 0 and a[:2] == b[:2]) for a, b in zip(mine, theirs, strict=True)
    )


def _configured(part: str, name: str) -> tuple[Configured, DeviceDescription]:
    device = devices(reader.read(Text(name, part)))[0]
    array = Array(device.device)
    return configure(device, array), device


def compare_locks(text: str, part: str, name: str, run: str) -> Verdict:
    """A test of aie-assign-lock-ids: ids in the order of the text."""
    fails = "expected-error" in part or "not aie-opt" in run
    source = re.sub(
        r"aie\.tile\((\d+), (\d+)\)", lambda m: "aie.tile({}, {})".format(*_place(m[1], m[2], _MOVED)), part
    )
    device = devices(reader.read(Text(name, (source if _OLD in part else part).replace(_OLD, _NEW))))[0]
    array = Array(device.device)
    try:
        number_locks(
            device, {n: array.tile(*tile.place).kind for n, tile in device.tiles.items() if tile.place}
        )
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
        array = Array(device.device)
        kinds = {n: array.tile(*tile.place).kind for n, tile in device.tiles.items() if tile.place}
        place_buffers(device, kinds, list(device.buffers))
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


def results(root: Path, pattern: str = "") -> dict[str, Verdict]:
    """The verdict of each part of each test."""
    found: dict[str, Verdict] = {}
    for path in sorted(each for folder in FOLDERS for each in (root / folder).rglob("*.mlir")):
        name, text = str(path.relative_to(root)), path.read_text()
        run = " ".join(line for line in text.splitlines() if "RUN:" in line)
        if pattern not in name:
            continue
        for number, part in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE)):
            if "aie.device" in part:
                compare = (
                    compare_locks
                    if "lock-ids" in name
                    else compare_addresses
                    if "addresses" in name
                    else compare_routes
                )
                found[f"{name}:{number}"] = compare(text, part, name, run)
    return found


def main(arguments: list[str]) -> int:
    """Print the verdicts; 1 if anything differs."""
    given = [each for each in arguments if each != "--json"]
    found = results(Path(given[0]), *given[1:2])
    if "--json" in arguments:
        print(json.dumps({name: verdict._asdict() for name, verdict in found.items()}, indent=1))
    else:
        for name, verdict in found.items():
            print(f"{verdict.kind:9}{name}  {verdict.why}")
        print(dict(Counter(verdict.kind for verdict in found.values())))
    return int(any(verdict.kind == "differs" for verdict in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
