"""The data of a page of ``memtile run --report``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta

from memtile.documents import Count, Positive, having

_Track = Annotated[int, Meta(ge=-1, description="Place in tracks, -1 = none.")]
_Places = list[Count]
_Colour = Annotated[str, Meta(pattern="^#[0-9a-f]{6}$")]


class CauseMeaning(TypedDict):
    """What a value of a track means."""

    name: str
    text: str
    light: _Colour
    dark: _Colour


class CausesByKind(TypedDict):
    """What the lowest eight bits of a value mean, by kind of track; the number is the place in the list."""

    channel: list[CauseMeaning]
    core: list[CauseMeaning]
    port: list[CauseMeaning]


class PageTile(TypedDict):
    """A tile."""

    name: str
    role: Literal["memory", "compute", "interface"]
    column: int
    row: Count


class Track(TypedDict):
    """A row of the timeline.

    Attributes:
        label: What the design calls it; empty if it has no name.
        tile: Place in tiles.
        receives: Whether it is an S2MM channel.
        changes: Numbers of it in each of the two lists of packed.
    """

    kind: Literal["channel", "core", "lock", "port"]
    name: str
    label: str
    tile: Count
    receives: bool
    changes: Positive


class Agent(TypedDict):
    """Who did something to a lock."""

    name: str
    track: _Track


class PageLock(TypedDict):
    """A lock.

    Attributes:
        givers: Channels whose descriptors release it; of one that a stuck run waits for, cores too.
    """

    name: str
    label: str
    track: Count
    givers: _Places


Way = TypedDict("Way", {"from": Count, "to": _Places, "ports": _Places, "steps": list[tuple[Count, Count]]})


class PageBank(TypedDict):
    """A bank of data memory."""

    tile: Count
    name: str


class Banks(TypedDict):
    """Accesses of banks.

    Attributes:
        stretch: Cycles that are counted together.
        bins: Stretches of the run.
    """

    stretch: Positive
    bins: Positive
    list: list[PageBank]


class PageDescriptor(TypedDict):
    """A descriptor.

    Attributes:
        place: Where the design says it; empty if nowhere.
        lines: Topic and text; for people.
        length: Words of its stream.
        pitch: Words of a row of the picture.
        drawn: Words of the picture: its numbers in packed.
    """

    tile: Count
    bd: Count
    users: _Places
    place: str
    lines: list[tuple[str, str]]
    length: Count
    pitch: Positive
    drawn: Count


class Report(TypedDict):
    """What the script element with id data of a report holds.

    Attributes:
        title: Name of the file of the design.
        command: That made it; empty if none did.
        text: The result as memtile run prints it.
        ahead: What the front end says of the run, such as the ports of a graph; texts for people.
        record: As memtile run --record writes it; schema record.
        began: First cycle of the timeline.
        ended: The cycle after the last one.
        agents: Who did something to a lock, by the number in the values of locks.
        locks: Locks by one less than the number in the values of channels and cores.
        ways: Where the words of each sending channel or core may go, by places in tracks; steps are pairs of
            tiles between which it goes.
        packed: Numbers of 32 bits, deflated (zlib), first the lowest bytes of all, then the next ones: cycles
            from one change of each track to the next, the values of each, accesses and conflicts of each
            bank, the order of each descriptor.
    """

    format: Literal["memtile-report"]
    version: Literal[1]
    title: str
    command: str
    text: str
    ahead: list[str]
    record: Annotated[dict[str, Any], having("verdict", "why", "result", "bytes", "provenance")]
    began: Count
    ended: Count
    causes: CausesByKind
    tiles: list[PageTile]
    tracks: list[Track]
    agents: dict[str, Agent]
    locks: dict[str, PageLock]
    ways: list[Way]
    banks: Banks
    descriptors: list[PageDescriptor]
    packed: Annotated[str, Meta(extra_json_schema={"contentEncoding": "base64"})]
