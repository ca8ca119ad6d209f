"""Random designs of packets and circuits that share switches, as facts (``support.silicon.verdict_designs``).

Cores work off the buffers of their channels in rounds; what they get is from the host, from a memory tile or
from another core, what they give goes to one or two receivers. A channel serves one circuit, or several
packets; packets share links and arbiters, circuits and packets have up to two receivers each. Some designs
have a word too many or too few, a receiver that takes no more, or headers that are kept.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from support.silicon.verdict_designs import Case

ROUNDS = 5
_STEP = {"N": (0, 1), "S": (0, -1), "E": (1, 0), "W": (-1, 0)}
_OPPOSITE = {"N": "S", "S": "N", "E": "W", "W": "E"}
_LINKS = {"N": 6, "S": 4, "E": 4, "W": 4}
_SLOTS, _ARBITERS, _SELECTS = 4, 6, 4  # of a slave, of a switch, of an arbiter
_IDS = 16  # of descriptors of an interface tile
_TOKEN = 15  # packet of tokens
_GIVES = {"<": "-", ">": "+"}
Place = tuple[int, int]
Transfer = tuple[str, str, str, str]  # name, channel, words of a round, options


class UnroutableError(Exception):
    """No way is left; the next lot may have one."""


@dataclass
class Flow:
    """From a slave port to master ports; a packet's number, or None for a circuit."""

    source: tuple[Place, str]
    targets: list[tuple[Place, str]]
    packet: int | None
    keeps: bool = False


@dataclass
class Switches:
    """What is set in all switches."""

    lot: random.Random
    sharing: float
    top: int
    circuits: list[tuple[Place, str, str]] = field(default_factory=list)
    packets: list[tuple[Place, str, int, list[str], bool]] = field(default_factory=list)
    taken: dict[tuple[Place, str], bool] = field(default_factory=dict)  # of a wire: is for packets
    slots: dict[tuple[Place, str], int] = field(default_factory=dict)

    def add(self, flow: Flow, columns: range) -> None:
        """Route a flow along a tree of shortest ways."""
        tree = self.tree(flow, columns)
        at = [flow.source]
        while at:
            place, port = at.pop()
            ports = []
            for side in tree.get(place, []):
                if side[0] not in _STEP or (place, side) in flow.targets:
                    ports.append(side)
                    continue
                master = self.wire(place, side, port, flow.packet is not None)
                ports.append(master)
                across, up = _STEP[side]
                at.append(((place[0] + across, place[1] + up), _OPPOSITE[side] + master[1:]))
            self.set(place, port, ports, flow)

    def tree(self, flow: Flow, columns: range) -> dict[Place, list[str]]:
        """Sides, or ports of the tile itself, to which a flow leaves each tile."""
        came: dict[Place, tuple[Place, str]] = {}
        start, front = flow.source[0], [flow.source[0]]
        while front:
            place = front.pop(0)
            sides = list(_STEP)
            self.lot.shuffle(sides)
            for side in sides:
                there = (place[0] + _STEP[side][0], place[1] + _STEP[side][1])
                level = there[1] == place[1]
                if there[0] not in columns or not 0 <= there[1] <= self.top or (level and place[1] == 1):
                    continue
                if there != start and there not in came:
                    came[there] = (place, side)
                    front.append(there)
        out: dict[Place, list[str]] = {}
        for place, port in flow.targets:
            out.setdefault(place, []).append(port)
            while place != start:
                place, side = came[place]
                if side not in out.setdefault(place, []):
                    out[place].append(side)
        return out

    def wire(self, place: Place, side: str, port: str, packets: bool) -> str:
        """A master of that side: one that packets have, or one that is free."""
        names = [f"{side}{n}" for n in range(_LINKS[side])]
        if place[1] == 1 and port[0] in "NS":
            names = [name for name in names if name[1:] == port[1:]]
        across, up = _STEP[side]
        there = (place[0] + across, place[1] + up)

        def shared(name: str) -> bool:
            return self.slots.get((there, _OPPOSITE[side] + name[1:]), 0) < _SLOTS

        free = [name for name in names if (place, name) not in self.taken]
        if there[1] == 1 and side in "NS":  # through a memory tile on the same number: it must be free behind
            free = [name for name in free if (there, name) not in self.taken] or free
        joint = [name for name in names if self.taken.get((place, name)) and shared(name)] if packets else []
        if joint and (not free or self.lot.random() < self.sharing):
            return self.lot.choice(joint)
        if not free:
            raise UnroutableError
        name = self.lot.choice(free)
        self.taken[place, name] = packets
        return name

    def set(self, place: Place, port: str, ports: list[str], flow: Flow) -> None:
        if flow.packet is None:
            self.circuits += [(place, port, each) for each in ports]
            return
        if self.slots.setdefault((place, port), 0) == _SLOTS:
            raise UnroutableError
        self.slots[place, port] += 1
        self.packets.append((place, port, flow.packet, ports, flow.keeps))

    def settings(self) -> dict[str, str]:
        """Circuits, masters and rules by tile."""
        found: dict[str, list[str]] = {}
        for place, port, to in self.circuits:
            found.setdefault(_text(place), []).append(f"{port}>{to}")
        for place in dict.fromkeys(place for place, *_ in self.packets):
            found.setdefault(_text(place), []).extend(self.arbitrated(place))
        return {place: " ".join(words) for place, words in found.items()}

    def arbitrated(self, place: Place) -> list[str]:
        """Masters with their arbiters, and rules; masters that serve one packet have one arbiter."""
        here = [each for each in self.packets if each[0] == place]
        groups: list[set[str]] = []
        for _, _, _, ports, _ in here:
            joint = [group for group in groups if group & set(ports)]
            groups = [group for group in groups if group not in joint] + [set(ports).union(*joint)]
        room = dict.fromkeys(range(_ARBITERS), _SELECTS)
        select: dict[frozenset[str], str] = {}
        for group in groups:
            sets = list(dict.fromkeys(frozenset(ports) for _, _, _, ports, _ in here if set(ports) <= group))
            used = [n for n in room if _SELECTS > room[n] >= len(sets)]
            fresh = [n for n in room if room[n] == _SELECTS >= len(sets)]
            if not used + fresh:
                raise UnroutableError
            pool = used if used and (not fresh or self.lot.random() < self.sharing) else fresh
            arbiter = self.lot.choice(pool)
            for each in sets:
                room[arbiter] -= 1
                select[each] = f"{arbiter}.{room[arbiter]}"
        masters: dict[str, list[str]] = {}
        for each, chosen in select.items():
            for port in each:
                masters.setdefault(port, []).append(chosen)
        ends = {port: keeps for _, _, _, ports, keeps in here for port in ports if _is_end(place, port)}
        words = [f"{port}={','.join(of)}{'+' if ends.get(port) else ''}" for port, of in masters.items()]
        return words + [f"{port}:{n}@{select[frozenset(ports)]}" for _, port, n, ports, _ in here]


@dataclass
class Draft:
    """A design in the making."""

    lot: random.Random
    columns: range
    buf: dict[str, str] = field(default_factory=dict)
    dma: list[str] = field(default_factory=list)
    core: dict[str, str] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    sends: dict[Place, int] = field(default_factory=dict)  # channels in use
    receives: dict[Place, int] = field(default_factory=dict)
    transfers: list[tuple[str, str, str, str]] = field(
        default_factory=list
    )  # name, at, words of a round, options
    packets: int = 0

    def channel(self, of: dict[Place, int], place: Place) -> int:
        n = of.get(place, 0)
        if n >= (6 if place[1] == 1 else 2):
            raise UnroutableError
        of[place] = n + 1
        return n

    def packet(self) -> int:
        self.packets += 1 + (self.packets + 1 == _TOKEN)
        if self.packets > 31:
            raise UnroutableError
        return self.packets


@dataclass
class Input:
    """A buffer that is to be filled: its channel, and words a round."""

    name: str
    target: tuple[Place, str]
    words: int
    keeps: bool = False


def random_case(seed: int) -> Case:
    """A design by lot; the same for the same number."""
    lot = random.Random(seed)
    while True:
        try:
            return _case(lot, seed)
        except UnroutableError:
            continue


def _case(lot: random.Random, seed: int) -> Case:
    width = lot.choice((1, 1, 2, 3))
    draft = Draft(lot, range(width))
    places = [(c, r) for c in draft.columns for r in range(2, 5)]
    lot.shuffle(places)
    cores = places[: lot.randint(1, min(5, len(places)))]
    open_inputs: list[Input] = []
    for n, place in enumerate(cores):
        open_inputs = _core(draft, n, place, open_inputs)
    _from_host(draft, open_inputs)
    if lot.random() < 0.4:
        _relay(draft)
    sharing = lot.choice((0.1, 0.5, 0.9))
    switches = Switches(lot, sharing, 5)
    tokens = lot.random() < 0.3
    for flow in sorted(draft.flows, key=lambda _: lot.random()):
        switches.add(flow, draft.columns)
    controls = sorted({_place(at) for _, at, _, _ in draft.transfers}) if tokens else []
    for place in controls:
        switches.add(Flow((place, "C0"), [(place, "S0")], _TOKEN, keeps=True), draft.columns)
    case: Case = {"id": f"random_{seed}", "dev": "npu2", "buf": draft.buf, "dma": draft.dma}
    case |= {"core": draft.core, "route": switches.settings(), "mux": _muxes(draft), "host": _host(draft)}
    return case | ({"ctl": {_text(place): _TOKEN for place in controls}} if controls else {})


def _core(draft: Draft, n: int, place: Place, fed: list[Input]) -> list[Input]:
    """A core with its channels; its output feeds some of the inputs that are open. The inputs open now."""
    lot = draft.lot
    before: list[str] = []
    after: list[str] = []
    words = lot.choice((8, 16, 16, 32, 64))
    inputs = []
    for k in range(lot.choice((1, 1, 2))):
        name, depth, keeps = f"i{n}{k}", lot.choice((1, 1, 2)), lot.random() < 0.1
        size = words + (lot.choice((-1, 1, 2)) if lot.random() < 0.15 else 0) + keeps
        draft.buf[name] = f"{_text(place)} {-(-size // 8) * 8 * depth} {depth}"
        stride = -(-size // 8) * 8
        bds = " ".join(f"{name}@{b * stride}:{size}" for b in range(depth))
        channel = draft.channel(draft.receives, place)
        draft.dma.append(f"{_text(place)} S{channel} {_mode(lot, depth)} {bds}")
        inputs.append(Input(name, (place, f"D{channel}"), size - keeps, keeps))
        before.append(f"<{name}")
        after.append(f"-{name}")
    if lot.random() < 0.08 and len(inputs) > 1:
        after.pop()  # a buffer that is never given back
        before.pop()
    if fed or lot.random() < 0.7:
        name, words = f"o{n}", lot.choice((words, words, 24))
        numbers = _serve(draft, place, fed, words)
        draft.buf[name] = f"{_text(place)} {-(-words // 8) * 8} {len(numbers)}"
        bds = [f"{name}:{words}" + (f"#{number}" if number is not None else "") for number in numbers]
        draft.dma.append(f"{_text(place)} M{draft.channel(draft.sends, place)} ring {' '.join(bds)}")
        for _ in numbers:
            before.append(f">{name}")
            after.append(f"+{name}")
        lot.shuffle(before)
    lot.shuffle(after)
    if len(set(before)) < len(before):  # an output of several descriptors: one after the other
        steps = [each for take in before for each in (take, _GIVES[take[0]] + take[1:])]
    else:
        steps = [*before, *([f"s{lot.choice((5, 50, 300))}"] if lot.random() < 0.5 else []), *after]
    draft.core[_text(place)] = f"{ROUNDS}*({' '.join(steps)})"
    return inputs


def _mode(lot: random.Random, depth: int) -> str:
    if lot.random() < 0.8:
        return "ring"
    return f"rep{lot.choice((ROUNDS // depth - 1, ROUNDS - 1))}"


def _serve(draft: Draft, place: Place, fed: list[Input], words: int) -> list[int | None]:
    """Flows from a core's output to open inputs, or to the host; packets of its descriptors."""
    lot = draft.lot
    source = (place, f"D{draft.sends.get(place, 0)}")
    chosen = [fed.pop() for _ in range(min(len(fed), lot.choice((1, 1, 2))))] if lot.random() < 0.8 else []
    _from_host(draft, fed)
    targets = [(each.target, each.keeps) for each in chosen]
    if not targets or lot.random() < 0.4:
        column = lot.choice(list(draft.columns))
        channel = draft.channel(draft.receives, (column, 0))
        draft.transfers.append((f"out{column}{channel}", f"{column},0/S2MM/{channel}", str(words), ""))
        targets.append((((column, 0), f"S{2 + channel}"), False))
    kind = lot.choice(("circuit", "packet", "packets"))
    if any(keeps for _, keeps in targets):
        kind = "packet" if len({keeps for _, keeps in targets}) == 1 else "packets"
    if kind == "packets":
        numbers: list[int | None] = []
        for target, keeps in targets:
            numbers.append(draft.packet())
            draft.flows.append(Flow(source, [target], numbers[-1], keeps))
        return numbers
    number = draft.packet() if kind == "packet" else None
    draft.flows.append(Flow(source, [target for target, _ in targets], number, targets[0][1]))
    return [number]


def _from_host(draft: Draft, fed: list[Input]) -> None:
    """Flows from interface tiles to all inputs that are still open."""
    lot = draft.lot
    while fed:
        column = lot.choice(list(draft.columns))
        busy = draft.sends.get((column, 0), 0)
        many = lot.randint(1, min(3, len(fed)))
        chosen = [fed.pop() for _ in range(many)]
        channel = draft.channel(draft.sends, (column, 0))
        source = ((column, 0), ("S3", "S7")[busy])
        if many > 1 and not any(each.keeps for each in chosen) and lot.random() < 0.4:
            transfer = (f"in_{chosen[0].name}", f"{column},0/MM2S/{channel}", str(chosen[0].words), "quiet")
            draft.transfers.append(transfer)
            draft.flows.append(Flow(source, [each.target for each in chosen], None))
            continue
        alone = many == 1 and not chosen[0].keeps and lot.random() < 0.4
        for each in chosen:
            words = each.words + (lot.choice((1, 2, 4, 6, -1)) if lot.random() < 0.12 else 0)
            number = None if alone else draft.packet()
            option = "quiet" if alone else f"#{number} quiet"
            name = f"in_{each.name}"
            draft.transfers.append((name, f"{column},0/MM2S/{channel}", str(words), option))
            draft.flows.append(Flow(source, [each.target], number, each.keeps))


def _relay(draft: Draft) -> None:
    """Words of the host through a memory tile and back to it."""
    lot, column = draft.lot, draft.lot.choice(list(draft.columns))
    words, place = lot.choice((16, 32, 64)), (column, 1)
    into, out = draft.channel(draft.sends, (column, 0)), draft.channel(draft.receives, (column, 0))
    receives, sends = draft.channel(draft.receives, place), draft.channel(draft.sends, place)
    depth = lot.choice((1, 2))
    draft.buf["relay"] = f"{_text(place)} {words * depth} {depth}"
    numbers = [draft.packet() if lot.random() < 0.7 else None for _ in range(2)]
    packet = f"#{numbers[1]}" if numbers[1] is not None else ""
    draft.dma.append(f"{_text(place)} S{receives} ring relay*{depth}:{words}")
    draft.dma.append(f"{_text(place)} M{sends} ring relay*{depth}:{words}{packet}")
    draft.flows.append(Flow(((column, 0), ("S3", "S7")[into]), [(place, f"D{receives}")], numbers[0]))
    draft.flows.append(Flow((place, f"D{sends}"), [((column, 0), f"S{2 + out}")], numbers[1]))
    option = "quiet" if numbers[0] is None else f"#{numbers[0]} quiet"
    draft.transfers.append(("in_relay", f"{column},0/MM2S/{into}", str(words), option))
    draft.transfers.append((f"out{column}{out}", f"{column},0/S2MM/{out}", str(words), ""))


def _host(draft: Draft) -> list[str]:
    """All rounds at once, or one after the other while the queues have room."""
    lot, steps = draft.lot, []
    outs = [each for each in draft.transfers if "S2MM" in each[1]]
    if not outs:
        raise UnroutableError
    channels = [at for _, at, _, _ in draft.transfers]
    tiles = [at.split("/")[0] for at in channels]
    few = max(map(channels.count, channels)) == 1 and max(map(tiles.count, tiles)) * ROUNDS <= _IDS
    apart = few and lot.random() < 0.7
    for _ in range(ROUNDS if apart else 1):
        order = sorted(draft.transfers, key=lambda _: lot.random())
        for name, at, words, option in order:
            many = words if apart else _rounds(words, at)
            steps.append(f"go {name} {at} {many} {option}".strip())
        waits = [f"wait {name}" for name, *_ in outs]
        lot.shuffle(waits)
        steps += waits
    return steps


def _rounds(words: str, at: str) -> str:
    """Words of all rounds: each one a packet, but for what the host gets."""
    return f"{ROUNDS}x{words}" if "MM2S" in at else str(ROUNDS * int(words))


def _muxes(draft: Draft) -> dict[str, str]:
    ways = {"MM2S/0": "D0>N3", "MM2S/1": "D1>N7", "S2MM/0": "N2>D0", "S2MM/1": "N3>D1"}
    found: dict[str, list[str]] = {}
    for _, at, _, _ in draft.transfers:
        place, channel = at.split("/", 1)
        if ways[channel] not in found.setdefault(place, []):
            found[place].append(ways[channel])
    return {place: " ".join(words) for place, words in found.items()}


def _is_end(place: Place, port: str) -> bool:
    return port[0] == "D" or (place[1] == 0 and port[0] == "S")


def _place(at: str) -> Place:
    column, row = at.split("/")[0].split(",")
    return int(column), int(row)


def _text(place: Place) -> str:
    return f"{place[0]},{place[1]}"
