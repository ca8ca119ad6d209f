"""What is simulated: a command that is given again until it comes to its end.

An :class:`Undertaking` is a writer of files of memtile, the real code, in a world of its own. It knows what
must hold after each end, whatever the end was, and what there is when all is over.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from adversary.world import Faults, World

_LEFT = (".part", ".lock", ".draft", ".new", ".old", ".journal")


class Undertaking:
    """What is simulated; see the module.

    Attributes:
        several: it may be given by several processes at the same time.
        refused: texts of errors that several of them give each other.
        powerless: ends of temporary names that may stay after a loss of power.
        disturbed: the world has more faults than those of processes, such as lost messages.
    """

    several = False
    refused: tuple[str, ...] = ()
    powerless: tuple[str, ...] = (".lock",)
    disturbed = True

    def __init__(self, world: World) -> None:
        self.world, self.root = world, world.root
        self.prepare()

    def prepare(self) -> None:
        """Make what is there before the first command."""

    def command(self, number: int) -> object:
        """The command, as process ``number`` gives it."""
        raise NotImplementedError

    def check(self, faults: Faults) -> None:
        """What must hold after the end of all processes."""

    def outcome(self) -> object:
        """What there is at last."""
        return None

    def left(self) -> list[str]:
        """Temporary files that nobody will remove."""
        return sorted(
            str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.name.endswith(_LEFT)
        )

    @contextmanager
    def around(self) -> Iterator[None]:
        """A context with what stands for the work itself."""
        yield


_FOLDER = tempfile.TemporaryDirectory(prefix="memtile-simulate-")


@cache
def source_file(name: str, text: str) -> Path:
    """A source of the user, which no fault reaches."""
    path = Path(_FOLDER.name, name)
    path.write_text(text, "utf-8")
    return path
