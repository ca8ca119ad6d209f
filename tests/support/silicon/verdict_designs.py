"""Designs whose verdict on a Strix laptop is public, made from the facts in ``tests/silicon/verdicts.json``.

Each has buffers with a lock of how often they are free and one of how often they are full, channels with
rings of descriptors on them, cores that pass buffers on, switches as they were set, and a host:

- ``buf``: name -> "column,row words how-often-free"; 0 = without locks
- ``dma``: "tile channel mode descriptors": S2MM (S) takes the free lock and gives the full one, MM2S (M) the
  other way; ``A*4:256#0`` are four descriptors of 256 words in a row, packet 0, ``A@256:256`` is one at word
  256, ``!`` gives the lock that it took; mode ``ring``, ``once``, or ``repN``
- ``core``: ``<x`` waits for x full, ``>x`` for x free, ``.`` works on 256 words (``.+`` adds up), ``-x`` and
  ``+x`` give x back free and full, ``s9`` takes and gives a lock 9 times, ``4*( .. )`` does all that 4 times
- ``host``: ``go NAME tile/direction/channel words [#packet] [quiet]`` (quiet: no token), ``15x17`` in 15 runs
  of 17 words; ``wait NAME``
- ``route``: ``S3>N3`` a circuit, ``N1=0.1,0.2`` a master and the arbiter.msel that it serves (``+``: keeps
  headers), ``D0:5@0.1`` the slot of a slave for packets 5 (``30/4``: mask and id); ``mux``: of shim tiles
- ``flows``: where the compiler routed; ``ctl``: packets of tokens, by tile
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FACTS = Path(__file__).parents[2] / "silicon" / "verdicts.json"
_SIDES = {"N": "North", "S": "South", "E": "East", "W": "West", "D": "DMA", "C": "TileControl"}
_WORK = 256  # words that a core works on
Case = dict[str, Any]


def verdicts() -> list[Case]:
    """All cases: what they are, and whether they end on silicon (``ends``)."""
    found: list[Case] = json.loads(FACTS.read_text(encoding="utf-8"))
    return found


def text(case: Case) -> str:
    """The design of a case in MLIR."""
    parts = (_tiles, _memory, _cores, _channels, _switches, _flows, _host)
    body = [line for part in parts for line in part(case)]
    return "\n".join([f"aie.device({case.get('dev', 'npu2')}) {{", *body, "}"])


def _tile(place: str) -> str:
    return "%t" + place.replace(",", "_")


def _port(short: str) -> str:
    return f"{_SIDES[short[0]]} : {short[1:]}"


def _runs(case: Case) -> list[tuple[str, str, str, str, list[str]]]:
    """Name, tile, direction with channel, words and options of each transfer of the host."""
    found = []
    for step in case["host"]:
        if step.startswith("go"):
            _, name, at, words, *options = step.split()
            place, direction, channel = at.split("/")
            found.append((name, place, f"{direction}, {channel}", words, options))
    return found


def _tiles(case: Case) -> Iterator[str]:
    places = {*case["route"], *case.get("mux", {}), *(b.split()[0] for b in case["buf"].values())}
    for place in sorted(places | {place for _, place, *_ in _runs(case)}):
        token = case.get("ctl", {}).get(place)
        more = f"{{controller_id = #aie.packet_info<pkt_type = 0, pkt_id = {token}>}}" if token else ""
        yield f"{_tile(place)} = aie.tile({place}) {more}"


def _memory(case: Case) -> Iterator[str]:
    """Buffers and locks; a core that takes a lock again and again has one of its own."""
    locks: dict[str, int] = {}

    def lock(place: str, name: str, value: str) -> str:
        locks[place] = locks.get(place, -1) + 1
        return f"%{name} = aie.lock({_tile(place)}, {locks[place]}) {{init = {value} : i32}}"

    for name, what in case["buf"].items():
        place, words, free = what.split()
        yield f'%{name} = aie.buffer({_tile(place)}) {{sym_name = "{name}"}} : memref<{words}xi32>'
        if free != "0":
            yield lock(place, f"{name}_free", free)
            yield lock(place, f"{name}_full", "0")
    for place, steps in case.get("core", {}).items():
        if re.search(r"\bs\d", steps):
            yield lock(place, "again" + place.replace(",", "_"), "1")


class _Core:
    """Lines of a core."""

    def __init__(self, case: Case, place: str) -> None:
        self.buffers, self.own = case["buf"], "%again" + place.replace(",", "_")
        self.lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
        self.lines.append("%zero = arith.constant 0 : i32")
        self.taken: list[str] = []
        self.given: list[str] = []
        self.round, self.names = "", 0

    def value(self, what: str) -> str:
        self.names += 1
        self.lines.append(f"%v{self.names} = {what}")
        return f"%v{self.names}"

    def loop(self, times: str) -> str:
        self.names += 1
        name, many = f"%n{self.names}", self.value(f"arith.constant {times} : index")
        self.lines.append(f"scf.for {name} = %c0 to {many} step %c1 {{")
        return name

    def lock(self, name: str, action: str) -> None:
        self.lines.append(f"aie.use_lock({name}, {action}, 1)")

    def step(self, step: str) -> None:
        name = step[1:]
        if step.endswith("*("):
            self.round = self.loop(step[:-2])
        elif step == ")":
            self.lines.append("}")
        elif step[0] in "<>":
            (self.taken if step[0] == "<" else self.given).append(name)
            self.lock(f"%{name}_{'full' if step[0] == '<' else 'free'}", "AcquireGreaterEqual")
        elif step[0] in "-+":
            (self.taken if step[0] == "-" else self.given).remove(name)
            self.lock(f"%{name}_{'free' if step[0] == '-' else 'full'}", "Release")
        elif step[0] == "s":
            self.loop(name)
            self.lock(self.own, "AcquireGreaterEqual")
            self.lock(self.own, "Release")
            self.lines.append("}")
        else:
            self.work(step == ".+")

    def place(self, buffer: str, at: str) -> str:
        """Where in a buffer of several parts the round works."""
        _, words, parts = self.buffers[buffer].split()
        if int(parts) < 2 or not self.round:
            return at
        of, size = self.value(f"arith.constant {parts} : index"), int(words) // int(parts)
        part = self.value(f"arith.remui {self.round}, {of} : index")
        first = self.value(f"arith.muli {part}, {self.value(f'arith.constant {size} : index')} : index")
        return self.value(f"arith.addi {at}, {first} : index")

    def memref(self, buffer: str, at: str) -> str:
        return f"%{buffer}[{self.place(buffer, at)}] : memref<{self.buffers[buffer].split()[1]}xi32>"

    def work(self, adds: bool) -> None:
        at, total = self.loop(str(_WORK)), "%zero"
        for buffer in self.taken + (self.given if adds else []):
            word = self.value(f"memref.load {self.memref(buffer, at)}")
            total = self.value(f"arith.addi {total}, {word} : i32")
        for buffer in self.given:
            self.lines.append(f"memref.store {total}, {self.memref(buffer, at)}")
        self.lines.append("}")


def _cores(case: Case) -> Iterator[str]:
    for place, steps in case.get("core", {}).items():
        core = _Core(case, place)
        for step in re.findall(r"\d+\*\(|\)|[^\s)]+", steps):
            core.step(step)
        yield from (f"aie.core({_tile(place)}) {{", *core.lines, "aie.end", "}")


_BD = re.compile(
    r"(?P<name>\w+?)(?:\*(?P<many>\d+)|@(?P<at>\d+))?:(?P<words>\d+)(?:#(?P<id>\d+))?(?P<same>!?)$"
)


def _descriptors(case: Case, direction: str, given: list[str]) -> Iterator[list[str]]:
    """Lines of each descriptor of a channel."""
    for each in given:
        found = _BD.match(each)
        assert found
        name, words = found["name"], int(found["words"])
        _, size, free = case["buf"][name].split()
        takes, gives = ("free", "full") if direction == "S" else ("full", "free")
        gives = takes if found["same"] else gives
        packet = f"{{packet = #aie.packet_info<pkt_type = 0, pkt_id = {found['id']}>}}" if found["id"] else ""
        for n in range(int(found["many"] or 1)):
            at = int(found["at"] or 0) + n * words
            moved = [f"aie.dma_bd(%{name} : memref<{size}xi32>, {at}, {words}) {packet}"]
            before = [f"aie.use_lock(%{name}_{takes}, AcquireGreaterEqual, 1)"]
            yield moved if free == "0" else [*before, *moved, f"aie.use_lock(%{name}_{gives}, Release, 1)"]


def _channel(case: Case, number: int, line: str, following: str) -> Iterator[str]:
    _, channel, mode, *given = line.split()
    direction = "S2MM" if channel[0] == "S" else "MM2S"
    again = f", repeat_count = {mode[3:]}" if mode.startswith("rep") else ""
    yield f"%go{number} = aie.dma_start({direction}, {channel[1:]}, ^c{number}b0, {following}{again})"
    bds = list(_descriptors(case, channel[0], given))
    for n, lines in enumerate(bds):
        after = f"^c{number}b{(n + 1) % len(bds)}" if n + 1 < len(bds) or mode == "ring" else "^end"
        yield from (f"^c{number}b{n}:", *lines, f"aie.next_bd {after}")


def _channels(case: Case) -> Iterator[str]:
    for place in dict.fromkeys(line.split()[0] for line in case["dma"]):
        own = [line for line in case["dma"] if line.split()[0] == place]
        yield f"aie.{'memtile_dma' if place.endswith(',1') else 'mem'}({_tile(place)}) {{"
        for n, line in enumerate(own):
            if n:
                yield f"^start{n}:"
            yield from _channel(case, n, line, f"^start{n + 1}" if n + 1 < len(own) else "^end")
        yield from ("^end:", "aie.end", "}")


def _switch(settings: str) -> Iterator[str]:
    """Lines of a switch: its circuits, then what packets need."""
    words = settings.split()
    chosen = dict.fromkeys(s for w in words if "=" in w for s in w.split("=")[1].rstrip("+").split(","))
    chosen |= dict.fromkeys(w.split("@")[1] for w in words if "@" in w)
    named = {each: f"%a{n}" for n, each in enumerate(chosen)}
    for each, name in named.items():
        yield f"{name} = aie.amsel<{each.split('.')[0]}> ({each.split('.')[1]})"
    slots: dict[str, list[str]] = {}
    for n, word in enumerate(words):
        if ">" in word:
            yield f"aie.connect<{', '.join(map(_port, word.split('>')))}>"
        elif "=" in word:
            port, of = word.split("=")
            keeps = " {keep_pkt_header = true}" if of.endswith("+") else ""
            selected = ", ".join(named[each] for each in of.rstrip("+").split(","))
            yield f"%m{n} = aie.masterset({_port(port)}, {selected}){keeps}"
        else:
            port, rule = word.split(":")
            match, to = rule.split("@")
            mask, number = match.split("/") if "/" in match else ("31", match)
            slots.setdefault(port, []).append(f"aie.rule({mask}, {number}, {named[to]})")
    for port, rules in slots.items():
        yield from (f"aie.packet_rules({_port(port)}) {{", *rules, "}")


def _switches(case: Case) -> Iterator[str]:
    for kind, settings in (("switchbox", case["route"]), ("shim_mux", case.get("mux", {}))):
        for place, words in settings.items():
            name = f"%{kind}{place.replace(',', '_')}"
            yield from (f"{name} = aie.{kind}({_tile(place)}) {{", *_switch(words), "}")


def _flows(case: Case) -> Iterator[str]:
    for source, target in case.get("flows", []):
        (start, out), (end, into, *packet) = source.split("/"), target.split("/")
        if packet:
            yield f"aie.packet_flow({packet[0]}) {{ aie.packet_source<{_tile(start)}, DMA : {out}>"
            yield f"  aie.packet_dest<{_tile(end)}, DMA : {into}> }}"
        else:
            yield f"aie.flow({_tile(start)}, DMA : {out}, {_tile(end)}, DMA : {into})"


def _host(case: Case) -> Iterator[str]:
    runs = _runs(case)
    for name, (place, channel) in {name: (place, channel) for name, place, channel, *_ in runs}.items():
        yield f"aie.shim_dma_allocation @{name}({_tile(place)}, {channel})"
    size = {side: sum(_words(w)[0] for _, _, c, w, _ in runs if c.startswith(side)) for side in ("MM", "S2")}
    memory = {side: f"memref<{max(words, 1)}xi32>" for side, words in size.items()}
    yield f"aie.runtime_sequence(%MM: {memory['MM']}, %S2: {memory['S2']}) {{"
    at, begun = {"MM": 0, "S2": 0}, {place: iter(range(16)) for _, place, *_ in runs}
    waiting = iter(runs)
    for step in case["host"]:
        if step.startswith("wait"):
            yield f"aiex.npu.dma_wait {{symbol = @{step.split()[1]}}}"
            continue
        name, place, channel, words, options = next(waiting)
        side, (total, dims) = channel[:2], _words(words)
        packet = "".join(f", packet = <pkt_id = {o[1:]}, pkt_type = 0>" for o in options if o[0] == "#")
        token = "" if "quiet" in options else ", issue_token = true"
        yield f"aiex.npu.dma_memcpy_nd(%{side}[0, 0, 0, {at[side]}]{dims}{packet})"
        yield f"  {{id = {next(begun[place])} : i64, metadata = @{name}{token}}} : {memory[side]}"
        at[side] += total
    yield "}"


def _words(given: str) -> tuple[int, str]:
    """Words of a transfer, and its sizes and strides."""
    runs, _, each = given.partition("x")
    if not each:
        return int(runs), f"[1, 1, 1, {runs}][0, 0, 0, 1]"
    return int(runs) * int(each), f"[{runs}, 1, 1, {each}][{each}, 0, 0, 1]"
