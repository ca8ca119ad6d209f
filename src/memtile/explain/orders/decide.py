"""What the end of a checked run says of every other order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtile.explain.findings import RACES
from memtile.explain.orders.lock_orders import LockOrders, agent_name
from memtile.explain.orders.packet_orders import PacketOrders
from memtile.explain.orders.proof import FINISHES, STUCK, Proof
from memtile.explain.orders.stream_orders import StreamOrders
from memtile.explain.results import Result, Status
from memtile.sim.kernels.kernel_core import BY_TEXT
from memtile.sim.loop.clock import SETTLED
from memtile.sim.loop.engine import Engine
from memtile.sim.races.race_watch import RaceWatch

_ENDS = {Status.FINISHED: FINISHES, Status.STUCK: STUCK}
_OTHERS = ("MT0207", "MT0308", "MT0318", "MT0320")
"""Findings of runs that end by luck: a rewritten descriptor, a dropped task, a host that ended first, room
that is just enough."""


def decided(engine: Engine, watch: RaceWatch, result: Result, of_hosts: Sequence[str]) -> Proof:
    """What a run says of every other timing.

    Args:
        engine: the model, as the run has left it.
        watch: of the run.
        result: of it, with its findings.
        of_hosts: steps of its hosts that hang on timing, a line each.
    """
    rests = result.timed and int(engine.state.clock.quiet[0]) >= SETTLED
    ends = _ENDS.get(result.status, "") if rests else ""
    locks = LockOrders(engine, watch.orders, watch.began)
    streams = StreamOrders(engine, locks.is_ready)
    packets = PacketOrders(engine, watch.orders, streams)
    codes = dict.fromkeys(finding.code for finding in result.findings)
    reasons = [
        *of_hosts,
        *(f"finding {code}" for code in codes if code in _OTHERS),
        *(["a core has no program here"] if result.unsimulated else []),
        *(["upsets strike in their cycles"] if engine.upsets.struck or engine.upsets.waiting else []),
        *packets.reasons(),
        *locks.reasons(),
        *streams.reasons(),
        *streams.out_of_order(),
        *(streams.left_behind() if ends == FINISHES else ()),
    ]
    words = [*(f"finding {code}" for code in codes if code in RACES)]
    words += [*locks.of_words(), *streams.of_words(), *packets.of_words()]
    if words and not _act_by_text(engine):
        reasons += words  # a core that acts upon what it reads may do otherwise
    words += [*_outside(engine, watch), *_without_words(result)]
    assumed = () if reasons else tuple(locks.assumed())
    said = () if reasons else tuple(dict.fromkeys(words))
    return Proof(ends, tuple(dict.fromkeys(reasons)), said, assumed)


def _act_by_text(engine: Engine) -> bool:
    """Whether no core acts upon words: what each does to locks is in its text."""
    return all(getattr(running.function, BY_TEXT, False) for running in engine.cores.running.values())


def _outside(engine: Engine, watch: RaceWatch) -> Iterator[str]:
    """Channels that use the same words of external memory: only the host could order them."""
    for writer, other in watch.orders.shared_outside():
        names = agent_name(engine, writer), agent_name(engine, other)
        yield f"{names[0]} writes words of external memory that {names[1]} uses"


def _without_words(result: Result) -> Iterator[str]:
    if not result.words:
        yield "the run moved no words"
