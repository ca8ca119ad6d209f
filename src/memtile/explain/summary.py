"""A run on one screen: the verdict first, then what limits it, equal rows folded, and what to do next.

The summary has as many lines for 400 channels as for four: rows that differ only in numbers are one row, and
where lines do not fit, those that say least are left out. ``Result.sheet`` has all of them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from memtile.arch import timing as chosen_timing
from memtile.arch.boards import SPREAD
from memtile.explain.cautions import cautions
from memtile.explain.finding_places import alike_findings, in_order, placed
from memtile.explain.limit import table_lines
from memtile.model.state.causes import Cause, CoreCause
from memtile.plain_text import printable

if TYPE_CHECKING:
    from memtile.explain.results import ChannelUse, CoreUse, Result

WIDTH, HEIGHT, ROWS = 80, 25, 8
COMMAND = "--all"
"""The option of commands that shows all lines."""
_CUT = "…"
_FULL, _SHORT = 6, 2  # lines of the first finding, and of a sentence
_WAITING = 2  # lines about what waits, beside an error
_NAME, _LABEL = 25, 18  # columns of a row
_LONG = 10  # microseconds
_LEAST = 0.005  # of the cycles: a cause that took less is not in a row
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Layout:
    """How much is shown, and how wide.

    Attributes:
        width: columns of a line.
        rows: of channels, and of each other kind of line.
        wrapped: whether sentences are broken at the width; else they are one line each, for ``grep``.
        height: lines in all.
        complete: what shows all lines: an option of the command, or a method.
    """

    width: int = WIDTH
    rows: int = ROWS
    wrapped: bool = True
    height: int = HEIGHT
    complete: str = COMMAND


@dataclass(slots=True)
class _Section:
    """Lines that belong together.

    Attributes:
        rank: sections of a higher one are shortened first.
        least: items that stay.
        items: each a sentence or a row, as its lines.
        more: what the items are called where some are left out.
        hidden: items that are left out already.
        complete: what shows all.
    """

    rank: int
    least: int
    items: list[list[str]] = field(default_factory=list)
    more: str = ""
    hidden: int = 0
    complete: str = COMMAND

    @property
    def lines(self) -> list[str]:
        """All lines; the last one counts what is left out."""
        first, blank, rest = self.more.partition(" ")
        what = f"{first.removesuffix('s') if self.hidden == 1 else first}{blank}{rest}"
        left = [f"  {self.hidden:,} more {what} ({self.complete})"] if self.hidden and self.more else []
        return [*(line for item in self.items for line in item), *left]


def summary(result: Result, layout: Layout = Layout(), notes: Sequence[str] = ()) -> list[str]:
    """Return the lines of a run's summary, the verdict first.

    Args:
        result: of the run.
        layout: how much is shown.
        notes: more lines of the run, such as where its arrays were saved.
    """
    sections = list(_sections(result, layout, notes, full=True))
    if _lines_of(sections) > layout.height:
        sections = list(_sections(result, layout, notes, full=False))
    while _lines_of(sections) > layout.height:
        open_ones = [each for each in sections if len(each.items) > each.least]
        if not open_ones:
            break
        chosen = max(open_ones, key=lambda each: (each.rank, len(each.items)))
        chosen.items.pop()
        chosen.hidden += 1
    return [line for each in sections for line in each.lines]


def _lines_of(sections: Sequence[_Section]) -> int:
    return sum(len(each.lines) for each in sections)


def verdict(result: Result) -> str:
    """Return how a run ended, in one line: status, cycles, whether outputs are as expected."""
    counts = {name: sum(f.severity == name for f in result.findings) for name in ("error", "warning")}
    found = [f"{n} {name}{'s' * (n > 1)}" for name, n in counts.items() if n]
    exact = {True: "bit-exact: yes", False: "bit-exact: no", None: "outputs not compared"}[result.exact]
    earlier = ["taken from an earlier run"] if result.recalled else []
    return "; ".join([f"status: {result.status}{_time(result)}", exact, *found, *earlier])


def _time(result: Result) -> str:
    if not result.timed:
        return " (untimed)"
    done = " in" if result.status == "finished" else " after"
    micro = result.cycles / result.clock_mhz
    before = f", {result.before:,} of them before this run" if result.before else ""
    decimals = 1 if micro >= _LONG else 2
    return f"{done} {result.cycles:,} cycles{before} ({micro:,.{decimals}f} µs at {result.clock_mhz:,} MHz)"


def _sections(result: Result, layout: Layout, notes: Sequence[str], *, full: bool) -> Iterator[_Section]:
    """The sections in their order; ``full``: sentences are as long as they are, else cut."""

    def said(
        rank: int, least: int, sentences: Iterable[str], more: str = "", lines: int = _SHORT, topic: str = ""
    ) -> _Section:
        groups = alike(printable(each) for each in sentences)
        many = [f" ({len(group)} alike)" if len(group) > 1 else "" for group in groups]
        heads = [
            f"{topic}{count}: " if topic else f"{len(group)} alike: " * bool(count)
            for group, count in zip(groups, many, strict=True)
        ]
        items = [
            _wrapped(head + group[0], layout, _FULL if full else lines)
            for head, group in zip(heads, groups, strict=True)
        ]
        kept = items[: max(layout.rows, least)]
        return _Section(rank, least, kept, more, len(items) - len(kept), layout.complete)

    named = f"--cost {result.cost_unknown[0]}=CYCLES" if result.cost_unknown else ""
    ways = (named,) if layout.complete == COMMAND else ()
    yield said(0, 1, [verdict(result)])
    yield said(2, 1, doubts(result, *ways), "reasons for doubt")
    found = _finding_section(result, layout, full=full)
    is_wrong = any(each.severity == "error" for each in result.findings)
    if is_wrong:
        yield found
    yield said(1, 1, time_lines(result))
    if result.status not in ("stuck", "halted"):
        yield said(1, 1, limit_lines(result))
    yield said(5, 0, table_lines(result.lifted, result.cycles) if result.limit else (), "limits")
    yield said(3, 0, caution_lines(result), "cautions")
    yield said(1, 1, result.errors, "errors", topic="error")
    yield said(1, 1, (c.text for c in result.checks if not c.exact), "comparisons")
    if not is_wrong:
        yield found
    waiting = said(2, 1, result.waiting, "waits", topic="waiting")
    while is_wrong and len(waiting.items) > _WAITING:  # the finding says why
        waiting.items.pop()
        waiting.hidden += 1
    yield waiting
    yield _channel_section(result, layout)
    yield said(3, 1, core_lines(result.cores), "groups of cores", 1)
    yield said(4, 0, result.resting, "kernels that are idle", 1, topic="idle")
    yield said(6, 0, _settings(result), "settings", 1)
    yield said(7, 0, notes, "notes", 1)
    if layout.complete == COMMAND:  # what to do next is an option of the command
        yield said(1, 1, next_steps(result))


def _wrapped(text: str, layout: Layout, most: int) -> list[str]:
    """A sentence in lines; what does not fit in the last one is cut."""
    if not layout.wrapped:
        return [text]
    return textwrap.wrap(
        text,
        layout.width,
        subsequent_indent="  ",
        max_lines=most,
        placeholder=f" {_CUT}",
        break_on_hyphens=False,
    ) or [""]


def cut(text: str, width: int) -> str:
    """Return the text within a width, with an ellipsis where it is longer."""
    return text if len(text) <= width else f"{text[: max(width - 1, 0)]}{_CUT}"


def alike(lines: Iterable[str]) -> list[list[str]]:
    """Return the lines, those that differ only in numbers together."""
    groups: dict[str, list[str]] = {}
    for line in lines:
        groups.setdefault(_NUMBER.sub("#", line), []).append(line)
    return list(groups.values())


def common_name(names: Sequence[str]) -> str:
    """Return names that differ only in numbers as one, with ``*`` for those numbers that differ."""
    numbers = zip(*(_NUMBER.findall(name) for name in names), strict=True)
    shown = iter(each[0] if len(set(each)) == 1 else "*" for each in numbers)
    return _NUMBER.sub(lambda _: next(shown), names[0])


def time_lines(result: Result) -> Iterator[str]:
    """The time of the array apart from the host, how far the cycles may move and why."""
    if not result.timed:
        return
    if result.host_cycles:
        host, share = f"{result.host_cycles:,}", _percent(result.host_cycles, result.cycles)
        own = f"{result.cycles - result.host_cycles:,}"
        yield f"The host's register accesses took {host} cycles ({share}), the array alone {own}."
    if result.band is not None:
        yield from result.band.lines
    elif result.estimate is not None and result.status not in ("stuck", "halted"):
        yield estimate_text(result)


def estimate_text(result: Result) -> str:
    """Return how far the cycles may move, and why; empty if they do not."""
    if result.estimate is None:
        return ""
    why = [
        f"{n} hardware delay{'s are' if n > 1 else ' is'} not measured" for n in [len(result.assumed)] if n
    ]
    if result.board in SPREAD:
        why.append(f"external memory varies on {result.board}")
    because = f", because {' and '.join(why)}" if why else ""
    return f"Estimate: {result.estimate.low:,} to {result.estimate.high:,} cycles{because}."


def limit_lines(result: Result) -> Iterator[str]:
    """Return what limits the run, a sentence each."""
    if result.limit is not None:
        yield result.limit.text
    if result.bound is not None:
        yield result.bound.text if result.limit is None else result.bound.busiest


def doubts(result: Result, costs: str = "cycles= or --cost") -> Iterator[str]:
    """Why cycles or words are not what the design itself would give; ``costs`` is how costs are given."""
    yield from result.unsimulated
    if result.cost_unknown:
        yield f"Cost unknown, counted as 0 cycles: {', '.join(result.cost_unknown)}. Give it with {costs}."
    if not result.words:
        yield "The run moved no words: there are no outputs, and nothing was compared."
    if result.words_needed_by:
        yield f"The run moved words after all, which {', '.join(result.words_needed_by)} needs."
    yield from compared_lines(result)


def caution_lines(result: Result) -> Iterator[str]:
    """Return what silicon may do otherwise than the model, a sentence each."""
    if result.estimate is not None and result.band is None:
        yield from cautions(result.channels, result.cycles, result.board)


def compared_lines(result: Result) -> Iterator[str]:
    """Return which functions were compared with references, and first of all if none was."""
    if result.compared is None:
        return
    done = [f"{name} ({calls} call{'s' * (calls > 1)})" for name, calls in result.compared.items() if calls]
    left = ", ".join(name for name, calls in result.compared.items() if not calls)
    if not done:
        yield f"nothing was compared with a reference: no core has made a call in C++ to {left}"
        return
    rest = f"; no core has made a call in C++ to {left}" if left else ""
    yield f"compared with references, no difference: {', '.join(done)}{rest}"


def parameter_lines(result: Result) -> Iterator[str]:
    """Return parameters of the design and timing constants that were chosen."""
    if result.parameters:
        values = (f"{name} = {plain_value(value)}" for name, value in result.parameters.items())
        yield f"parameters: {', '.join(values)}"
    if result.timing:
        yield f"timing changed: {chosen_timing.as_text(result.timing, result.board)}"


def plain_value(value: object) -> Any:
    """A value of a parameter as plain data for JSON; a text of it where JSON has nothing like it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Enum):
        return plain_value(value.value)
    return value.__name__ if isinstance(value, type) else str(value)


def _settings(result: Result) -> Iterator[str]:
    yield from parameter_lines(result)
    if result.proved is not None:
        yield f"timing: {result.proved.text}"


def _finding_section(result: Result, layout: Layout, *, full: bool) -> _Section:
    items = []
    for n, (finding, *others) in enumerate(alike_findings(in_order(result.findings))):
        lines = _FULL if full or not n else _SHORT
        count = f" ({len(others) + 1} alike)" if others else ""
        item = _wrapped(printable(f"finding{count}: {placed(finding)}"), layout, lines)
        if also := ", ".join(dict.fromkeys(each.sides[0].who for each in others)):
            item += _wrapped(printable(f"  also {also}"), layout, lines)
        if finding.repair is not None:
            item += _wrapped(f"  {finding.repair.text}", layout, _SHORT)
        items.append(item)
    kept = items[: layout.rows]
    return _Section(2, 1, kept, "findings", len(items) - len(kept), layout.complete)


def _channel_section(result: Result, layout: Layout) -> _Section:
    """A head, and a row for channels that do the same work in the array; the busiest first."""
    groups = sorted(channel_groups(result.channels), key=lambda group: -_moving(group))
    if not groups:
        return _Section(5, 0)
    rows = [_row(group, result) for group in groups]
    head = ("channels", "name", "moving", "otherwise") if result.timed else ("channels", "name", "words", "")
    label = any(row[1] for row in rows)
    wide = [min(max(len(row[n]) for row in (head, *rows)), most) for n, most in ((0, _NAME), (1, _LABEL))]
    wide[1] *= label
    lines = [[_laid_out(row, wide, layout)] for row in (head, *rows)]
    kept = lines[: layout.rows + 1]
    return _Section(5, 4, kept, "groups of channels", len(lines) - len(kept), layout.complete)


def _laid_out(row: Sequence[str], wide: Sequence[int], layout: Layout) -> str:
    name, label, moving, rest = row
    parts = [f"{cut(name, wide[0]):<{wide[0]}}"]
    if wide[1]:
        parts.append(f"{cut(label, wide[1]):<{wide[1]}}")
    return cut("  ".join([*parts, f"{moving:>7}", rest]).rstrip(), layout.width)


def channel_groups(channels: Iterable[ChannelUse]) -> list[list[ChannelUse]]:
    """Return channels that do the same work: one kind of tile, one direction, one name but for numbers."""
    groups: dict[tuple[str, str, str], list[ChannelUse]] = {}
    for use in channels:
        kind = use.name.partition("(")[0] if "(" in use.name else ""
        name = use.label or use.name.rpartition(" ")[2]
        groups.setdefault((kind, use.direction, _NUMBER.sub("*", name)), []).append(use)
    return list(groups.values())


def _moving(group: Sequence[ChannelUse]) -> float:
    return sum(use.words if len(use.spent) == 1 else use.busy for use in group) / len(group)


def _row(group: Sequence[ChannelUse], result: Result) -> tuple[str, str, str, str]:
    first, many = group[0], len(group) > 1
    kind = first.name.partition("(")[0] if "(" in first.name else ""
    name = f"{len(group)} {kind} {first.direction}".replace("  ", " ") if many else first.name
    label = common_name([use.label for use in group])
    name, label = printable(name), printable(label)
    if not result.timed:
        return name, label, _range([use.words for use in group]), ""
    shares = [use.spent.get(Cause.MOVING, 0) for use in group]
    return (
        name,
        label,
        _share_range(shares, result.cycles),
        _causes([u.spent for u in group], (Cause.MOVING,)),
    )


def core_lines(cores: Sequence[CoreUse]) -> Iterator[str]:
    """Return a line for cores that run kernels called alike: how many, and what they did."""
    groups: dict[tuple[str, ...], list[CoreUse]] = {}
    for use in cores:
        groups.setdefault((_NUMBER.sub("*", use.kernel),), []).append(use)
    for (kernel,), group in groups.items():
        name = f"{len(group)} cores" if len(group) > 1 else group[0].name.replace(", ", ",")
        called = "" if kernel == "kernel" else f" {common_name([use.kernel for use in group])!r}"
        yield f"{name}{called}: {_causes([use.spent for use in group], (), 4)}"


def _causes(
    spent: Sequence[Mapping[Cause, int] | Mapping[CoreCause, int]], without: Sequence[Enum], most: int = 3
) -> str:
    """``stream starved 52 %, idle 28 %``: the causes that took most cycles, of all together."""
    sums: dict[str, int] = {}
    for each in spent:
        for cause, cycles in each.items():
            if cycles and cause not in without:
                sums[cause.text] = sums.get(cause.text, 0) + cycles
    elapsed = max(sum(sum(each.values()) for each in spent), 1)
    longest = sorted(sums.items(), key=lambda item: -item[1])
    shown = [
        f"{_percent(cycles, elapsed)} {text}" for text, cycles in longest[:most] if cycles * 200 >= elapsed
    ]
    return ", ".join(shown)


def _share_range(cycles: Sequence[int], elapsed: int) -> str:
    low, high = (_percent(end, elapsed) for end in (min(cycles), max(cycles)))
    return high if low == high else f"{low.removesuffix(' %')}-{high}"


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{high:,}" if low == high else f"{low:,}-{high:,}"


def _percent(part: int, of: int) -> str:
    return f"{100 * part / max(of, 1):.0f} %"


def next_steps(result: Result) -> Iterator[str]:
    """Return one line that says what to do next, the most useful first."""
    if any(finding.severity == "error" for finding in result.findings):
        return  # it has its repair
    if result.status == "limit":
        option = "--max-cycles" if result.timed else "--max-cycles, which without a clock counts words"
        yield f"Next: raise {option}; a ring without end always meets its limit. --all lists all."
    elif result.status != "finished":
        yield "Next: --report run.html shows what waits for what; --all lists every channel and core."
    elif result.cost_unknown:
        yield "Next: give the cycles of the functions above, with --cost."
    elif result.exact is None and result.timed:
        yield "Next: --expect compares outputs; --bottleneck says what would make it faster; --all lists all."
    elif result.timed and result.limit is None:
        yield "Next: --bottleneck says what would make it faster; --report run.html shows the timeline."
