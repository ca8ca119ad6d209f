"""The rule that plays a design through: who stands still in every run, and why."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.check.game.core_turns import CoreText
from memtile.check.game.hosts import Hosts
from memtile.check.game.needs import Needs
from memtile.check.game.play import Game, TooLongError, reached_locks
from memtile.check.game.told import Told
from memtile.check.subject import Subject
from memtile.explain.deadlock.graph import Kind
from memtile.explain.deadlock.roots import circle, roots, waiting_for
from memtile.explain.findings import Finding
from memtile.importers.kernels.core_locks import released_by_core
from memtile.jit.tables import plain


def game_findings(subject: Subject) -> Iterator[Finding]:
    """The roots of what stands still at the end of the game; nothing where nobody can play it."""
    if not subject.hosted or subject.log.loads or subject.log.reset:
        return
    game = _game(subject)
    if game.lanes.controls:
        return  # control packets may write whatever they like
    hosts = Hosts(game)
    try:
        game.begin()
        hosts.play()
    except TooLongError:
        return
    needs = Needs(game, hosts)
    told = Told(game, hosts, needs)
    if hosts.dropped:
        yield from told.dropped()
        return  # what stands still does so for want of these
    mild = {party for party in needs.of if party.kind is Kind.CHANNEL and not needs.of[party]}
    for root in roots(set(needs.of), needs.of, mild):
        if len(root) > 1:
            yield told.circle(circle(root, needs.of))
        else:
            found = told.end(root[0], waiting_for(root[0], needs.of, needs.of))
            yield from [found] if found is not None else []


def _game(subject: Subject) -> Game:
    """The game before its beginning: what nobody knows is open."""
    spec = plain(subject.engine.spec.tiles)
    texts: dict[int, CoreText] = {}
    locks: dict[int, frozenset[int]] = {}
    unknown = set(subject.kernels)
    for made in subject.made:
        for core in made.device.cores:
            released = released_by_core(made, core)
            tile = made.tiles[core.tile].index
            number = int(spec.core[tile])
            if released is None or number < 0:
                continue
            unknown.discard(tile)
            texts[number] = CoreText(made, core)
            locks[number] = released
    game = Game(subject, texts, locks)
    game.let_open(reached_locks(subject, sorted(unknown)))
    return game
