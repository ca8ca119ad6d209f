"""Who waits for whom when a game has come to its end."""

from __future__ import annotations

from collections.abc import Iterator

from memtile.arch.tiles import S2MM
from memtile.check.game.hosts import Hosts
from memtile.check.game.play import Game
from memtile.check.tasks import Task
from memtile.explain.deadlock.graph import Kind, Via
from memtile.explain.deadlock.streams import Need, Party


class Needs:
    """The waits of a game that has ended.

    Args:
        game: that was played.
        hosts: of it.

    Attributes:
        of: what each party waits for; empty where a chain of waits ends.
    """

    def __init__(self, game: Game, hosts: Hosts) -> None:
        self._game, self._hosts = game, hosts
        self.of: dict[Party, list[Need]] = {}
        self._givers = self._all_givers()
        rest = list(self.open())
        while rest:
            party = rest.pop()
            if party not in self.of:
                self.of[party] = list(dict.fromkeys(self._needs(party)))
                rest += [need.of for need in self.of[party]]

    def open(self) -> Iterator[Party]:
        """Those who were to come to an end and have not."""
        for host in self._hosts.waiting():
            yield Party(Kind.HOST, host)
        for ch, player in self._game.players.items() if not self._hosts.ends_waiting() else ():
            bd = player.bd
            if bd is not None and not player.free and not self._rests(ch):
                yield Party(Kind.CHANNEL, ch)

    def _rests(self, ch: int) -> bool:
        """Whether a channel is in a ring, which may wait for work that never comes."""
        player = self._game.players[ch]
        return player.tasks[player.at].endless

    def _all_givers(self) -> dict[int, list[Party]]:
        """By lock who would still release it."""
        found: dict[int, list[Party]] = {}
        for ch, player in self._game.players.items():
            for lock in _given(player.tasks[player.at :]):
                found.setdefault(lock, []).append(Party(Kind.CHANNEL, ch))
        for core, worker in self._game.workers.items():
            for lock in sorted(worker.locks) if not worker.ended else ():
                found.setdefault(lock, []).append(Party(Kind.CORE, core))
        return found

    def _needs(self, party: Party) -> Iterator[Need]:
        match party.kind:
            case Kind.HOST:
                yield from self._of_host(party.number)
            case Kind.LOCK:
                for giver in self._givers.get(party.number, ()):
                    yield Need(giver, Via.RELEASE)
                yield from self._starters(party.number)
            case Kind.CORE | Kind.CHANNEL:
                wanted = self._game.wanted(party)
                if wanted is not None:
                    yield Need(Party(Kind.LOCK, wanted[0]), Via.LOCK)
                elif party.kind is Kind.CHANNEL:
                    yield from self._of_channel(party.number)

    def _starters(self, lock: int) -> Iterator[Need]:
        """Hosts that would still push a task that releases a lock."""
        log = self._game.subject.log
        for host in self._hosts.waiting():
            left = log.steps[host][self._hosts.at.get(host, 0) :]
            tasks = [log.tasks[step.task] for step in left if step.task >= 0]
            if lock in _given(tasks) or any(lock in step.locks for step in left):
                yield Need(Party(Kind.HOST, host), Via.TASK)

    def _of_host(self, host: int) -> Iterator[Need]:
        step = self._hosts.present(host)
        if step is None:
            return
        if step.task >= 0:
            yield Need(Party(Kind.CHANNEL, self._game.subject.log.tasks[step.task].ch), Via.ROOM)
        else:
            yield Need(Party(Kind.CHANNEL, step.ch), Via.TOKEN if step.token else Via.END)

    def _of_channel(self, ch: int) -> Iterator[Need]:
        game = self._game
        player = game.players.get(ch)
        bd = player.bd if player is not None else None
        if player is None or bd is None:
            for host in self._hosts.waiting():
                if self._hosts.pushes(host, ch):
                    yield Need(Party(Kind.HOST, host), Via.TASK)
        elif not bd.descriptor.valid or player.free:
            return
        elif game.subject.engine.channels.direction[ch] == S2MM:
            for sender in game.lanes.senders.get(ch, ()):
                yield Need(Party(Kind.CHANNEL, sender), Via.WORDS)
        else:
            for lane in game.lanes.of(ch, bd) or ():
                if game.room(ch, lane) <= 0:
                    yield Need(Party(Kind.CHANNEL, lane.receiver), Via.ROOM)


def _given(tasks: list[Task]) -> list[int]:
    """Locks that tasks release."""
    bds = (bd for task in tasks for bd in task.bds)
    return list(dict.fromkeys(bd.release.lock for bd in bds if bd.release and bd.release.value > 0))
