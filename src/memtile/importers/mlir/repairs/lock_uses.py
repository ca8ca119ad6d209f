"""Candidates that change an acquire, a release, a lock or a count of runs as the first finding advises it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from memtile.explain.findings import Change, Finding
from memtile.explain.repairs import Candidate
from memtile.importers.mlir.repairs.design_text import DesignText, siblings
from memtile.importers.mlir.repairs.releases import ACQUIRE, RELEASE, TASKS, USE, Found, LockUse, lock_use
from memtile.importers.mlir.repairs.text_edits import text_of
from memtile.importers.mlir.tree import Operation

_VIEW = "aie.objectfifo.subview.access"


def unit_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """The units that a finding advises for an acquire, a release or a lock, in place of those of the text."""
    advised = None if finding is None else finding.evidence.units
    if advised is None:
        return
    for lock in design.named("aie.lock"):
        at = design.attribute(lock, "init") if lock.results[:1] == [advised.lock] else None
        if at is not None and lock.line == advised.line:
            says = (
                f"initialise lock {advised.lock[1:]} to {advised.many} instead of {design.number(lock, at)}"
            )
            yield lock, Candidate("lock_value", says, design.with_number(lock, at, advised.many), 0.0)
    for use in design.named(USE):
        beside = [use, *(each for each in siblings(use) if each.name == "aie.dma_bd")]
        acquires = not any("Release" in word for word in use.words)
        is_it = advised.lock in use.words and acquires == advised.acquires
        if is_it and any(each.line == advised.line for each in beside):
            for _, at, value in [*design.numbers(use)][-1:]:
                says = f"line {use.line}: {advised.many} units instead of {value}"
                yield use, Candidate("count", says, design.with_number(use, at, advised.many), 0.0)


def object_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """The objects that a finding advises a core to take at a time, without the views of the others."""
    advised = None if finding is None else finding.evidence.units
    if advised is None:
        return
    for core in design.named("aie.core"):
        acquires, releases, views = (design.inside(core, name) for name in (ACQUIRE, RELEASE, _VIEW))
        ends = [each for each in acquires if each.line == advised.line]
        if len(ends) != 1 or design.symbol(ends[0]) != advised.lock.removeprefix("@"):
            continue
        changes, word = list[Change](), ends[0].words
        for each in (*acquires, *releases):
            number = [*design.numbers(each)][-1:]
            if number and each.words[:3] == word[:3]:
                changes += design.with_number(each, number[0][1], advised.many)
        objects = {name for each in acquires if each.words[:3] == word[:3] for name in each.results}
        for view in views:
            at = [value for _, _, value in design.numbers(view)][-1:]
            if not objects.isdisjoint(view.words) and at and at[0] >= advised.many:
                changes.append(design.edits.without(view))
        count = "1 object" if advised.many == 1 else f"{advised.many} objects"
        says = f"line {advised.line}: {count} of {advised.lock} at a time"
        yield ends[0], Candidate("count", says, changes, 0.0)


def place_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """The acquire or release that a finding advises to move, in its other place of the same block."""
    advised = None if finding is None else finding.evidence.place
    if advised is None:
        return
    for use in design.named(USE):
        others = [each for each in siblings(use) if each.line == advised.other]
        if use.line != advised.line or len(others) != 1:
            continue
        does = "release" if any("Release" in word for word in use.words) else "acquire"
        where = "after" if advised.behind else "before"
        changes = (design.edits.moved_behind if advised.behind else design.edits.moved_before)(use, others[0])
        yield use, Candidate(does, f"line {use.line}: {does} {where} line {advised.other}", changes, 0.0)


def silent_candidates(design: DesignText) -> Iterator[Found]:
    """A release behind a descriptor without any lock, of a lock of its tile that is only ever acquired."""
    uses = [*design.named(USE)]
    given = [use for use in uses if any("Release" in word for word in use.words)]
    pattern = next((use for use in given if sum(word[:1] == "%" for word in use.words) == 1), None)
    lonely = [
        lock
        for lock in design.named("aie.lock")
        if lock.results
        and any(lock.results[0] in use.words for use in uses)
        and not any(lock.results[0] in use.words for use in given)
    ]
    if pattern is None:
        return
    for bd in design.named("aie.dma_bd") if lonely else ():
        if any(each.name == USE for each in siblings(bd)):
            continue
        for name in (lock.results[0] for lock in lonely if design.tile(lock) == design.tile(bd)):
            old = next(word for word in pattern.words if word[:1] == "%")
            line = text_of(pattern).replace(old, name)
            says = f"release lock {name[1:]} after line {bd.line}"
            yield bd, Candidate("release", says, [design.edits.line_behind(bd, line)], 0.1)


def run_candidates(design: DesignText, finding: Finding | None) -> Iterator[Found]:
    """The repeat count that a finding advises, for a task that runs less often."""
    runs = 0 if finding is None else finding.evidence.runs
    for task in design.named("aie.dma_start", "aie.dma", *TASKS) if runs else ():
        at = design.attribute(task, "repeat_count")
        count = design.number(task, at) if at is not None else None
        if at is not None and count is not None and count < runs - 1:
            says = f"line {task.line}: repeat_count {runs - 1} instead of {count}"
            yield task, Candidate("repeat", says, design.with_number(task, at, runs - 1), 0.0)


def set_candidates(design: DesignText) -> Iterator[Found]:
    """Candidates about the locks that a host sets: another one, or one more."""
    uses = [*filter(None, (lock_use(each) for each in design.named(USE)))]
    locks = {each.results[0] for each in design.named("aie.lock") if each.results}
    sets = [each for each in design.named("aiex.set_lock") if len(each.words) > 1]
    given = {use.lock for use in uses if use.releases} | {word for each in sets for word in each.words}
    lacking = [use for use in uses if use.lock in locks - given]
    yield from _set_instead(design, locks, sets, lacking)
    yield from _set_too(design, locks, sets, lacking)


def _set_instead(
    design: DesignText, locks: Set[str], sets: Sequence[Operation], lacking: Sequence[LockUse]
) -> Iterator[Found]:
    """Another lock that a host sets: one that is acquired and that nothing releases or sets."""
    for name in dict.fromkeys(use.lock for use in lacking):
        for each in sets:
            at = next((at for at in range(each.at, each.at + 8) if design.words[at] in locks), None)
            if at is not None:
                says = f"line {each.line}: set {name} instead of {design.words[at]}"
                yield each, Candidate("set_lock", says, [design.edits.token(at, name)], 0.9)


def _set_too(
    design: DesignText, locks: Set[str], sets: Sequence[Operation], lacking: Sequence[LockUse]
) -> Iterator[Found]:
    """A second lock that gets a value of the host: a core waits for it, and nothing releases or sets it."""
    for name in dict.fromkeys(use.lock for use in lacking if use.exact):
        for each in sets:
            old = next((word for word in each.words if word in locks), None)
            if old is not None:
                change = design.edits.line_behind(each, text_of(each).replace(old, name, 1))
                yield (
                    each,
                    Candidate("set_lock", f"set lock {name[1:]} too, after line {each.line}", [change], 0.1),
                )
