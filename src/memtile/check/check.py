"""All rules on a design: what is wrong with it, told before it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from memtile.arch.tiles import DIRECTIONS, S2MM
from memtile.arch.timing import chosen_timing
from memtile.check.bd_reuse import reuse_findings
from memtile.check.check_result import CheckResult
from memtile.check.checked_program import Subject, of_design, twin
from memtile.check.descriptor_rules import descriptor_findings, row_findings
from memtile.check.external_order import external_findings, without_ends
from memtile.check.guarded_words import with_guarded
from memtile.check.hangs import hangs, left_out
from memtile.check.host_rules import await_findings, bench_findings, token_findings, way_findings
from memtile.check.known_memories import known_memories
from memtile.check.left_words import part_findings
from memtile.check.lock_rules import wait_findings
from memtile.check.overflow import may_overflow, overflow_findings
from memtile.check.ring_locks import ring_lock_findings, without_told
from memtile.check.ring_turns import ring_findings
from memtile.check.sharing import sharing_findings
from memtile.check.streams import idle_receivers, planned_of, stream_findings
from memtile.check.unwritten_words import unwritten_findings
from memtile.design.array import Array
from memtile.design.memory_tile import MemoryTile
from memtile.errors import MemtileError
from memtile.explain.deadlock.unsent_ids import unsent_findings
from memtile.explain.depths import Hang, depth_findings, doubtful_depths
from memtile.explain.finding_places import file_place, in_order
from memtile.explain.findings import CONNECTIONS, OF_WAITS, Finding, Severity, Side
from memtile.explain.imbalance import UNFIT, Imbalance, used_again, with_imbalances
from memtile.explain.lock_waits import lock_text
from memtile.explain.lost_results import lost_findings
from memtile.explain.oddities import INSTEAD_OF_WAITS, comes_of_chains, instead_of_waits
from memtile.explain.orders.proof import Proof
from memtile.explain.packet_headers import HEADERS, header_findings, without_waits_of
from memtile.explain.packet_places import place_findings
from memtile.importers.kernels.lock_balance import imbalances
from memtile.importers.kernels.missing_programs import program_findings
from memtile.importers.kernels.unheld_buffers import unheld_uses
from memtile.importers.link_sizes import link_findings, with_links
from memtile.sim.loop.engine import Engine


def lost_rule(subject: Subject) -> Iterator[Finding]:
    """Functions of cores that write nowhere what they compute."""
    return lost_findings(subject.engine, subject.lost)


def argument_rule(subject: Subject) -> Iterator[Finding]:
    """C++ functions that take otherwise what the text passes, and tasks that it never starts."""
    return iter(subject.findings)


def release_rule(subject: Subject) -> Iterator[Finding]:
    """Objects of FIFOs and buffers that cores use when they do not hold them."""
    return (finding for made in subject.made for finding in unheld_uses(made))


def packet_rule(subject: Subject) -> Iterator[Finding]:
    """Packets that name the descriptors of others, with headers counted otherwise, or of other ids."""
    find = partial(planned_of, subject)
    if subject.array:
        yield from unsent_findings(find())
    yield from place_findings(subject.engine, find)
    yield from header_findings(subject.engine, find)


RULES: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    argument_rule,
    descriptor_findings,
    stream_findings,
    token_findings,
    way_findings,
    wait_findings,
    sharing_findings,
    reuse_findings,
    external_findings,
    ring_findings,
    ring_lock_findings,
    row_findings,
    await_findings,
    bench_findings,
    lost_rule,
    release_rule,
    packet_rule,
)
_HANGS = frozenset(("MT0103", "MT0106", "MT0108", "MT0109", "MT0110", "MT0111", "MT0112"))
"""Codes of rules that name a hang."""
_NEVER_RELEASED = "MT0103"
_REFUSED = ("MT0100", "MT0101", "MT0102")
_FEW = (2, 3, 4)  # values of numbers that only a run has
_CODES: Mapping[str, str] = {
    **dict.fromkeys(
        ("bd_count", "buffer_fit", "channels", "heap_size", "link_full", "lock_id", "mlir_bds"), "MT0101"
    ),
    **dict.fromkeys(("mlir_channels", "mlir_lock", "packet_ids", "packet_room", "task_queue"), "MT0101"),
    **dict.fromkeys(("circuit", "no_path", "two_drivers", "two_parties"), "MT0102"),
    "buffer_overlap": "MT0107",
}
"""What a refusal is about, by the reason of its problem; all others are refusals without more."""


def check(name: str, make: Callable[[], Subject]) -> CheckResult:
    """Check a design.

    Args:
        name: of the design, as the user gave it.
        make: brings it into an array; what it refuses is a finding.
    """
    try:
        subject = make()
    except MemtileError as error:
        return CheckResult(name, tuple(refused(name, error)))
    findings = without_ends([finding for rule in RULES for finding in rule(subject)])
    hurried = twin(subject, make) if may_overflow(subject) else None
    linked = [each for made in subject.made for each in link_findings(made)]
    if linked:
        found, proved = list(with_links(linked, findings)), None
    else:
        found, proved = _with_hangs(subject, findings, make)
    found = [*without_waits_of([each for each in found if each.code == HEADERS], without_told(found))]
    odd = [each for each in found if each.code in INSTEAD_OF_WAITS]
    if odd:
        found = [*instead_of_waits(odd, [each for each in found if each not in odd])]
    if hurried is not None and not any(each.severity is Severity.ERROR for each in found):
        found += overflow_findings(hurried)
    found += part_findings(subject, found)
    lacking = [*program_findings(subject.made, played=not left_out(subject))]
    found += [each for each in lacking if not any(_same_who(each, other) for other in found)]
    memories = known_memories(subject)
    found = with_guarded(subject.engine, memories, found)
    found += unwritten_findings(memories, found)
    found += _with_few_numbers(name, subject, {_key(each) for each in found})
    found += subject.conditions()
    return CheckResult(name, in_order(found), len(subject.log.tasks), tuple(subject.notes), proved)


def _with_few_numbers(name: str, subject: Subject, known: Collection[tuple[str, ...]]) -> Iterator[Finding]:
    """Findings that a host has with each of a few values of its numbers; warnings, as others may differ."""
    if subject.with_number is None:
        return
    results = [check(name, partial(subject.with_number, value)).findings for value in _FEW]
    same = set.intersection(*({_key(each) for each in found} for found in results)) - set(known)
    values = f"{', '.join(map(str, _FEW[:-1]))} and {_FEW[-1]}"
    for each in results[0]:
        if _key(each) in same and each.severity is not Severity.NOTE:
            message = f"{each.message} This is so with {values} for each number of the host."
            yield replace(each, message=message, severity=Severity.WARNING)


def _key(finding: Finding) -> tuple[str, ...]:
    """Key of a finding that is the same in runs with other numbers; a refusal may be about the numbers.

    In a hang the numbers decide which task of a channel is the last one, and which other channels stop within
    theirs, so only the channel that lacks words counts.
    """
    first = finding.sides[0] if finding.sides and finding.code not in _REFUSED else None
    if first is None:
        return finding.code, finding.message
    if finding.code in OF_WAITS:
        receivers = (side.who for side in finding.sides if DIRECTIONS[S2MM] in side.who)
        return finding.code, next(receivers, first.who)
    return finding.code, first.who, first.place


def _with_hangs(
    subject: Subject, findings: Sequence[Finding], make: Callable[[], Subject]
) -> tuple[list[Finding], Proof | None]:
    """What the rules found, what an abstract run shows beyond them, and what it says of every timing.

    A rule that names a hang has its cause, of which a run sees the consequences; a warning that the run
    confirms is an error.
    """
    facts = [each for made in subject.made for found in imbalances(made).values() for each in found]
    facts = [each for each in facts if not comes_of_chains(each.finding, findings)]
    findings = [
        each
        for each in findings
        if not _comes_of(each, facts, subject) and not comes_of_chains(each, findings)
    ]
    named = any(each.code in _HANGS and each.severity is Severity.ERROR for each in findings)
    if named and not facts:
        locks = any(each.code == _NEVER_RELEASED for each in findings)
        hung = hangs(subject).hang.findings if locks else ()
        return [_with_giver(each, hung) for each in findings], None
    hang, undecided, proved = hangs(subject)
    if facts:
        found = with_imbalances(
            [*findings, *(() if named else hang.findings)], hang.graph, facts, subject.engine
        )
        ours = {each.finding.message for each in facts}
        if any(each.message in ours for each in found):
            softer = not subject.hosted
            return [_softer(each) if softer and each.message in ours else each for each in found], None
        if named:
            return list(findings), None
    hung, findings = _by_connections(subject, findings, hang.findings)
    confirmed = {n: each for n, each in enumerate(findings) if any(_same(each, other) for other in hung)}
    beyond = [each for each in hung if not any(_same(each, other) for other in confirmed.values())]
    softer = bool(hung) and not any(each.severity is Severity.ERROR for each in hung)
    raised = [
        replace(_with_giver(each, hung), severity=each.severity if softer else Severity.ERROR)
        if n in confirmed
        else each
        for n, each in enumerate(findings)
    ]
    if undecided and not any(each.severity is Severity.ERROR for each in (*raised, *beyond)):
        subject.notes.append(f"undecided whether every run finishes: {undecided}")
    near = () if hang.findings or undecided else _needed_depths(subject.engine, make)
    unfit = {each.finding.message: _softer(each.finding) for each in facts if each.finding.code == UNFIT}
    near += () if hang.findings else (*unfit.values(), *used_again(facts))
    if proved is not None and near:
        proved = proved.doubted(*(f"finding {finding.code}" for finding in near))
    return [*raised, *beyond, *near], proved


def _with_giver(finding: Finding, hung: Sequence[Finding]) -> Finding:
    """A wait for a lock that is never released, in the words of the abstract run if those name a core."""
    others = (each for each in hung if finding.code == _NEVER_RELEASED and _same(each, finding))
    told = (each for each in others if each.sides[0].who not in {side.who for side in finding.sides})
    found = next((each for each in told if each.sides[0].who.startswith("core")), None)
    return finding if found is None else replace(found, severity=finding.severity)


def _by_connections(
    subject: Subject, findings: Sequence[Finding], hung: Sequence[Finding]
) -> tuple[tuple[Finding, ...], Sequence[Finding]]:
    """The findings of a run and those before it, where streams that lead to or from nothing explain the run.

    A sender without an end may lead to a channel without a task on purpose. Where the run hangs it is the
    cause.
    """
    if not hung:
        return (), findings
    idle = [each for each in idle_receivers(subject) if not any(_same(each, other) for other in findings)]
    if not idle and not any(each.code in CONNECTIONS for each in findings):
        return tuple(hung), findings
    raised = [
        replace(each, severity=Severity.ERROR) if each.code in CONNECTIONS else each for each in findings
    ]
    rest = [each for each in hung if each.code not in OF_WAITS and each.code not in CONNECTIONS]
    return tuple(rest), [*raised, *idle]


def _comes_of(finding: Finding, facts: Sequence[Imbalance], subject: Subject) -> bool:
    """Whether a wait for a lock, found by sums alone, comes of a release that a text lacks for certain."""
    locks = (lock_text(subject.engine, each.lock) for each in facts if each.certain and each.lock >= 0)
    return finding.code == "MT0103" and any(f"waits for {lock} (" in finding.message for lock in locks)


def _softer(finding: Finding) -> Finding:
    """A finding about waits where the host is not part of the design."""
    return replace(finding, severity=Severity.WARNING)


def _needed_depths(engine: Engine, make: Callable[[], Subject]) -> tuple[Finding, ...]:
    """What would hang with less room before receivers, of a design whose abstract run ended."""

    def hung(constants: Mapping[str, int]) -> Hang | None:
        with chosen_timing(constants):
            hang, undecided, _ = hangs(make())
        if undecided and not hang.findings:
            return Hang(f"may hang: {undecided}.")
        return Hang.of(hang.findings) if hang.findings else None

    return depth_findings({name: getattr(engine.timing, name) for name in doubtful_depths(engine)}, hung)


def _same_who(one: Finding, two: Finding) -> bool:
    """Whether a finding also names the first party of another one."""
    return one.sides[0].who in {side.who for side in two.sides}


def _same(one: Finding, two: Finding) -> bool:
    """Whether two findings are about the same matter of the same channel."""
    whos = [{side.who.partition(" (BD")[0] for side in each.sides} for each in (one, two)]
    return one.code == two.code and not whos[0].isdisjoint(whos[1])


def check_design(design: Callable[[], MemoryTile | Array], name: str = "design") -> CheckResult:
    """Check a design in Python before it runs; ``memtile check`` does the same.

    Args:
        design: makes the design; an error that it raises becomes a finding.
        name: used as the place of findings without one.

    Returns:
        The findings, errors first; ``good`` is True if there is no error.
    """
    return check(name, lambda: of_design(design(), name))


def refused(name: str, error: MemtileError) -> Iterator[Finding]:
    """What a refusal finds, by its problems, at the place in the user's files where one is known."""
    if not error.problems:
        text = " ".join(str(error).split())  # a compiler says it in several lines
        said = text.partition(": ")[0]  # of a program with its line
        place = said if file_place(said, name).line else name
        yield Finding("MT0100", Severity.ERROR, text, (Side(name, "is refused", place),))
    for problem in error.problems:
        code = _CODES.get(problem.reason, "MT0100")
        text = problem.message.partition("\n")[0]  # its place says which lines of the input it is about
        text = text.removesuffix(f" {problem.next_step}") if problem.next_step else text
        place = problem.where if file_place(problem.where, name).line else name
        side = Side(problem.where, f"{problem.field} is {problem.given}", place)
        yield Finding(code, Severity.ERROR, text, (side,), fix=problem.next_step)
