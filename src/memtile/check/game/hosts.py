"""The hosts of a design in the game: they push tasks and wait for them."""

from __future__ import annotations

from dataclasses import dataclass, field

from memtile.check.game.play import Game
from memtile.check.tasks import HostStep, kind_of


@dataclass(slots=True)
class Hosts:
    """The hosts of a design, each at its next step.

    Args:
        game: in which they take part.

    Attributes:
        at: of each host how many of its steps are done.
        dropped: pushes that a full queue certainly drops.
    """

    game: Game
    at: dict[int, int] = field(default_factory=dict)
    dropped: list[HostStep] = field(default_factory=list)

    def play(self) -> None:
        """Do all steps that can be done.

        Raises:
            TooLongError: there are too many.
        """
        steps = self.game.subject.log.steps
        goes_on = True
        while goes_on:
            goes_on = False
            for host in steps:
                while (step := self.present(host)) is not None and self._do(step):
                    self.at[host] = self.at.get(host, 0) + 1
                    goes_on = True
                    if host >= 0:
                        self.game.play()
            self.game.play()

    def present(self, host: int) -> HostStep | None:
        """The step that a host is at; None = it has ended."""
        steps, at = self.game.subject.log.steps[host], self.at.get(host, 0)
        return steps[at] if at < len(steps) else None

    def waiting(self) -> list[int]:
        """Hosts that have not ended."""
        return [host for host in self.game.subject.log.steps if self.present(host) is not None]

    def ends_waiting(self) -> bool:
        """Whether a program has met all its waits, the last of them after all pushes: it needs no more."""
        steps = self.game.subject.log.steps
        hosts = [host for host in steps if host >= 0]
        return bool(hosts) and not self.waiting() and all(steps[host][-1].token for host in hosts)

    def pushes(self, host: int, ch: int) -> bool:
        """Whether a host would still push a task to a channel."""
        log = self.game.subject.log
        left = log.steps[host][self.at.get(host, 0) :]
        return any(step.task >= 0 and log.tasks[step.task].ch == ch for step in left)

    def _do(self, step: HostStep) -> bool:
        game = self.game
        if step.locks:
            game.let_open(step.locks)
            return True
        if step.task >= 0:
            return self._push(step)
        if step.ch < 0:
            return True  # a poll: only a run could tell whether it is met
        player = game.players.get(step.ch)
        if player is None:
            return False
        return player.free or step.many <= (player.tokens if step.token else player.at)

    def _push(self, step: HostStep) -> bool:
        game = self.game
        task = game.subject.log.tasks[step.task]
        if game.open_tasks(task.ch) > self._depth(task.ch):
            if step.waits_for_room:
                return False
            self.dropped.append(step)
            return True
        game.start(task)
        return True

    def _depth(self, ch: int) -> int:
        """Tasks that wait in the queue of a channel at most, beside the one that it does."""
        engine = self.game.subject.engine
        return kind_of(engine, int(engine.channels.tile[ch])).queue_depth
