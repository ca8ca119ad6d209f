"""A second opinion on whether a design ends: its words on their way, without any time.

Written from AM020 chapter 2 and the rules of GT-31 alone; it shares nothing with the engine and reads the
facts of a design (``support.silicon.verdict_designs``), not its MLIR. What has a choice in an array, two
packets at an arbiter or two channels that could move, has one by lot here. So a run gives one order of all
that may happen: a design of which every order ends must end, one of which none does must hang, and where
orders differ time decides, of which this knows nothing.

AIE2P: a beat has two words, and the header of a packet is one of the first two. A slave port holds four
beats, a master two, or four where it leads to another tile. A receiver takes what its descriptor needs, and
what rides in the last beat; nothing without a task; two beats while the lock of its descriptor is missing.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from support.silicon.verdict_designs import Case

SLAVE, MASTER, LOCAL = 4, 4, 2  # beats (AM020 chapter 2)
AHEAD = 4  # words of two beats, before the lock (GT-31)
EGRESS = {"core": 30, "memory": 16}  # words (DEV-V2-7)
ACCESS = 8  # words of 256 bits
_OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
_STEP = {"N": (0, 1), "S": (0, -1), "E": (1, 0), "W": (-1, 0)}
_SHIM_IN, _SHIM_OUT = {"S3": 0, "S7": 1}, {"S2": 0, "S3": 1}
Place = tuple[int, int]
Step = Callable[[], bool]
Pace = Literal["even", "uneven", "late"]


@dataclass
class Beat:
    """Words of a cycle: how many, whether the first one is a header, of which packet, and TLAST."""

    words: int
    packet: int | None
    last: bool
    token: str = ""  # of which transfer it is one


@dataclass
class Port:
    """A port of a switch."""

    room: int
    beats: deque[Beat] = field(default_factory=deque)

    def free(self) -> bool:
        return len(self.beats) < self.room


@dataclass
class Descriptor:
    """A buffer's words, the packet that they are, and the locks before and behind; "" = none."""

    words: int
    packet: int | None = None
    takes: str = ""
    gives: str = ""


class Sender:
    """An MM2S channel: fetches whole accesses ahead within a descriptor, and lets beats go."""

    def __init__(
        self,
        model: Model,
        bds: Iterator[Descriptor],
        out: Port,
        ahead: int,
        done: Callable[[], None] = lambda: None,
    ) -> None:
        self.model, self.bds, self.out, self.ahead, self.done = model, bds, out, ahead, done
        self.bd: Descriptor | None = None
        self.fetched = self.sent = 0
        self.begun = False

    def begin(self) -> bool:
        """Turn to the next descriptor, which may take long where its words are in external memory."""
        if self.bd is not None:
            return False
        self.bd = next(self.bds, None)
        self.begun, self.fetched, self.sent = False, 0, 0
        return self.bd is not None

    def step(self) -> bool:
        """Go on by a beat or an access."""
        if self.bd is None:
            return False
        if not self.begun:
            self.begun = self.model.take(self.bd.takes)
            return self.begun
        return self.fetch(self.bd) | self.send(self.bd)

    def fetch(self, bd: Descriptor) -> bool:
        if self.fetched == bd.words:
            return False
        size = min(ACCESS, bd.words - self.fetched)
        header = bd.packet is not None and self.sent == 0
        if self.fetched - self.sent + size + header > self.ahead:
            return False
        self.fetched += size
        if self.fetched == bd.words:
            self.model.give(bd.gives)
        return True

    def send(self, bd: Descriptor) -> bool:
        header = bd.packet is not None and self.sent == 0
        size = min(2 - header, bd.words - self.sent)
        if not self.out.free() or self.fetched - self.sent < size:
            return False
        self.sent += size
        packet = bd.packet if header else None
        self.out.beats.append(Beat(size + header, packet, self.sent == bd.words))
        if self.sent == bd.words:
            self.bd = None
            self.done()
        return True


class Receiver:
    """An S2MM channel."""

    def __init__(self, model: Model, bds: Iterator[Descriptor], port: Port, done: Callable[[], None]) -> None:
        self.model, self.bds, self.port, self.done = model, bds, port, done
        self.bd: Descriptor | None = None
        self.begun = False
        self.held = 0  # words that came and are of no descriptor
        self.moved = 0

    def step(self) -> bool:
        if self.bd is None:
            self.bd = next(self.bds, None)
            self.begun, self.moved = False, 0
            return self.bd is not None
        if not self.begun and self.model.take(self.bd.takes):
            self.begun = True
            return True
        if self.begun and (self.held or self.moved == self.bd.words):
            return self.write(self.bd)
        return self.enter()

    def write(self, bd: Descriptor) -> bool:
        words = min(self.held, bd.words - self.moved)
        self.held -= words
        self.moved += words
        if self.moved == bd.words:
            self.model.give(bd.gives)
            self.bd = None
            self.done()
        return True

    def enter(self) -> bool:
        """Let a beat in: what the descriptor needs, or what fits while its lock is missing."""
        if not self.port.beats:
            return False
        words = self.port.beats[0].words
        if not self.begun and self.held + words > AHEAD:
            return False
        self.port.beats.popleft()
        self.held += words
        return True


class _Queue:
    """Takes from a queue until it is empty, and later what has come meanwhile."""

    def __init__(self, tasks: deque[Descriptor]) -> None:
        self.tasks = tasks

    def __iter__(self) -> Iterator[Descriptor]:
        return self

    def __next__(self) -> Descriptor:
        if not self.tasks:
            raise StopIteration
        return self.tasks.popleft()


class Model:
    """An array, as the facts of a case have it, and a host."""

    def __init__(self, case: Case, lot: random.Random) -> None:
        self.lot, self.locks = lot, dict[str, int]()
        self.slaves, self.masters = dict[tuple[Place, str], Port](), dict[tuple[Place, str], Port]()
        self.holder: dict[tuple[Place, int], str] = {}
        self.steps: list[Step] = []
        self.late: list[Step] = []  # where descriptors of the host's words begin
        self.tasks: dict[tuple[Place, str], deque[Descriptor]] = {}
        self.tokens: dict[str, int] = {}
        self.waits: dict[tuple[Place, str], deque[str]] = {}
        for name, what in case["buf"].items():
            free = int(what.split()[2])
            self.locks[f"{name}_free"], self.locks[f"{name}_full"] = free, 0
        for text, settings in case["route"].items():
            self.switch(_place(text), settings.split())
        self.wires()
        for line in case["dma"]:
            self.channel(line, case)
        for program in case.get("core", {}).values():
            self.steps.append(_stepper(self.core(program)))
        self.over = False
        self.control = {_place(text): packet for text, packet in case.get("ctl", {}).items()}
        self.steps += [self.arrivals(place) for place in self.control]
        self.steps.append(_stepper(self.host(case)))

    # ports and switches

    def slave(self, place: Place, name: str) -> Port:
        return self.slaves.setdefault((place, name), Port(SLAVE))

    def master(self, place: Place, name: str) -> Port:
        return self.masters.setdefault((place, name), Port(LOCAL if _inside(place, name) else MASTER))

    def switch(self, place: Place, words: list[str]) -> None:
        circuits: dict[str, list[str]] = {}
        served: dict[str, list[tuple[str, bool]]] = {}  # masters by arbiter.msel; True: keeps headers
        rules: dict[str, list[tuple[int, int, str]]] = {}
        for word in words:
            if ">" in word:
                source, target = word.split(">")
                circuits.setdefault(source, []).append(target)
            elif "=" in word:
                name, selects = word.split("=")
                inside = _inside(place, name)
                self.master(place, name)
                for each in selects.rstrip("+").split(","):
                    served.setdefault(each, []).append((name, not inside or selects.endswith("+")))
            else:
                name, rule = word.split(":")
                match, select = rule.split("@")
                mask, number = match.split("/") if "/" in match else ("31", match)
                rules.setdefault(name, []).append((int(mask), int(number), select))
        for source, targets in circuits.items():
            outs = [self.master(place, each) for each in targets]
            self.steps.append(self.circuit(self.slave(place, source), outs))
        for source, matches in rules.items():
            self.steps.append(self.packets(place, source, matches, served))

    def circuit(self, source: Port, targets: list[Port]) -> Step:
        def step() -> bool:
            if not source.beats or not all(each.free() for each in targets):
                return False
            beat = source.beats.popleft()
            for each in targets:
                each.beats.append(beat)
            return True

        return step

    def packets(
        self,
        place: Place,
        name: str,
        rules: list[tuple[int, int, str]],
        served: dict[str, list[tuple[str, bool]]],
    ) -> Step:
        source = self.slave(place, name)
        held: list[tuple[int, list[tuple[Port, bool]]]] = []  # arbiter, and its masters for this packet

        def grant(packet: int) -> bool:
            select = next((to for mask, number, to in rules if (packet ^ number) & mask == 0), None)
            if select is None or select not in served:
                return False
            arbiter = int(select.split(".")[0])
            if self.holder.setdefault((place, arbiter), name) != name:
                return False
            held.append((arbiter, [(self.master(place, each), keeps) for each, keeps in served[select]]))
            return True

        def step() -> bool:
            if not source.beats:
                return False
            beat = source.beats[0]
            if not held:
                return beat.packet is not None and grant(beat.packet)
            arbiter, targets = held[0]
            if not all(port.free() for port, _ in targets):
                return False
            source.beats.popleft()
            for port, keeps in targets:
                drops = beat.packet is not None and not keeps
                port.beats.append(Beat(beat.words - 1, None, beat.last, beat.token) if drops else beat)
            if beat.last:
                held.clear()
                del self.holder[place, arbiter]
            return True

        return step

    def wires(self) -> None:
        for (place, name), port in list(self.masters.items()):
            if _inside(place, name):
                continue
            across, up = _STEP[name[0]]
            there = (place[0] + across, place[1] + up)
            self.steps.append(self.circuit(port, [self.slave(there, _OPPOSITE[name[0]] + name[1:])]))

    # locks

    def take(self, lock: str) -> bool:
        if lock and self.locks[lock] < 1:
            return False
        if lock:
            self.locks[lock] -= 1
        return True

    def give(self, lock: str) -> None:
        if lock:
            self.locks[lock] += 1

    # channels, cores, host

    def channel(self, line: str, case: Case) -> None:
        text, name, mode, *given = line.split()
        place = _place(text)
        bds = [bd for each in given for bd in _descriptors(each, name[0], case)]
        chain = _rounds(bds, mode)
        if name[0] == "S":
            port = self.master(place, f"D{name[1:]}")
            self.steps.append(Receiver(self, chain, port, lambda: None).step)
        else:
            ahead = EGRESS["memory" if place[1] == 1 else "core"]
            sender = Sender(self, chain, self.slave(place, f"D{name[1:]}"), ahead)
            self.steps += [sender.begin, sender.step]

    def core(self, program: str) -> Iterator[bool]:
        for step in _unrolled(program):
            lock = {"<": "full", ">": "free", "-": "free", "+": "full"}.get(step[0])
            if lock is None:
                continue
            if step[0] in "<>":
                while not self.take(f"{step[1:]}_{lock}"):
                    yield False
            else:
                self.give(f"{step[1:]}_{lock}")
            yield True

    def host(self, case: Case) -> Iterator[bool]:
        for step in case["host"]:
            words = step.split()
            if words[0] == "wait":
                while not self.tokens.get(words[1], 0):
                    yield False
                self.tokens[words[1]] -= 1
            else:
                self.push(words[1], words[2], words[3], words[4:])
            yield True
        self.over = True

    def push(self, name: str, at: str, size: str, options: list[str]) -> None:
        text, direction, channel = at.split("/")
        place, sends = _place(text), direction == "MM2S"
        key = (place, direction + channel)
        if key not in self.tasks:
            self.tasks[key], self.waits[key] = deque(), deque()
            self.steps += self.shim(place, sends, int(channel), key)
        runs, _, each = size.partition("x")
        packet = next((int(o[1:]) for o in options if o[0] == "#"), None)
        whole = [int(runs)] if not each else [int(each)] * int(runs)
        self.tasks[key].extend(Descriptor(words, packet) for words in whole)
        self.waits[key].extend([""] * (len(whole) - 1) + ["" if "quiet" in options else name])

    def shim(self, place: Place, sends: bool, channel: int, key: tuple[Place, str]) -> list[Step]:
        def done() -> None:
            name = self.waits[key].popleft()
            if name and place in self.control:
                self.slave(place, "C0").beats.append(Beat(1, self.control[place], True, name))
            elif name:
                self.tokens[name] = self.tokens.get(name, 0) + 1

        side = _SHIM_IN if sends else _SHIM_OUT
        port = next(name for name, number in side.items() if number == channel)
        if sends:
            sender = Sender(self, _Queue(self.tasks[key]), self.slave(place, port), 1 << 30, done)
            self.late.append(sender.begin)
            return [self.late[-1], sender.step]
        return [Receiver(self, _Queue(self.tasks[key]), self.master(place, port), done).step]

    def arrivals(self, place: Place) -> Step:
        """What takes tokens out of the array."""
        port = self.master(place, "S0")

        def step() -> bool:
            if not port.beats:
                return False
            name = port.beats.popleft().token
            self.tokens[name] = self.tokens.get(name, 0) + 1
            return True

        return step

    def run(self, pace: Pace = "even") -> bool:
        """Let all go on, in an order by lot, until the host is done or nothing can; whether the host is.

        Args:
            pace: all have their turns alike; or some are slow for the whole run, or have their turn only when
                nothing else can move; or the host's words come "late": a descriptor of them begins when
                nothing else moves.
        """
        paces: dict[Step, tuple[float, int]] = {}
        moving, lots = True, _PACES if pace == "uneven" else _PACES[:1]
        while moving and not self.over:
            for at in (self.lot.random(), 1.0):  # the second time all have their turn
                order = [(step, paces.setdefault(step, self.lot.choice(lots))) for step in self.steps]
                self.lot.shuffle(order)
                now = [(step, many) for step, (often, many) in order if at <= often or at == 1]
                now = [each for each in now if pace != "late" or each[0] not in self.late]
                moving = sum(_moves(step, many) for step, many in now) > 0
                if moving:
                    break
            moving = moving or any(step() for step in self.lot.sample(self.late, len(self.late)))
        return self.over


_PACES = ((1.0, 2), (1.0, 2), (1.0, 64), (0.1, 2), (0.0, 8))
"""How often a step has its turn, and how many times it goes on then."""


def _moves(step: Step, many: int) -> bool:
    """Let a step go on so many times, if it can; whether it did."""
    return sum(itertools.takewhile(bool, (step() for _ in range(many)))) > 0


def orders(case: Case, many: int, pace: Pace = "even") -> frozenset[bool]:
    """Whether a design ends, in so many orders."""
    return frozenset(Model(case, random.Random(seed)).run(pace) for seed in range(many))


def _place(text: str) -> Place:
    column, row = text.split(",")
    return int(column), int(row)


def _inside(place: Place, name: str) -> bool:
    """Whether a master leads to a channel of its tile."""
    return name[0] in "DC" or (place[1] == 0 and name[0] == "S")


def _stepper(moves: Iterator[bool]) -> Step:
    return lambda: next(moves, False)


_BD = re.compile(r"(\w+?)(?:\*(\d+)|@\d+)?:(\d+)(?:#(\d+))?(!?)$")


def _descriptors(text: str, side: str, case: Case) -> Iterator[Descriptor]:
    found = _BD.match(text)
    assert found
    name, many, words, packet, same = found.groups()
    takes, gives = ("free", "full") if side == "S" else ("full", "free")
    if case["buf"][name].split()[2] == "0":
        takes = gives = ""
    else:
        takes, gives = f"{name}_{takes}", f"{name}_{takes if same else gives}"
    for _ in range(int(many or 1)):
        yield Descriptor(int(words), int(packet) if packet else None, takes, gives)


def _rounds(bds: list[Descriptor], mode: str) -> Iterator[Descriptor]:
    many = {"ring": 1 << 30, "once": 1}.get(mode) or int(mode[3:]) + 1
    for _ in range(many):
        yield from bds


def _unrolled(program: str) -> Iterator[str]:
    """Steps of a core, its loops unrolled; a loop has none within."""
    words = re.findall(r"\d+\*\(|\)|[^\s)]+", program)
    at = 0
    while at < len(words):
        if words[at].endswith("*("):
            end = words.index(")", at)
            for _ in range(int(words[at][:-2])):
                yield from words[at + 1 : end]
            at = end
        else:
            yield words[at]
        at += 1
