"""What a run leaves: status, cycles, what every channel did in each of them, outputs and how they compare.

Arrays that came out of a run are each made when somebody looks at it; notebooks show a run as bars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy.typing as npt

from memtile.access.drawing import Drawing, drawing, text
from memtile.arch import timing as chosen_timing
from memtile.arch.tiles import DIRECTIONS, WORD_BYTES
from memtile.documents import plain
from memtile.errors import DesignError
from memtile.explain.bound import Bound, ResourceUse, bound_of
from memtile.explain.checks import Check
from memtile.explain.deadlock.graph import WaitGraph
from memtile.explain.estimate import Band, Estimate
from memtile.explain.findings import Finding, Severity
from memtile.explain.limit import Lifted, Limit
from memtile.explain.model_link import ModelLink
from memtile.explain.orders.proof import Proof
from memtile.explain.result_sheet import result_html, sheet_of
from memtile.explain.summary import Layout, plain_value, summary
from memtile.model.state.causes import Cause, CoreCause
from memtile.plain_text import printable
from memtile.sheet import Sheet

_BAR, _STEP, _LINE, _LONG = 14, 20, 20, 480  # pixels
_LETTER = 7  # pixels of a letter
_KEYS = 4  # entries of a line of the key


def cause_bars(rows: Sequence[tuple[str, Mapping[Cause, int]]], cycles: int) -> Drawing:
    """One bar for each channel, as long as the run; its parts are cycles by cause.

    Args:
        rows: name and cycles by cause of each channel.
        cycles: length of the run.
    """
    seen = [cause for cause in Cause if any(spent.get(cause) for _, spent in rows)]
    left = 16 + _LETTER * max((len(name) for name, _ in rows), default=0)
    keys = -(-len(seen) // _KEYS)
    parts = [*_key(seen)]
    for n, (name, spent) in enumerate(rows):
        y = (keys + n) * _STEP + 8
        parts.append(text(left - 8, y + _BAR - 3, name, 12, "end"))
        parts += _bar(spent, left, y, max(cycles, 1))
    bottom = (keys + len(rows)) * _STEP + 8
    parts.append(text(left, bottom + _LINE - 6, f"0 to {cycles} cycles", 11, fill="#555"))
    return drawing(parts, max(left + _LONG + 16, 16 + _KEYS * 170), bottom + _LINE)


def _bar(spent: Mapping[Cause, int], left: float, y: float, cycles: int) -> Iterator[str]:
    x = left
    for cause in Cause:
        wide = _LONG * spent.get(cause, 0) / cycles
        if wide:
            box = f"x='{x:.2f}' y='{y}' width='{wide:.2f}' height='{_BAR}' fill='{cause.colours.light}'"
            yield f"<rect {box}><title>{spent[cause]} {cause.text}</title></rect>"
            x += wide


def _key(seen: Sequence[Cause]) -> Iterator[str]:
    for n, cause in enumerate(seen):
        x, y = 12 + n % _KEYS * 170, 6 + n // _KEYS * _STEP
        yield f"<rect x='{x}' y='{y}' width='10' height='10' fill='{cause.colours.light}'/>"
        yield text(x + 16, y + 9, cause.text, 11)


Array = npt.NDArray[Any]


class Status(StrEnum):
    """How a run ended."""

    FINISHED = "finished"
    STUCK = "stuck"  # nothing can move any more and something is unfinished
    HALTED = "halted"  # a channel ran into an error
    LIMIT = "limit"  # the cycle limit is reached
    INTERRUPTED = "interrupted"  # Ctrl-C; what is here is what was done


@dataclass(frozen=True, slots=True, repr=False)
class ChannelUse:
    """The use of one channel: words moved, and cycles by cause, whose sum is the elapsed cycles.

    ``direction`` is ``"S2MM"`` or ``"MM2S"``; ``beat_words`` is the most words that its stream port moves in
    a cycle: 1, or 2 in AIE2P and AIE-ML v2. ``label`` is the design's name for it: its own, that of its
    object FIFO, or those of the buffers that it reads or writes.
    """

    name: str
    direction: str
    spent: Mapping[Cause, int]
    tasks: int
    bds: int
    errors: tuple[str, ...] = ()
    beat_words: int = 1
    label: str = ""

    def __repr__(self) -> str:
        name = f"{self.name} ({self.label})" if self.label else self.name
        cycles = [f"{n} {cause.text}" for cause, n in self.spent.items() if n]
        return printable(f"ChannelUse({', '.join([f'{name}: {self.words} words', *cycles])})")

    def fraction(self, cause: Cause) -> float:
        """Return the fraction of its cycles spent on ``cause``, 0 to 1; 0 without time."""
        return self.spent.get(cause, 0) / max(sum(self.spent.values()), 1) if len(self.spent) > 1 else 0.0

    @property
    def busy(self) -> float:
        """The fraction of its cycles in which it moved words, 0 to 1; 0 without time."""
        return self.fraction(Cause.MOVING)

    @property
    def words(self) -> int:
        """Stream words moved; an upper bound where a beat has two."""
        return self.spent.get(Cause.MOVING, 0) * self.beat_words


@dataclass(frozen=True, slots=True)
class CoreUse:
    """The use of one core: its kernel, and cycles by cause, whose sum is the elapsed cycles."""

    name: str
    kernel: str
    spent: Mapping[CoreCause, int]

    @property
    def text(self) -> str:
        """Name, kernel and cycles by cause, in one line."""
        parts = (f"{cycles} {cause.text}" for cause, cycles in self.spent.items() if cycles)
        return f"{self.name}, kernel {self.kernel!r}: {', '.join(parts)}"


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The outcome of a run.

    Attributes:
        status: how it ended.
        timed: False after an untimed run, which has no cycles.
        cycles: elapsed cycles of the array clock since the design began, all its runs together.
        clock_mhz: clock for the figures in GB/s.
        board: board with the measured constants of the model: that of its device or a chosen one; "" = none.
        channels: every channel that was used or given work.
        outputs: arrays collected from the MM2S ports, by channel name; read-only, assembled on access.
        checks: comparisons with the expected outputs.
        waiting: one line for each unfinished channel, with the lock or data that it waits for.
        assumed: unmeasured timing constants that this run depended on, ``name = value``.
        measured: timing constants this run depended on that its board was measured to have, ``name = value``.
        cores: every core that had a kernel; none after an untimed run.
        errors: sticky errors that were set: status bits of channels, overflow and underflow of locks.
        before: cycles of earlier runs; part of ``cycles``, and of what channels and cores did.
        parameters: of the design function, with the values that this run had; see ``memtile.run``.
        timing: timing constants with a value other than the default, by name.
        host_cycles: cycles between the accesses of a host; part of ``cycles``.
        jumped: cycles that fast-forward skipped; part of ``cycles``.
        kept_off: reasons that prevented fast-forward, at least for a while.
        idle: cycles in which nothing could move, skipped in one step; part of ``cycles``.
        stepped: cycles simulated one by one, by reason, most first; the reason is empty if fast-forward was
            off.
        recalled: it was not run: its outcome is that of an equal run before it.
        words: False of a run with ``data=False``, which has no outputs and no comparisons.
        words_needed_by: why a run with ``data=False`` moved words after all; empty if it did not.
        findings: the problems, each with a code, the parts involved and a repair; the root of a hang first.
        waits: the wait graph of a run that did not finish; empty of a finished one.
        band: the cycles at both ends of the ranges of assumed constants, if requested.
        estimate: fewest and most cycles over the ranges of the constants that the run depended on, computed
            from where its cycles were spent; None if it depended on none, or has no cycles.
        lifted: the run without each of its limits, if requested.
        limit: the one of them that limits the run; None if not requested.
        resting: of a finished run, one line for each endless kernel that waits for more work, and for every
            other part that still waits after the program's own waits have been met.
        unsimulated: one line for each core that was enabled without a kernel for its program.
        cost_unknown: called functions with unknown cycles: their calls took no time.
        compared: number of calls of C++ functions compared with a reference, by its name, 0 = none; None =
            there was no reference.
        proved: for a checked run, whether every timing ends the same way; None = not examined.
        kept: the model of the run and its history, for ``record``, ``report`` and ``perfetto``.
    """

    status: Status
    timed: bool
    cycles: int
    clock_mhz: int
    channels: tuple[ChannelUse, ...]
    outputs: Mapping[str, Array]
    checks: tuple[Check, ...] = ()
    waiting: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    board: str = ""
    cores: tuple[CoreUse, ...] = ()
    before: int = 0
    errors: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    resting: tuple[str, ...] = ()
    unsimulated: tuple[str, ...] = ()
    cost_unknown: tuple[str, ...] = ()
    compared: Mapping[str, int] | None = None
    timing: Mapping[str, int] = field(default_factory=dict)
    host_cycles: int = 0
    jumped: int = field(default=0, compare=False)
    kept_off: tuple[str, ...] = field(default=(), compare=False)
    idle: int = field(default=0, compare=False)
    stepped: Mapping[str, int] = field(default_factory=dict, compare=False)
    recalled: bool = field(default=False, compare=False)
    words: bool = True
    words_needed_by: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    band: Band | None = None
    estimate: Estimate | None = None
    lifted: tuple[Lifted, ...] = ()
    limit: Limit | None = None
    waits: WaitGraph = field(default_factory=WaitGraph)
    proved: Proof | None = None
    kept: ModelLink | None = field(default=None, compare=False)

    @property
    def exact(self) -> bool | None:
        """Whether all expected outputs came out bit-exact; None when nothing was expected."""
        return all(c.exact for c in self.checks) if self.checks else None

    @property
    def good(self) -> bool:
        """Whether the run finished with no wrong output, no error bit, and no finding that is an error."""
        wrong = any(finding.severity is Severity.ERROR for finding in self.findings)
        return self.status is Status.FINISHED and self.exact is not False and not self.errors and not wrong

    def fraction(self, cause: Cause) -> float:
        """Return the fraction of all channels' cycles spent on ``cause``, 0 to 1; 0 without time.

        Of one channel: ``result.channels[0].fraction(cause)``.
        """
        spent = sum(use.spent.get(cause, 0) for use in self.channels) if self.timed else 0
        return spent / max(sum(sum(use.spent.values()) for use in self.channels), 1)

    @property
    def busy(self) -> float:
        """The fraction of all channels' cycles in which they moved words, 0 to 1; 0 without time."""
        return self.fraction(Cause.MOVING)

    @property
    def bound(self) -> Bound | None:
        """The limit of the run: the resource busy for longest. None without time, or if nothing moved."""
        return bound_of(self.cycles, self._uses()) if self.timed else None

    def _uses(self) -> Iterator[ResourceUse]:
        for use in self.channels:
            name = f"{use.name} {use.label!r}" if use.label else use.name
            others = {cause.text: n for cause, n in use.spent.items() if cause is not Cause.MOVING}
            yield ResourceUse(name, "moving", use.spent.get(Cause.MOVING, 0), others)
        for core in self.cores:
            rest = {why.text: n for why, n in core.spent.items() if why is not CoreCause.RUNNING}
            busy = core.spent.get(CoreCause.RUNNING, 0)
            yield ResourceUse(f"{core.name}, kernel {core.kernel!r}", "computing", busy, rest)
        rest = {"waiting for the array": self.cycles - self.host_cycles}
        yield ResourceUse("the host", "between its accesses", self.host_cycles, rest)

    def bytes_per_cycle(self, direction: str) -> float:
        """Return the stream bytes per cycle of all ``"S2MM"`` or ``"MM2S"`` channels; 0 without time.

        Raises:
            DesignError: no such direction.
        """
        if direction not in DIRECTIONS:
            raise DesignError.of(
                "direction",
                repr(direction),
                " or ".join(DIRECTIONS),
                reason="direction",
                where="result",
                source="AM020 chapter 5: DMA channels",
            )
        words = sum(c.words for c in self.channels if c.direction == direction)
        return words * WORD_BYTES / self.cycles if self.timed and self.cycles else 0.0

    def gigabytes_per_second(self, direction: str) -> float:
        """``bytes_per_cycle`` at ``clock_mhz``, in 1e9 bytes per second."""
        return self.bytes_per_cycle(direction) * self.clock_mhz / 1000

    def as_json(self) -> dict[str, Any]:
        """Return plain data, with the comparisons of arrays but not the arrays."""
        return {
            "status": self.status.value,
            "timed": self.timed,
            "cycles": self.cycles if self.timed else None,
            "cycles_before": self.before if self.timed else None,
            "clock_mhz": self.clock_mhz,
            "bytes_per_cycle": {d: self.bytes_per_cycle(d) for d in DIRECTIONS},
            "bit_exact": self.exact,
            "channels": [_channel_json(c, self.timed) for c in self.channels],
            "cores": [_core_json(c) for c in self.cores],
            "checks": [check.as_json() for check in self.checks],
            "unsimulated": list(self.unsimulated),
            "cost_unknown": list(self.cost_unknown),
            "compared": self._compared_json(),
            "bound": None if self.bound is None else self.bound.as_json(),
            "estimate": None if self.estimate is None else self.estimate._asdict(),
            "band": plain(self.band),
            "lifted": plain(self.lifted),
            "limit": plain(self.limit),
            "findings": [finding.as_json() for finding in self.findings],
            "proved": None if self.proved is None else self.proved.as_json(),
            "waits": plain(self.waits),
            "waiting": list(self.waiting),
            "resting": list(self.resting),
            "errors": list(self.errors),
            "assumed": list(self.assumed),
            "measured": list(self.measured),
            "board": self.board,
            "timing": chosen_timing.as_json(self.timing, self.board),
            "host_cycles": self.host_cycles if self.timed else None,
            "fast_forward": {
                "jumped": self.jumped,
                "idle": self.idle,
                "stepped": [{"cycles": cycles, "why": why} for why, cycles in self.stepped.items()],
                "kept_off": list(self.kept_off),
            },
            "recalled": self.recalled,
            "words": {"moved": self.words, "needed_by": list(self.words_needed_by)},
            "parameters": [
                {"name": name, "value": plain_value(value)} for name, value in self.parameters.items()
            ],
        }

    def __rich__(self) -> Sheet:
        """The sheet, for ``rich.print``."""
        return self.sheet()

    def _repr_html_(self) -> str:
        return result_html(self)

    def record(self, *, inputs: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The record of the run: verdict, evidence, bytes by level, streams, provenance (``docs/record.md``).

        Args:
            inputs: SHA-256 of the inputs, by name.

        Returns:
            Plain data in the form of the JSON Schema ``record``; identical runs give identical data.

        Raises:
            DesignError: the model of the run no longer exists, or has run since.
        """
        found: dict[str, Any] = self._kept.record(self, inputs)
        return found

    def report(self, path: Path | str, *, title: str = "") -> None:
        """Write the report of a run with ``history=True``: a page (``.html``) or text (``.txt``).

        Args:
            path: of the file.
            title: of the page; the name of the file if empty.

        Raises:
            DesignError: the run was without ``history=True``, or the model has run since.
            InputFileError: another suffix, or the file cannot be written.
        """
        self._kept.save("save_report", self, Path(path), title=title)

    def perfetto(self, path: Path | str) -> None:
        """Write the timeline of a run with ``history=True`` for ui.perfetto.dev.

        Args:
            path: of the file; ``.json`` is Chrome's form, else Perfetto's own (extra ``perfetto``).

        Raises:
            DesignError: the run was without ``history=True``, or the model has run since.
            InputFileError: the file cannot be written.
            MemtileError: the ``perfetto`` package is missing.
        """
        self._kept.save("save_timeline", self, Path(path))

    @property
    def _kept(self) -> ModelLink:
        return self.kept if self.kept is not None else ModelLink(None)

    def picture(self, path: Path | str | None = None) -> Drawing:
        """Draw the cycles of each channel by cause, one bar each.

        ``memtile.save_cycles`` writes .png and .pdf, with the ``plots`` extra.

        Args:
            path: also write it to a file, ``.svg`` or ``.html``.

        Returns:
            The drawing, which notebooks show.

        Raises:
            DesignError: an untimed run has no cycles.
            InputFileError: the file cannot be written.
        """
        if not self.timed:
            raise DesignError("result: an untimed run has no cycles to draw. Run it without untimed=True.")
        names = (f"{use.label}  {use.name}" if use.label else use.name for use in self.channels)
        made = cause_bars(
            [(name, use.spent) for name, use in zip(names, self.channels, strict=True)], self.cycles
        )
        if path is not None:
            made.save(path)
        return made

    def __repr__(self) -> str:
        exact = {True: ", bit-exact", False: ", NOT bit-exact", None: ""}[self.exact]
        time = f"{self.cycles} cycles" if self.timed else "untimed"
        return f"Result({self.status}, {time}, {len(self.channels)} channels{exact})"

    def __str__(self) -> str:
        """The sheet as plain text."""
        return str(self.sheet())

    def _compared_json(self) -> list[dict[str, Any]] | None:
        found = self.compared
        return None if found is None else [{"function": name, "calls": n} for name, n in found.items()]

    def summary(self, layout: Layout = Layout(), notes: Sequence[str] = ()) -> list[str]:  # noqa: B008
        """Return the run on one screen: the verdict first, then its limit, and what to do next.

        Args:
            layout: amount of detail and width.
            notes: more lines of the run.
        """
        return summary(self, layout, notes)

    def sheet(self) -> Sheet:
        """Return the complete run for people: cycles by cause, a row for each channel, and summary lines."""
        return sheet_of(self)


def _core_json(use: CoreUse) -> dict[str, Any]:
    spent = {cause.name.lower(): use.spent.get(cause, 0) for cause in CoreCause}
    return {"core": use.name, "kernel": use.kernel, "cycles": spent}


def _channel_json(use: ChannelUse, timed: bool) -> dict[str, Any]:
    spent = {cause.name.lower(): use.spent.get(cause, 0) for cause in Cause} if timed else None
    return {
        "channel": use.name,
        "label": use.label,
        "words": use.words,
        "tasks": use.tasks,
        "bds": use.bds,
        "cycles": spent,
        "errors": list(use.errors),
    }
