"""Conditions on numbers that a host brings: with which values a design finishes, and with which it hangs.

Values are tried by running the design: the given one and its neighbours, then larger and smaller ones by
doubling, then those between two that end otherwise. Of values that were not run nothing is said, with one
exception. Where cores and channels only ask whether a count has reached the number, two values with the same
run answer each of these questions alike, and so does every value between them: it has that run too. And where
each turn of such a loop, and the last word of such a transfer, shows in the run, a count that had reached the
greater value would have gone beyond the smaller one, and the two runs would differ. So none has, and all
values that are greater still have that run too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memtile.explain.findings import Condition, End, Finding, Severity, Side, ValueSpan
from memtile.explain.results import Result, Status
from memtile.plain_text import printable

CODE = "MT0330"
MOST_RUNS = 28
"""Runs for one number."""
_MOST_VALUES = 100  # those that are refused included
SECONDS = 10.0
"""Of the processor, for all numbers of a design."""
_DOUBLINGS = 4
_ALL_BELOW = 12  # values that are so few are each run
_FAR = 64
_SHOWN = 6  # single values that a sentence lists
_VERBS: Mapping[End, str] = {
    End.HANGS: "hangs",
    End.WRONG: "has errors",
    End.REFUSED: "is refused",
    End.FINISHES: "finishes",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a design ended with a value.

    Attributes:
        end: how.
        acts: what it did, to be compared with other runs; None = not comparable.
        says: why it did not finish; empty if it did.
        cycles: that it took.
    """

    end: End
    acts: Hashable = None
    says: str = ""
    cycles: int = 0


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number that a host brings.

    Attributes:
        name: as the user has it, ``%n`` or ``rtp[0]``.
        place: where it is declared or written: file, line, column.
        low: least value that is asked for.
        high: greatest one.
        given: its value; None = nobody has given one.
        ordered: all that is asked of it is whether a count has reached it.
        open_from: least value from which on two values with the same run, as far apart as ``stride`` says,
            show that all greater ones have it; None = no two do.
        stride: see ``open_from``.
        far: its least and its greatest value cost no more to run than others.
    """

    name: str
    place: str
    low: int
    high: int
    given: int | None = None
    ordered: bool = False
    open_from: int | None = None
    stride: int = 1
    far: bool = False


def outcome_of(result: Result) -> Outcome:
    """How a run ended, and what it did."""
    errors = [each for each in result.findings if each.severity is Severity.ERROR]
    says = ""
    if errors:
        whose = f" ({errors[0].sides[0].who})" if errors[0].sides else ""
        says = f"{errors[0].code}, {errors[0].title}{whose}"
    acts = (
        result.status,
        result.cycles,
        tuple((each.name, each.tasks, each.bds, *each.spent.items()) for each in result.channels),
        tuple((each.name, *each.spent.items()) for each in result.cores),
        tuple(each for each in (*result.waiting, *result.resting) if each.startswith("core")),
        result.host_cycles,
    )
    if result.status is Status.STUCK:
        return Outcome(End.HANGS, acts, says, result.cycles)
    if result.status is Status.FINISHED:
        return Outcome(End.FINISHES if not errors else End.WRONG, acts, says, result.cycles)
    return Outcome(End.WRONG if result.status is Status.HALTED else End.OPEN, None, says)


Attempt = Callable[[int], Outcome]
"""Runs the design with a value."""


class _Values:
    """The values of a number that were run."""

    def __init__(self, scalar: Scalar, attempt: Attempt, late: Callable[[], bool]) -> None:
        self.scalar, self._attempt, self._late = scalar, attempt, late
        self.found: dict[int, Outcome] = {}
        self._runs = 0

    def run(self, value: int) -> Outcome | None:
        """Run a value once; None if it is none, or there is no time left."""
        if value in self.found:
            return self.found[value]
        if not self.scalar.low <= value <= self.scalar.high:
            return None
        if self._runs >= MOST_RUNS or len(self.found) >= _MOST_VALUES or self._late():
            return None
        found = self._attempt(value)
        self._runs += found.end is not End.REFUSED
        if found.end is not End.OPEN:
            self.found[value] = found
        return found

    def same(self, first: int, second: int) -> bool:
        """Whether two values have one run, and so all between them."""
        one, other = self.found[first], self.found[second]
        return self.scalar.ordered and one.acts is not None and one.acts == other.acts

    def search(self) -> None:
        """Run the values that are likely to show where the end changes."""
        start = self.scalar.given if self.scalar.given is not None else 1
        first = self.run(start)
        if first is None or first.end is End.OPEN:
            return
        for value in (start + 1, start - 1, 0, 1):
            self.run(value)
        if self.scalar.ordered and self.scalar.far:
            self.run(self.scalar.low)
            if self.scalar.open_from is None:
                self.run(self.scalar.high)
        self._double(start, first.end)
        self._halve(start)
        if len({each.end for each in self.found.values()} - {End.REFUSED}) < 2:
            return
        self._bisect()
        if self.scalar.ordered and self.scalar.open_from is not None:
            last = max(each for each in self.found if self.found[each].end is not End.REFUSED)
            self.run(last + self.scalar.stride)
        self._fill()

    def _double(self, start: int, end: End) -> None:
        value = max(start, 1)
        for _ in range(_DOUBLINGS):
            last, value = value, 2 * value
            later = [each for each in self.found if each > last]
            if later and last in self.found and self.same(last, max(later)):
                return
            found = self.run(value)
            if found is None or found.end is not end:
                return

    def _halve(self, start: int) -> None:
        while start > 1:
            start //= 2
            if self.run(start) is None:
                return

    def _bisect(self) -> None:
        """Bring the values on both sides of each change next to each other."""
        while True:
            values = sorted(self.found)
            apart = [
                (one, other)
                for one, other in pairwise(values)
                if other - one > 1 and self._is_border(one, other)
            ]
            if not apart:
                return
            one, other = min(apart, key=lambda pair: pair[1] - pair[0])
            if self.run((one + other) // 2) is None or (one + other) // 2 not in self.found:
                return

    def _is_border(self, one: int, other: int) -> bool:
        """Whether the end changes between two values; how far away values are refused is not looked for."""
        ends = {self.found[one].end, self.found[other].end}
        return len(ends) > 1 and (End.REFUSED not in ends or other - one <= _FAR)

    def _fill(self) -> None:
        """Run what is left between few values that are not refused."""
        values = [each for each in sorted(self.found) if each >= 0]
        for one, other in pairwise(values):
            refused = End.REFUSED in (self.found[one].end, self.found[other].end)
            if other - one <= _ALL_BELOW and not refused and not self.same(one, other):
                for value in range(one + 1, other):
                    self.run(value)

    def spans(self) -> list[ValueSpan]:
        """Values that follow each other and end alike."""
        spans: list[ValueSpan] = []
        before = 0
        for value in sorted(self.found):
            end = self.found[value].end
            if spans and spans[-1].end == end.value:
                same = self.same(before, value)
                if value == before + 1 or same:
                    proved = spans[-1].proved or value > before + 1
                    spans[-1] = replace(spans[-1], last=value, proved=proved)
                    before = value
                    continue
            spans.append(ValueSpan(value, value, end.value))
            before = value
        return self._opened(spans)

    def _opened(self, spans: list[ValueSpan]) -> list[ValueSpan]:
        """The spans, the last one that is not refused up to the greatest value if its values show that."""
        begin, stride = self.scalar.open_from, self.scalar.stride
        ended = [span for span in spans if span.end != End.REFUSED.value]
        if not self.scalar.ordered or begin is None or not ended:
            return spans
        last = ended[-1]
        least = next(
            (
                each
                for each in sorted(self.found)
                if each >= max(last.first, begin) and self.same(each, last.last)
            ),
            last.last,
        )
        if last.last - least < stride:
            return spans
        opened = replace(last, last=self.scalar.high, proved=True)
        return [opened if span is last else span for span in spans if span.first <= last.last]


def condition(scalar: Scalar, attempt: Attempt, late: Callable[[], bool]) -> Finding | None:
    """What the end of a design says of a number; None if it ends alike with all values that were run.

    Args:
        scalar: the number.
        attempt: runs the design with a value.
        late: whether the time is over.
    """
    values = _Values(scalar, attempt, late)
    values.search()
    ends = {each.end for each in values.found.values()}
    if End.HANGS not in ends or len(ends) < 2:
        return None
    spans = values.spans()
    found = Condition(scalar.name, scalar.place, scalar.given, tuple(spans), tuple(sorted(values.found)))
    now = "" if scalar.given is None else f" ({scalar.given} here)"
    message = f"The end of this design depends on {scalar.name}{now}: {condition_text(scalar, spans)}"
    return Finding(
        CODE, Severity.NOTE, printable(message), tuple(_sides(scalar, values.found, spans)),
        fix=_fix(scalar, spans), condition=found,
    )  # fmt: skip


def condition_text(scalar: Scalar, spans: Sequence[ValueSpan]) -> str:
    """The values of each end, in a sentence."""
    parts, whole = list[str](), _is_whole(scalar, spans)
    ends = [(end, verb) for end, verb in _VERBS.items() if any(span.end == end.value for span in spans)]
    for n, (end, verb) in enumerate(ends):
        own = [span for span in spans if span.end == end.value]
        last = whole and n == len(ends) - 1
        if own[-1].proved and not scalar.far:
            verb = f"{verb} or is refused"  # sizes and lengths have limits
        parts.append(f"{verb} {'otherwise' if last else _listed(scalar, own)}")
    sentence = f"it {', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else f"it {parts[0]}"
    if any(span.proved for span in spans):
        return f"{sentence}. Values that were not run behave like one that was."
    return f"{sentence}. Each of these values was run, others were not."


def _is_whole(scalar: Scalar, spans: Sequence[ValueSpan]) -> bool:
    """Whether all values of a number are in the spans."""
    joined = all(other.first == one.last + 1 for one, other in pairwise(spans))
    return joined and spans[0].first == scalar.low and spans[-1].last == scalar.high


def _listed(scalar: Scalar, spans: Sequence[ValueSpan]) -> str:
    ends = (span for span in spans if (span.first, span.last) != (scalar.low, scalar.low) or len(spans) == 1)
    texts = [_span(scalar, span) for span in ends]
    bounds = [text for text in texts if text.startswith("if ")]
    values = [text for text in texts if not text.startswith("if ")]
    if len(values) > _SHOWN:
        values = [*values[: _SHOWN - 1], "...", values[-1]]
    return " and ".join([*bounds, *([f"for {', '.join(values)}"] if values else [])])


def _span(scalar: Scalar, span: ValueSpan) -> str:
    if span.proved and span.last == scalar.high and span.first > scalar.low:
        return f"if {scalar.name} > {span.first - 1}"
    if span.proved and span.first == scalar.low and span.last < scalar.high:
        return f"if {scalar.name} < {span.last + 1}"
    return f"{span.first}" if span.first == span.last else f"{span.first} to {span.last}"


def _sides(scalar: Scalar, found: Mapping[int, Outcome], spans: Sequence[ValueSpan]) -> Iterator[Side]:
    now = "has no value here" if scalar.given is None else f"is {scalar.given} here"
    yield Side(scalar.name, now, scalar.place)
    stuck = [value for value in found if found[value].end is End.HANGS and found[value].says]
    if stuck:
        finishing = [span for span in spans if span.end == End.FINISHES.value]
        near = finishing[0].last if finishing else 0
        value = min(stuck, key=lambda each: abs(each - near))
        yield Side(f"{scalar.name} = {value}", f"hangs: {found[value].says}")


def _fix(scalar: Scalar, spans: Sequence[ValueSpan]) -> str:
    right = [span for span in spans if span.end == End.FINISHES.value]
    if not right:
        return ""
    now = [span for span in right if scalar.given is not None and span.first <= scalar.given <= span.last]
    best = max(now or right, key=lambda span: span.last - span.first)
    values = f"{best.first} to {best.last}"
    if best.first == scalar.low:
        values = f"at most {best.last}"
    elif best.last == scalar.high:
        values = f"at least {best.first}"
    elif best.first == best.last:
        values = str(best.first)
    return f"Give {scalar.name} {values}, or make what is sent and taken depend on it."
