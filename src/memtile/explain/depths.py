"""Runs that end only if enough words fit in front of a receiver: which ones may, and with how many words.

How many words an S2MM channel takes that waits for its lock or has no task was measured of few boards, and
two structures explain what was (DEV-INGRESS-2). A packet that stands there holds its arbiter, so a design may
end with one depth and hang with another.

Only words that waited there can make the difference, and only if with them all of a descriptor's words had
left its sender: else the sender stood in the same descriptor, some words farther back. So a run notes the
shortest descriptor for which words waited, and no run is made again where more of its words were outside of
the buffer than all ports on their way hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from memtile.arch.tiles import MM2S, S2MM
from memtile.arch.timing import chosen_timing, default_timing, of_run
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.results import Result, Status
from memtile.explain.switch_ways import configured_ways, reached
from memtile.jit.tables import plain
from memtile.model.state.causes import Phase
from memtile.model.streams.switch_config import PACKET
from memtile.sim.loop.engine import Engine


class Hang(NamedTuple):
    """What becomes of a design with less room.

    Attributes:
        text: ``is stuck``, and why.
        sides: who takes part.
        fix: what ends it.
    """

    text: str
    sides: Sequence[Side] = ()
    fix: str = ""

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Hang:
        """A hang, of which the first finding is the root."""
        if not findings:
            return cls("is stuck.")
        return cls(f"is stuck: {findings[0].message}", findings[0].sides, findings[0].fix)


Again = Callable[[Mapping[str, int]], Hang | None]
"""Does all anew with other constants; None if it does not hang."""
WORDS = {"ingress_words": 1, "ingress_beats": 2}
"""Words of one unit of each depth."""
_BUSY = (Phase.RUN, Phase.HEADER)
_FIX = (
    "Let no packet stand before a channel that waits: give the channel a task and a free buffer for all of "
    "it, or the packet an arbiter of its own."
)


def doubtful_depths(engine: Engine) -> list[str]:
    """The constants that what an engine has run may depend on: it could have hung with less."""
    found = dict.fromkeys(_depth(engine, ch) for ch in _waited_for(engine))
    return list(found)


def _waited_for(engine: Engine) -> Iterator[int]:
    """Channels with words before their turn, with which a sender's descriptor may have come to its end."""
    fifos, c = plain(engine.state.fifos), plain(engine.state.channels)
    idle = ~np.isin(c.phase, _BUSY) & (fifos.held > plain(engine.state.walks).stream_words)
    waited = np.flatnonzero((c.direction == S2MM) & ((fifos.shortest > 0) | idle)).tolist()
    before = _ways_back(engine) if waited else {}
    for ch in waited:
        own = _ports_of(engine, ch)
        if not any(before.get(port) for port in own):
            continue  # what comes from outside of the model holds nothing in it
        ports = reached(own, lambda port: before.get(port, []))
        outside = 0 if idle[ch] else max(int(fifos.shortest[ch]) - 1 - int(fifos.depth[ch]), 0)
        if outside <= _room(engine, ch, ports) and not _is_hosts_alone(engine, ports):
            yield ch


def _ports_of(engine: Engine, ch: int) -> list[int]:
    switch = plain(engine.state.switch)
    return np.flatnonzero((switch.is_master == 1) & (switch.channel == ch)).tolist()


def _ways_back(engine: Engine) -> dict[int, list[int]]:
    """By port those from which words come to it, of all ports that are set up."""
    switch = plain(engine.state.switch)
    fed = (switch.mode == PACKET) | (switch.feeds >= 0)
    before: dict[int, list[int]] = {}
    for port in np.flatnonzero((switch.is_master == 0) & fed).tolist():
        for each in configured_ways(engine, port):
            before.setdefault(each, []).append(port)
            if switch.link[each] >= 0:
                before.setdefault(int(switch.link[each]), []).append(each)
    return before


def _room(engine: Engine, ch: int, ports: Sequence[int]) -> int:
    """Words that ports and the senders behind them hold before an S2MM channel."""
    c = plain(engine.state.channels)
    inside = (c.direction == MM2S) & (c.external < 0) & np.isin(c.switch_port, ports)
    words = int(plain(engine.state.walks).stream_words[ch])
    depths = plain(engine.state.switch).depth[list(ports)]
    return words * int(depths.sum()) + int(plain(engine.state.fifos).depth[inside].sum())


def _is_hosts_alone(engine: Engine, ports: Sequence[int]) -> bool:
    """Whether words come from one interface channel that gives no token, over circuits to one receiver.

    Nothing is released when its descriptors end, and whatever it sends next goes the same way.
    """
    c, switch = plain(engine.state.channels), plain(engine.state.switch)
    senders = np.flatnonzero((c.direction == MM2S) & np.isin(c.switch_port, ports))
    if len(senders) != 1 or c.external[senders[0]] < 0 or c.task_token[senders[0]]:
        return False
    slaves = [port for port in ports if not switch.is_master[port]]
    return all(switch.mode[port] != PACKET and len(configured_ways(engine, port)) == 1 for port in slaves)


def _depth(engine: Engine, ch: int) -> str:
    """The constant that says what a channel takes."""
    return "ingress_words" if plain(engine.state.walks).stream_words[ch] == 1 else "ingress_beats"


def needed_depths(
    result: Result, again: Callable[[], Result], names: Sequence[str] = tuple(WORDS)
) -> tuple[Finding, ...]:
    """A warning for each depth without which a run, which finished, hangs.

    Args:
        result: of the run itself.
        again: does it anew.
        names: of the depths that may matter to it, see ``doubtful_depths``.
    """
    if not result.timed or result.status is not Status.FINISHED:
        return ()

    def run(constants: Mapping[str, int]) -> Hang | None:
        with chosen_timing({**of_run(result.board, result.timing), **constants}):
            other = again()
        return Hang.of(other.findings) if other.status is Status.STUCK else None

    usual = default_timing(result.board)
    ends = {name: int(result.timing.get(name, getattr(usual, name))) for name in names}
    found = depth_findings(ends, run)
    return tuple(replace(finding, cycles=(0, result.cycles)) for finding in found)


def with_depths(result: Result, again: Callable[[], Result], names: Sequence[str] = tuple(WORDS)) -> Result:
    """The result with those warnings; arguments as of :func:`needed_depths`.

    What ends only with enough room is proved for no timing: how much room there is nobody has measured.
    """
    found = needed_depths(result, again, names)
    proved = result.proved
    if found and proved is not None:
        proved = proved.doubted(*(f"finding {finding.code}" for finding in found))
    return replace(result, findings=(*result.findings, *found), proved=proved)


def depth_findings(ends: Mapping[str, int], again: Again) -> tuple[Finding, ...]:
    """A warning for each depth without which a design that ends would hang.

    Args:
        ends: values of constants of ``WORDS`` with which it ends.
        again: does it anew.
    """
    found = (_needed(name, value, again) for name, value in ends.items())
    return tuple(finding for finding in found if finding is not None)


def _needed(name: str, ends: int, again: Again) -> Finding | None:
    """The warning about one depth; None if the design ends with the least one, too."""
    hangs = 0 if name == "ingress_words" else 1

    def run(depth: int) -> Hang | None:
        return again({name: depth} if depth else {name: 1, "ingress_ahead": 0})

    why = run(hangs) if ends > hangs else None
    if why is None:
        return None
    while ends - hangs > 1:
        middle = (hangs + ends) // 2
        other = run(middle)
        if other is None:
            ends = middle
        else:
            hangs, why = middle, other
    return _finding(name, ends, hangs, why)


def _finding(name: str, ends: int, hangs: int, why: Hang) -> Finding:
    """What ends with one depth and hangs with another, and how."""
    words, fewer = WORDS[name] * ends, WORDS[name] * hangs
    between = f"between the last stream switch and a channel behind it ({name} = {ends})"
    fits = "words fit" if words > 1 else "word fits"
    less = f"with {fewer}" if hangs else "with none before the channel has a task"
    message = f"The run finishes only if at least {words} {fits} {between}; {less} it {why.text}"
    return Finding("MT0320", Severity.WARNING, message, why.sides, fix=why.fix or _FIX)
