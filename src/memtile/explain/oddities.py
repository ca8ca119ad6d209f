"""What is legal in the descriptors of a text and seldom meant: warnings, and causes of wrong words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from memtile.explain.deadlock.balance_findings import WAITS
from memtile.explain.findings import HIDDEN_RULE, OF_WORDS, RACES, Finding, Severity
from memtile.explain.imbalance import OTHER_TURNS, UNFIT
from memtile.explain.moves import BESIDE_ROWS, BEYOND, BREAKS_SHARING, Move, move_findings
from memtile.explain.strayed_moves import LEFT_OUT, strayed_findings

_UNWRITTEN, _LEFT_OVER = "MT0203", "MT0323"
_WRONG = RACES | OF_WORDS
"""Of words that are read or written otherwise than they were meant to be."""


@dataclass(frozen=True, slots=True)
class Suspect(Finding):
    """A finding of a text that is why others wait only if those that it would hold up do.

    Attributes:
        waiting: names of parties, a group for each such wait: a wait is of this cause if it names the group.
        by_lock: whether that may be a wait for a lock.
        latent: whether it may be meant so, and is no finding where it explains no wait.
    """

    waiting: Sequence[Sequence[str]] = ()
    by_lock: bool = False
    latent: bool = False

    def explains(self, finding: Finding) -> bool:
        """Whether a wait may come of this."""
        text = " ".join((finding.message, *(side.who for side in finding.sides)))
        return (self.by_lock or " lock " not in text) and any(
            all(re.search(rf"{re.escape(name)}(?!\d)", text) for name in names) for names in self.waiting
        )


@dataclass(frozen=True)
class Oddities:
    """What a text has that is legal and seldom meant.

    Attributes:
        moves: of its descriptors and transfers.
        chained: findings about chains of descriptors.
        uses: errors about buffers that cores use without their locks, said where words are wrong.
    """

    moves: Sequence[Move] = ()
    chained: Sequence[Finding] = ()
    uses: Callable[[], Iterable[Finding]] = tuple

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """Warnings, one for each."""
        return (*self.chained, *strayed_findings(self.moves), *move_findings(self.moves))

    def before(self, findings: tuple[Finding, ...], *, finished: bool) -> tuple[Finding, ...]:
        """The findings of a run with those of its text, which come first where words are wrong or missing.

        Where words that were expected are others, an offset or a stride that breaks how transfers share a
        memory is an error, and so is a descriptor that is followed by itself.
        """
        known = {each.message for each in self.findings}
        codes = {finding.code for finding in findings}
        findings = (*self._unheld(findings), *findings)
        others = tuple(each for each in findings if each.message not in known)
        if not known:
            return findings
        sure = not codes.isdisjoint(OF_WORDS)
        errors = {each.message for each in findings if each.severity is Severity.ERROR}
        odd = [
            _error(each) if (sure and _is_sure(each)) or each.message in errors else each
            for each in self.findings
        ]
        if finished:
            odd = [each for each in without_latent(odd) if each.code != UNSET]  # all rounds were done
        else:
            left_out = [each for each in odd if each.code == LEFT_OUT]
            return instead_of_waits(odd, [each for each in others if not comes_of_chains(each, left_out)])
        if any(each.code in (UNEVEN, OTHER_LENGTH) for each in odd):
            others = tuple(
                each for each in others if each.code not in WAITS or each.severity is Severity.ERROR
            )
        moved = {each.sides[0].who for each in odd if sure and each.code in _OF_WALKS}
        others = tuple(
            each for each in others if not comes_of_chains(each, odd) and not _comes_of_moves(each, moved)
        )
        return (*others, *odd) if codes.isdisjoint(_WRONG) else _in_order(odd, others)

    def _unheld(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Uses of buffers without their locks where expected words are others, unless they are said."""
        if any(each.code in OF_WORDS for each in findings):
            places = {side.place for each in findings for side in each.sides if each.code not in OF_WORDS}
            yield from (each for each in self.uses() if each.sides[0].place not in places)

    def causes_first(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings of a run that left other words than expected; those of a known cause are notes.

        A channel that does not use the buffer of its partner moves other words too.
        """
        text = {each.message for each in self.findings}
        if any(each.code in OF_WORDS for each in findings):
            text |= {each.message for each in self.uses()}
        cause = any(each.severity is Severity.ERROR and each.message in text for each in findings)
        pairs = [each for each in findings if each.code == _UNWRITTEN and len(each.sides) > 1]
        apart = {side.who for each in pairs for side in each.sides}
        of_pairs = {side.place.partition(", ")[2] or side.place for each in pairs for side in each.sides}
        left = [each for each in findings if pairs and each.code == _LEFT_OVER and not _names(each, of_pairs)]
        early = {each.sides[0].who for each in findings if each.code == _UNWRITTEN and len(each.sides) == 1}
        left += [each for each in findings if each not in left and _is_sent_by(each, early)]
        findings = (*(each for each in findings if each not in left), *left)  # which only follow
        return tuple(
            replace(each, severity=Severity.NOTE)
            if each.code in OF_WORDS and (cause or (each.sides and each.sides[0].who in apart))
            else each
            for each in findings
        )

    def without(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """The findings of a run that left what was expected: of the text there is nothing to say."""
        known = {each.message for each in self.findings}
        return tuple(each for each in findings if each.message not in known)


ITSELF, UNSTARTED, UNEVEN, OTHER_LENGTH = "MT0124", "MT0127", "MT0135", "MT0337"
UNMOVED, UNSET, UNSENT, UNMOVED_ARRAY = "MT0141", "MT0142", "MT0143", "MT0144"
_OF_LENGTHS = (UNEVEN, OTHER_LENGTH)
_SURE = (BREAKS_SHARING, BESIDE_ROWS, ITSELF, LEFT_OUT, UNSTARTED, *_OF_LENGTHS, HIDDEN_RULE)
_OF_WALKS = (BREAKS_SHARING, BESIDE_ROWS, BEYOND)
OTHER_LOCK, OTHER_TOKENS, IDLE = "MT0338", "MT0341", "MT0121"
INSTEAD_OF_WAITS = (
    IDLE,
    ITSELF,
    UNSTARTED,
    UNMOVED,
    UNSET,
    UNSENT,
    UNEVEN,
    OTHER_LENGTH,
    OTHER_LOCK,
    OTHER_TOKENS,
    HIDDEN_RULE,
)
"""What has made others wait, if any do."""
_FOR_TOKENS = ("MT0112", "MT0313")
"""Of a host that waits for a token."""
_OPEN = "MT0322"
"""A wait for a lock whose releaser is not known."""
_NOT_TAKEN = "MT0110"
"""Of a stream whose receiver has no task."""
_OF_CHAINS = WAITS | {UNFIT, "MT0115", "MT0315", _OPEN, _NOT_TAKEN}
"""What a chain that never comes to its other BDs brings about: its buffers and locks are other ones."""
_RING, _NO_PROGRAM = "MT0209", "MT0311"
NONE_ODD = Oddities()
"""Of what has no text."""


def comes_of_chains(finding: Finding, odd: Sequence[Finding]) -> bool:
    """Whether a finding only follows from a chain that misses a BD, or has a wrong buffer.

    Locks then seem to count more buffers than there are, or the chain takes turns with another one at others.

    Args:
        finding: about locks, buffers or whatever else.
        odd: of the text.
    """
    if finding.code == UNFIT and any(each.code == ITSELF and _explains(each, [finding]) for each in odd):
        return True
    who = {side.who.partition(" (")[0] for side in finding.sides}
    wrong = {each.sides[0].who.partition(" (")[0] for each in odd if each.code == LEFT_OUT}
    return finding.code in (UNFIT, _RING) and not who.isdisjoint(wrong)


def instead_of_waits(odd: Sequence[Finding], others: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of what hangs: a BD that is never started or left takes the place of who waits for it.

    A suspected cause that explains none of the waits stays a warning behind the others.

    Args:
        odd: of the text.
        others: about waits, and whatever else.
    """
    same = {each.sides[0].place for each in others if each.code == OTHER_TURNS}
    odd = [each for each in odd if each.code != UNEVEN or each.sides[0].place not in same]
    wrong = [
        each
        for each in others
        if (each.code in _OF_CHAINS or _is_between(each, odd) or _is_meant(each, odd))
        and (each.severity is Severity.ERROR or each.code == _OPEN)
    ]
    apart = [each for each in odd if not _explains(each, wrong)]
    odd, apart = [each for each in odd if each not in apart], without_latent(apart)
    if any(each.code == UNMOVED for each in odd):  # what a host leaves out makes the rest uneven
        odd = [each for each in odd if each.code not in (UNEVEN, OTHER_LENGTH)]
        apart = [each for each in apart if each.code not in (UNEVEN, OTHER_LENGTH)]
    stays = [each for each in odd if each.code in INSTEAD_OF_WAITS]
    if not stays or not wrong:
        return (*odd, *others, *apart)
    rest = (each for each in others if not _comes_of(each, stays) and not _is_between(each, odd))
    return (*(_error(each) for each in stays), *(each for each in odd if each not in stays), *rest, *apart)


def _is_meant(finding: Finding, odd: Sequence[Finding]) -> bool:
    """Whether a host waits for a token that no flow takes, or somebody for a core and not an idle task."""
    code = OTHER_TOKENS if finding.code in _FOR_TOKENS else IDLE if finding.code == _NO_PROGRAM else ""
    return any(isinstance(each, Suspect) and each.code == code and each.explains(finding) for each in odd)


def _is_between(finding: Finding, odd: Sequence[Finding]) -> bool:
    """Whether a channel waits for a core without a program, and its chain and another's are mixed up."""
    who = {side.who.partition(" (")[0] for side in finding.sides}
    mixed = [{side.who for side in each.sides} for each in odd if each.code == ITSELF and len(each.sides) > 1]
    return finding.code == _NO_PROGRAM and any(not who.isdisjoint(each) for each in mixed)


def without_latent(findings: Iterable[Finding]) -> list[Finding]:
    """The findings without suspects that are no findings by themselves."""
    return [each for each in findings if not (isinstance(each, Suspect) and each.latent)]


def _explains(finding: Finding, waits: Sequence[Finding]) -> bool:
    if not isinstance(finding, Suspect) or finding.severity is Severity.ERROR:
        return True  # an error has been judged before
    return any(finding.explains(each) for each in waits)


def _comes_of(finding: Finding, stays: Sequence[Finding]) -> bool:
    """Whether a finding only follows from those that stay; of an error a suspect has to explain it."""
    if finding.code not in _OF_CHAINS:
        return _is_meant(finding, stays)
    own = finding.code in (_OPEN, _NOT_TAKEN)  # may be a fault of its own
    sure = not own and any(not isinstance(each, Suspect) for each in stays)
    sure = sure or not (own or finding.severity is Severity.ERROR)
    return sure or any(isinstance(each, Suspect) and each.explains(finding) for each in stays)


def _in_order(odd: Sequence[Finding], others: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a text before those of its run, but for an array that may be left out on purpose."""
    last = [each for each in odd if each.code == UNMOVED_ARRAY]
    return (*(each for each in odd if each.code != UNMOVED_ARRAY), *others, *last)


def _is_sure(finding: Finding) -> bool:
    return finding.code in _SURE and not isinstance(finding, Suspect)


def _comes_of_moves(finding: Finding, moved: Collection[str]) -> bool:
    """Whether a race is one of a channel that moves other words than it was meant to."""
    who = {re.split(r", BD| \(", side.who)[0] for side in finding.sides}
    return finding.code in RACES and not who.isdisjoint(moved)


def _names(finding: Finding, places: Collection[str]) -> bool:
    """Whether a finding is about one of some places of a text."""
    return any(place and place in side.place for place in places for side in finding.sides)


def _is_sent_by(finding: Finding, senders: Collection[str]) -> bool:
    """Whether words are left over from senders that sent others before there was anything to send."""
    return finding.code == _LEFT_OVER and any(side.who in senders for side in finding.sides[1:])


def _error(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.ERROR)
