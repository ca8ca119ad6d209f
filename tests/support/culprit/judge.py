"""Whether a finding names the culprit: the place that was changed, what is wrong there, and no innocent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memtile.explain.findings import Finding, Severity
from support.culprit.scene import HOST, Changed, Scene, channel_name

_PLACE = re.compile(r"design\.mlir:(\d+)")
_PAIR = re.compile(r"\((\d+), (\d+)\)")
_LABEL = re.compile(r" \('[^()]*'\)|_2p(?=\()")
_PORT = re.compile(r"(slave|master) port DMA(\d) of tile \((\d+),(\d+)\)")
_CORE = re.compile(r"core \(\d+,\d+\)")
_CHANNEL = re.compile(r"(?:interface|memory|compute)\(\d+,\d+\) (?:S2MM|MM2S) \d+")
_HOST = re.compile(r"\bhost\b", re.IGNORECASE)


class Verdict(NamedTuple):
    """What the findings of one look at a mutant are worth.

    Attributes:
        found: there is an error or a warning that the original does not have.
        culprit: the first one is about what was changed.
        names: it says what is wrong there.
        innocents: errors about something else, as text.
        first: the first finding, as text.
    """

    found: bool
    culprit: bool
    names: bool
    innocents: Sequence[str] = ()
    first: str = ""


def added(findings: Iterable[Finding], before: Iterable[Finding]) -> list[Finding]:
    """Errors and warnings that a mutant has and its original has not."""
    known = {_key(each) for each in before}
    return [each for each in findings if each.severity is not Severity.NOTE and _key(each) not in known]


def judged(new: Sequence[Finding], changed: Changed, words: Sequence[str], scene: Scene) -> Verdict:
    """The verdict on the findings that a mutant has beyond those of its original.

    Args:
        new: errors and warnings.
        changed: what the mutant changed.
        words: of which one says what is wrong.
        scene: of the original.
    """
    if not new:
        return Verdict(found=False, culprit=False, names=False)
    first = new[0]
    judge = _Judge(changed, scene)
    at_culprit = judge.at_culprit(first)
    said = f"{first.message} {first.fix}".lower()
    named = at_culprit and any(word.lower() in said for word in words)
    errors = [each for each in new if each.severity is Severity.ERROR]
    innocents = [str(each) for each in errors if judge.is_innocent(each)]
    return Verdict(found=True, culprit=at_culprit, names=named, innocents=innocents, first=str(first))


def _key(finding: Finding) -> tuple[object, ...]:
    """What findings of a mutant and its original have in common that say the same.

    A host does several things, at lines of its own: what it does at another one is another finding.
    """
    if not finding.sides:
        return finding.code, finding.message
    first = finding.sides[0]
    return finding.code, first.who, *(_lines(first.place) if _HOST.search(first.who) else ())


def plain(text: str) -> str:
    """A text in which places are written in one way, ports as channels, and channels without their labels."""
    text = _LABEL.sub("", _PAIR.sub(r"(\1,\2)", text))
    return _PORT.sub(_channel_of_port, text)


def _channel_of_port(found: re.Match[str]) -> str:
    place = (int(found[3]), int(found[4]))
    return channel_name(place, "MM2S" if found[1] == "slave" else "S2MM", found[2])


class _Judge:
    """Knows the names of a design and those of what was changed."""

    def __init__(self, changed: Changed, scene: Scene) -> None:
        self.changed = changed
        names = {word for word in _names(scene) if word}
        self.locks = {scene.name_of(each) for each in scene.named("aie.lock")}
        self.things = sorted(names | set(changed.things), key=len, reverse=True)

    def at_culprit(self, finding: Finding) -> bool:
        """Whether a finding is about what was changed, before anything else."""
        changed = self.changed
        first = finding.sides[0] if finding.sides else None
        if first is not None and set(_lines(first.place)) & set(changed.lines):
            return True
        said = plain(f"{finding.message} {_of_first(finding)}")
        if set(_lines(said)) & set(changed.lines[:1]):
            return True
        things, actors = self._things_in(said), _actors_in(said)
        thing = bool(things) and _belongs(things[0], changed.things)
        own = [each for each in changed.actors if each not in changed.things]
        if not set(own) - {HOST} or not actors:
            return thing or (actors[:1] == own[:1] and bool(own))
        if any(f"{each} has no program" in said for each in own):
            return True  # such a core has no lock or object FIFO by which it could be known
        lines = set(_lines(" ".join(each.place for each in finding.sides)))
        if actors[0] in own and lines & set(changed.lines):
            return True  # of a race: who does not wait, whichever side it is
        named = any(each in actors[:2] for each in own)
        return named and (thing or not self.is_shared(own))

    def is_shared(self, own: Sequence[str]) -> bool:
        """Whether those who do what was changed do the same with other locks or object FIFOs."""
        return bool(self.changed.things) and (
            any(each.startswith("core ") for each in own) or not self.locks.isdisjoint(self.changed.things)
        )

    def is_innocent(self, finding: Finding) -> bool:
        """Whether an error begins with something that has nothing to do with what was changed."""
        changed = self.changed
        first = _of_first(finding) or plain(finding.message)
        place = finding.sides[0].place if finding.sides else ""
        if set(_lines(place)) & set(changed.lines) or set(_lines(finding.message)) & set(changed.lines):
            return False
        if any(_belongs(word, changed.things) for word in self._things_in(plain(finding.message) + first)):
            return False
        near = {*changed.actors, *changed.partners}
        actors = _actors_in(first)[:1]
        named = [word for word in near if word not in (HOST,) and word in first]
        return not named and not set(actors) & near and bool(actors or self._things_in(first))

    def _things_in(self, said: str) -> list[str]:
        """Names of locks, buffers and object FIFOs in a text, in its order."""
        found = dict[int, str]()
        for name in self.things:
            for match in re.finditer(rf"(?<![\w.]){re.escape(name)}(?![\w])", said):
                found.setdefault(match.start(), name)
        return [name for _, name in sorted(found.items())]


def _names(scene: Scene) -> list[str]:
    made = scene.named("aie.lock", "aie.buffer")
    fifos = [word.lstrip("@") for each in scene.named("aie.objectfifo") for word in each.words[:1]]
    parts = [
        f"{name}{part}"
        for name in fifos
        for part in ("", "_cons", "_prod_lock", "_cons_lock", "_cons_prod_lock", "_cons_cons_lock")
    ]
    numbered = [f"{name}_{n}" for name in parts if name.endswith("lock") for n in range(2)]
    return [*(scene.name_of(each) for each in made), *parts, *numbered]


def _belongs(name: str, things: Sequence[str]) -> bool:
    """Whether a name is one of some, or the lock or buffer of one that is an object FIFO."""
    return any(
        name == thing
        or (
            name.startswith(f"{thing}_")
            and re.fullmatch(r"(_\d+)?(_cons|_prod)*(_lock|_buff)?(_\d+)?", name[len(thing) :])
        )
        for thing in things
        if thing
    )


def _of_first(finding: Finding) -> str:
    first = finding.sides[0] if finding.sides else None
    return "" if first is None else plain(f"{first.who} {first.does}")


def _lines(text: str) -> list[int]:
    return [int(number) for number in _PLACE.findall(text)]


def _actors_in(said: str) -> list[str]:
    """Cores, channels and the host in a text, in its order, each once."""
    found = [(match.start(), match[0]) for rule in (_CORE, _CHANNEL) for match in rule.finditer(said)]
    found += [(match.start(), HOST) for match in _HOST.finditer(said)]
    return list(dict.fromkeys(name for _, name in sorted(found)))
