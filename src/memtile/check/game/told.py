"""Sentences about a game that has come to its end: circles of waits, and the ends of chains of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtile.arch.tiles import S2MM
from memtile.check.game.hosts import Hosts
from memtile.check.game.needs import Needs
from memtile.check.game.play import ALL, Game
from memtile.check.names import lock_text
from memtile.check.tasks import StaticBd
from memtile.explain.deadlock.graph import Kind, Via
from memtile.explain.deadlock.streams import Party
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.names import called, core_name

_BREAK = "Break it in one place: one more buffer, another order of the waits, or another initial value."
_EQUAL = "Make both ends as long as each other."


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of a game.

    Attributes:
        game: that was played.
        hosts: of it.
        needs: of its parties.
    """

    game: Game
    hosts: Hosts
    needs: Needs

    def circle(self, way: Sequence[Party]) -> Finding:
        """Waits that lead back to where they began."""
        steps = list(self._steps(way))
        sides = tuple(self._side(party) for party in way if party.kind is not Kind.LOCK)
        message = f"Each of these waits for the next one: {'; '.join(steps)}."
        if len(steps) == 1:
            message = f"{steps[0]}, which only itself would release, after this wait."
        return Finding("MT0106", Severity.ERROR, message, sides, fix=_BREAK)

    def _steps(self, way: Sequence[Party]) -> Iterator[str]:
        for n, party in enumerate(way):
            if party.kind is not Kind.LOCK:
                after = way[(n + 1) % len(way)]
                yield f"{self.name(party)} {self._waits(party, after)}"

    def end(self, party: Party, waiting: Sequence[Party]) -> Finding | None:
        """Who waits for nobody, and yet keeps others waiting.

        Args:
            party: the end of a chain.
            waiting: those who wait for it; a lock's are those that wait for the lock.
        """
        match party.kind:
            case Kind.LOCK:
                return self._lock(party, waiting)
            case Kind.CHANNEL:
                return self._channel(party, waiting)
        return None

    def _lock(self, party: Party, waiting: Sequence[Party]) -> Finding:
        first = waiting[0]
        wanted = self.game.wanted(first)
        assert wanted is not None
        lock, value = (
            lock_text(self.game.subject.engine, party.number),
            self.game.locks.value(*_at(party, first)),
        )
        message = (
            f"{self.name(first)} {self._waits(first, party)}; it is {value} then, and nobody is left who "
            "releases it"
        )
        fix = f"Release {lock} once more, wait for less, or begin with more."
        return Finding("MT0103", Severity.ERROR, f"{message}.", tuple(map(self._side, waiting)), fix=fix)

    def _channel(self, party: Party, waiting: Sequence[Party]) -> Finding | None:
        """A channel that has ended all its tasks, or never had one."""
        player = self.game.players.get(party.number)
        if player is not None and player.bd is not None:
            return self._alone(party, waiting, player.bd)
        if not waiting:
            return None
        first = waiting[0]
        name, sides = self.name(party), (self._side(first), self._side(party))
        via = next(need.via for need in self.needs.of[first] if need.of == party)
        used = player is not None and player.at > 0
        if via in (Via.TOKEN, Via.END):
            return self._no_end(party, first, sides)
        if via is Via.ROOM:
            says = f"{self.name(first)} has more to send to {name}, which "
            if not used:
                step = "Start a task there, or send elsewhere."
                return Finding("MT0110", Severity.ERROR, f"{says}has no task.", sides, fix=step)
            says += f"has ended its tasks after {self._words(party.number)} words"
            return Finding("MT0108", Severity.ERROR, f"{says}.", sides, fix=_EQUAL)
        if via is Via.WORDS:
            says = f"{self.name(first)} waits for words of {name}, which "
            if not used:
                return Finding(
                    "MT0113", Severity.ERROR, f"{says}has no task.", sides, fix="Start a task there."
                )
            sent = self.game.sent.get((party.number, first.number), 0)
            says += f"has ended its tasks and sent it {sent} words"
            return Finding("MT0108", Severity.ERROR, f"{says}.", sides, fix=_EQUAL)
        return None

    def _alone(self, party: Party, waiting: Sequence[Party], bd: StaticBd) -> Finding | None:
        """A channel in the middle of a task that waits for nobody."""
        if not bd.descriptor.valid:
            return None  # that it stands still is told by a rule of its own
        receives = self.game.subject.engine.channels.direction[party.number] == S2MM
        does = "waits for words, and no stream leads to it"
        if not receives:
            does = "has words to send, and its stream leads nowhere"
        name = self.name(party)
        sides = (Side(name, does, self._place(party)), *map(self._side, waiting))
        fix = "Connect it, or start the task on the channel that is connected."
        return Finding("MT0109", Severity.ERROR, f"{name} {does}.", sides, fix=fix)

    def _no_end(self, party: Party, host: Party, sides: Sequence[Side]) -> Finding:
        step = self.hosts.present(host.number)
        assert step is not None
        player = self.game.players.get(party.number)
        done = 0 if player is None else player.tokens if step.token else player.at
        what = "tokens" if step.token else "ended tasks"
        message = f"The host waits for {step.many} {what} of {self.name(party)}, of which there are {done}"
        fix = "Start the task before the wait, have it ask for a token, or wait for another channel."
        return Finding("MT0112", Severity.ERROR, f"{message}.", sides, fix=fix)

    def dropped(self) -> Iterator[Finding]:
        """Pushes to queues that are full whatever the timing."""
        told: set[int] = set()
        log = self.game.subject.log
        for step in self.hosts.dropped:
            ch = log.tasks[step.task].ch
            if ch in told:
                continue
            told.add(ch)
            many = sum(log.tasks[each.task].ch == ch for each in self.hosts.dropped)
            name = called(self.game.subject.engine, ch)
            tasks = "a task is" if many == 1 else f"{many} tasks are"
            message = f"{tasks} pushed to the full queue of {name} and dropped"
            side = Side(name, "has a full queue", step.place)
            fix = "Wait for the end of a task before the push."
            yield Finding("MT0114", Severity.ERROR, f"{message}.", (side,), fix=fix)

    # words ------------------------------------------------------------------------------------------------

    def name(self, party: Party) -> str:
        """Who it is, by the user's names."""
        engine = self.game.subject.engine
        match party.kind:
            case Kind.HOST:
                return "the host"
            case Kind.CORE:
                return core_name(engine, party.number)
            case Kind.LOCK:
                return lock_text(engine, party.number)
        return self._with_bd(party.number)

    def _with_bd(self, ch: int) -> str:
        """``memory(0,1) MM2S 0 'a' (BD 3)``."""
        player = self.game.players.get(ch)
        bd = player.bd if player is not None else None
        name = called(self.game.subject.engine, ch)
        return name if bd is None else f"{name} (BD {bd.number})"

    def _waits(self, party: Party, after: Party) -> str:
        via = next(need.via for need in self.needs.of[party] if need.of == after)
        match via:
            case Via.LOCK:
                wanted = self.game.wanted(party)
                assert wanted is not None
                return f"waits until {self.name(after)} is at least {wanted[1]}"
            case Via.WORDS:
                return f"waits for words of {self.name(after)}"
            case Via.ROOM if party.kind is Kind.HOST:
                return f"waits for a place in the queue of {self.name(after)}"
            case Via.ROOM:
                return f"waits until {self.name(after)} takes its words"
            case Via.TASK:
                return "waits for a task of the host"
            case Via.TOKEN:
                return f"waits for a token of {self.name(after)}"
            case Via.END:
                return f"waits for the end of a task of {self.name(after)}"
        return ""

    def _side(self, party: Party) -> Side:
        needs = self.needs.of.get(party)
        does = self._waits(party, needs[0].of) if needs else "has no task left"
        return Side(self.name(party), does, self._place(party))

    def _place(self, party: Party) -> str:
        if party.kind is Kind.HOST:
            step = self.hosts.present(party.number)
            return step.place if step is not None else ""
        if party.kind is Kind.CORE:
            turn = self.game.workers[party.number].present
            return turn.place if turn is not None else ""
        player = self.game.players.get(party.number)
        if player is None or not player.tasks:
            return ""
        return player.tasks[min(player.at, len(player.tasks) - 1)].place

    def _words(self, ch: int) -> int:
        if self.game.subject.engine.channels.direction[ch] == S2MM:
            return self.game.players[ch].ended
        return self.game.sent.get((ch, ALL), 0)


def _at(lock: Party, who: Party) -> tuple[int, Party]:
    return lock.number, who
