"""Object FIFOs of a host that it never fills or drains, though a core has their other end.

Where the host moves through another object FIFO, with objects of the same type, as many times as much as
fits, the transfers of these were given to that one: shared out between them, all object FIFOs fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memtile.explain.bd_findings import line_of as said_line
from memtile.explain.findings import CODES, Finding, Side
from memtile.explain.oddities import UNMOVED, Suspect
from memtile.importers.kernels.lock_names import core_text, line_of, place_of
from memtile.importers.kernels.lock_steps import Step, sure_steps
from memtile.importers.kernels.lock_users import Texts
from memtile.importers.kernels.turn_balance import Balance, Pushed, listed
from memtile.importers.mlir.configure import Configured

_DEEPEST = 4  # links, one behind the other
_FEW = 3  # object FIFOs that a sentence names


def unmoved_findings(made: Configured, texts: Texts, balance: Balance, pushed: Pushed) -> Iterator[Finding]:
    """The object FIFOs that a host leaves out, those of one type together.

    Args:
        made: the device in its array.
        texts: steps of all cores, by tile.
        balance: of the rounds of all cores.
        pushed: where the host starts its transfers.
    """
    users = _users(made, texts)
    ends = [name for name in made.device.allocations if name in made.device.fifos and name in users]
    groups: dict[tuple[object, ...], list[str]] = {}
    for name in ends:
        groups.setdefault(_kind(made, name), []).append(name)
    for group in groups.values():
        left = [name for name in group if not pushed(name)]
        others = [name for name in group if _took_all(name, left, balance, pushed)] if left else []
        if left:
            yield _found(made, left, others if len(others) == 1 else [], users, pushed)


def _kind(made: Configured, name: str) -> tuple[object, ...]:
    """What two ends of a host have in common that can be taken for each other."""
    element = made.device.fifos[name].element
    return made.device.allocations[name].direction, element.dtype, element.elements


def _users(made: Configured, texts: Texts) -> Mapping[str, tuple[str, Step]]:
    """The tile of a core that waits for objects of an object FIFO, through links too, and its first step."""
    found: dict[str, tuple[str, Step]] = {}
    for tile, nodes in texts.items():
        for step in sure_steps(nodes):
            if step.key.port and step.acquires:
                found.setdefault(step.key.name, (tile, step))
    for _ in range(_DEEPEST):
        for link in made.device.links:
            for one, other in ((link.sources, link.targets), (link.targets, link.sources)):
                used = next((found[name] for name in one if name in found), None)
                for name in other if used is not None else ():
                    assert used is not None
                    found.setdefault(name, used)
    return found


def _took_all(name: str, left: Sequence[str], balance: Balance, pushed: Pushed) -> bool:
    """Whether an object FIFO has its own transfers and those of others, so that shares of them fit."""
    many, parts = balance.sent(name), len(left) + 1
    if not many or len(pushed(name)) % parts or many % parts:
        return False
    return balance.is_even_with(dict.fromkeys([name, *left], many // parts))


def _found(
    made: Configured,
    left: Sequence[str],
    instead: Sequence[str],
    users: Mapping[str, tuple[str, Step]],
    pushed: Pushed,
) -> Finding:
    fills = made.device.allocations[left[0]].direction == "MM2S"
    verb = "fill" if fills else "drain"
    tile, step = users[left[0]]
    core = core_text(made, next(each for each in made.device.cores if each.tile == tile))
    where = f"{core} waits for objects of it" if len(left) == 1 else f"{core} waits for those of @{left[0]}"
    never, side = f"never {verb}s {_names(left)}", Side("the host", "")
    waits = f"{where} in {line_of(step.operation)}"
    if instead:
        places = pushed(instead[0])
        lines = " and ".join(dict.fromkeys(map(said_line, places)))
        message = f"The host {verb}s @{instead[0]} {len(places)} times ({lines}) and {never}; {waits}."
        fix = f"Let {'one' if len(left) == 1 else str(len(left))} of these transfers {verb} {_names(left)}."
        side = Side("the host", f"{verb}s @{instead[0]} {len(places)} times", places[-1])
    else:
        message = f"The host {never}; {waits}."
        fix = f"{verb.capitalize()} {_names(left)} in the sequence of the host."
        operation = made.device.fifos[left[0]].operation
        side = Side("the host", never, place_of(operation))
    sides = (side, Side(core, f"waits for an object of @{left[0]}", place_of(step.operation)))
    names = [[text] for name in [*left, *instead] for text in (f"'{name}'", f"@{name}")]
    severity = CODES[UNMOVED].severity
    return Suspect(UNMOVED, severity, message, sides, fix=fix, waiting=names, by_lock=True, latent=True)


def _names(names: Sequence[str]) -> str:
    more = [f"{len(names) - _FEW} more"] if len(names) > _FEW else []
    return listed([*(f"@{name}" for name in names[:_FEW]), *more])
