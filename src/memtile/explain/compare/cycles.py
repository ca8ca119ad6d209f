"""What changed between the records of two runs: cycles by cause and by channel, how they ended, findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NotRequired, TypedDict

from memtile.documents import Count, Scalar, one_of
from memtile.model.state.causes import Cause, CoreCause

_NAMES = ("status", "cycles", "host_cycles", "bit_exact")
_TIMES = ("cycles", "host_cycles")
_Value = Annotated[Any, one_of(Scalar)]
_SHOWN = 20  # lines about channels and cores
_TEXTS = {each.name.lower().replace("_", " "): each.text for each in (*CoreCause, *Cause)}
_LISTS = ("errors", "waiting", "resting", "unsimulated", "assumed")


class _ComparedUse(TypedDict, total=False):
    """Of a channel or core; cycles are null if untimed."""

    label: str
    kernel: str
    cycles: dict[str, Count] | None
    words: Count
    bds: Count
    tasks: Count


class _ComparedChannel(_ComparedUse):
    channel: str


class _ComparedCore(_ComparedUse):
    core: str


class _ComparedFinding(TypedDict):
    code: str
    message: str


class _ComparedResult(TypedDict):
    status: str
    cycles: Count | None
    channels: list[_ComparedChannel]
    cores: list[_ComparedCore]
    findings: list[_ComparedFinding]
    host_cycles: NotRequired[Count | None]
    bit_exact: NotRequired[bool | None]
    errors: NotRequired[list[str]]
    waiting: NotRequired[list[str]]
    resting: NotRequired[list[str]]
    unsimulated: NotRequired[list[str]]
    assumed: NotRequired[list[str]]


_Stream = TypedDict("_Stream", {"from": str, "to": list[str]})


class ComparedRecord(TypedDict):
    """What a comparison reads of a record, so that it reads earlier ones, which have fewer keys."""

    result: _ComparedResult
    verdict: NotRequired[str]
    bytes: NotRequired[dict[str, dict[str, Count]]]
    streams: NotRequired[list[_Stream]]


@dataclass(frozen=True, slots=True)
class Change:
    """A value that is not the same.

    Attributes:
        where: the channel, core, level of memory or the run itself.
        what: the cause or the property.
        first: there; None = there is none.
        second: here; None = there is none.
    """

    where: str
    what: str
    first: _Value
    second: _Value

    @property
    def text(self) -> str:
        """``memory(0,1) S2MM 0 'rows': lock acquire 1,221 -> 300 (-921)``."""
        what = _TEXTS.get(self.what, self.what)
        if self.first is None or self.second is None:
            side, value = ("second", self.second) if self.first is None else ("first", self.first)
            return f"{self.where}: {what} only in the {side}: {value}"
        return f"{self.where}: {what} {_shown(self.first)} -> {_shown(self.second)}{self._by()}"

    def _by(self) -> str:
        numbers = (int, float)
        if isinstance(self.first, bool) or not isinstance(self.first, numbers):
            return ""
        if not isinstance(self.second, numbers):
            return ""
        by = self.second - self.first
        share = f", {100 * by / self.first:+.1f} %" if self.first and self.what == "cycles" else ""
        return f" ({by:+,}{share})"


@dataclass(frozen=True, slots=True)
class RunChanges:
    """What changed between two runs.

    Attributes:
        run: of the run as a whole.
        causes: cycles of all channels and of all cores by cause, the largest difference first.
        channels: of each channel and core, those with the largest difference first.
        others: findings, errors, bytes, places where streams go.
    """

    run: Sequence[Change]
    causes: Sequence[Change]
    channels: Sequence[Change]
    others: Sequence[Change]

    def __bool__(self) -> bool:
        return bool(self.run or self.causes or self.channels or self.others)

    def is_within(self, tolerance: float) -> bool:
        """Whether both ended alike, and their cycles differ by no more than a part of the first's."""
        for change in self.run:
            if change.what not in _TIMES or change.first is None or change.second is None:
                return False
            if change.what == "cycles" and abs(change.second - change.first) > tolerance * change.first:
                return False
        return True

    def lines(self) -> Iterator[str]:
        """Text."""
        yield from (change.text for change in (*self.run, *self.causes, *self.channels[:_SHOWN]))
        if len(self.channels) > _SHOWN:
            yield f"and {len(self.channels) - _SHOWN} smaller ones of channels and cores (--json has all)"
        yield from (change.text for change in self.others)


def _shown(value: object) -> str:
    """A value for people; whole numbers with separators of thousands."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def run_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> RunChanges:
    """What changed between two records, but for what they say that comparisons ignore.

    Args:
        first: as ``explain.record.record`` makes them.
        second: likewise.
    """
    mine, other = first["result"], second["result"]
    run = [*_changed("run", "verdict", first.get("verdict"), second.get("verdict"))]
    for name in _NAMES:
        run += _changed("run", name, mine.get(name), other.get(name))
    return RunChanges(
        tuple(run),
        tuple(_largest(_causes(mine, other))),
        tuple(_largest(_channels(mine, other))),
        (*_findings(mine, other), *_texts(mine, other), *_records(first, second)),
    )


def _changed(where: str, what: str, first: object, second: object) -> Iterator[Change]:
    if first != second:
        yield Change(where, what, first, second)


def _largest(changes: Iterator[Change]) -> list[Change]:
    def size(change: Change) -> int:
        return abs(int(change.second) - int(change.first))

    return sorted(changes, key=size, reverse=True)


def _causes(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    for what in ("channels", "cores"):
        if any(use.get("cycles") is None for each in (first, second) for use in each[what]):
            continue  # of a run without time
        sums = [_sums(each[what]) for each in (first, second)]
        for cause in dict.fromkeys((*sums[0], *sums[1])):
            yield from _changed(f"all {what}", _said(cause), sums[0].get(cause, 0), sums[1].get(cause, 0))


def _sums(uses: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for use in uses:
        for cause, cycles in use["cycles"].items():
            found[cause] = found.get(cause, 0) + cycles
    return found


def _channels(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    """Cycles by cause, words, descriptors and tasks of each channel; of a core its cycles."""
    for what, key in (("channels", "channel"), ("cores", "core")):
        uses = [{use[key]: use for use in each[what]} for each in (first, second)]
        for name in dict.fromkeys((*uses[0], *uses[1])):
            yield from _of_one(name, uses[0].get(name, {}), uses[1].get(name, {}))


def _of_one(name: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[Change]:
    """A channel or core of two runs; empty in a run that has none of this name."""
    known = one or two
    label = known.get("label") or known.get("kernel") or ""
    where = f"{name} {label!r}" if label else name
    cycles = one.get("cycles", {}), two.get("cycles", {})
    if cycles[0] is not None and cycles[1] is not None:
        for cause in dict.fromkeys((*cycles[0], *cycles[1])):
            yield from _changed(where, _said(cause), *(each.get(cause, 0) for each in cycles))
    for count in ("words", "bds", "tasks"):
        yield from _changed(where, count, one.get(count, 0), two.get(count, 0))


def _findings(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    found = [{(f["code"], f["message"]) for f in each.get("findings", ())} for each in (first, second)]
    for code, message in sorted(found[0] - found[1]):
        yield Change("findings", code, message, None)
    for code, message in sorted(found[1] - found[0]):
        yield Change("findings", code, None, message)


def _texts(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    for name in _LISTS:
        sides = [list(each.get(name, ())) for each in (first, second)]
        for text in sides[0]:
            if text not in sides[1]:
                yield Change("run", name, text, None)
        for text in sides[1]:
            if text not in sides[0]:
                yield Change("run", name, None, text)


def _records(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[Change]:
    """Bytes by level of memory, and where streams go."""
    for level, moved in first.get("bytes", {}).items():
        for way, count in moved.items():
            yield from _changed(level, f"bytes {way}", count, second.get("bytes", {}).get(level, {}).get(way))
    ways = [{each["from"]: each["to"] for each in record.get("streams", ())} for record in (first, second)]
    for name in dict.fromkeys((*ways[0], *ways[1])):
        yield from _changed(name, "goes to", *(", ".join(way.get(name, ())) or None for way in ways))


def _said(cause: str) -> str:
    return cause.replace("_", " ")
