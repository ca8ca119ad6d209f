"""What is wrong with a host sequence though the words of a run come out right.

The host of a model is slow: a result that nobody waited for is there when it looks, and a BD that is written
again has long been used. On silicon neither is sure. Both are decided by the text alone.
"""

from __future__ import annotations

from typing import NamedTuple

from memtile.importers.mlir.tree import Operation
from support.culprit.scene import SEQUENCES, TASKS, Scene

_TRANSFER = "aiex.npu.dma_memcpy_nd"
_WAITS = ("aiex.npu.dma_wait", "aiex.dma_await_task", "aiex.npu.sync")


class Step(NamedTuple):
    """A step of a host sequence.

    Attributes:
        what: ``start``, ``wait`` or ``free``.
        channel: that it is about.
        ids: of the BDs that it uses.
    """

    what: str
    channel: str
    ids: tuple[int, ...] = ()


def latent(scene: Scene, changed: Scene) -> bool:
    """Whether a change of a text leaves a result without a wait, or uses a BD again that may be in use."""
    before, after = (
        [steps(each, sequence) for sequence in each.named(*SEQUENCES)] for each in (scene, changed)
    )
    return any(
        unwaited(new) - unwaited(old) or reused(new) - reused(old)
        for old, new in zip(before, after, strict=True)
    )


def unwaited(sequence: list[Step]) -> set[str]:
    """Channels into external memory that are waited for no more after their last start."""
    found = set[str]()
    for step in sequence:
        if step.what == "start" and step.channel.startswith("interface") and " S2MM " in step.channel:
            found.add(step.channel)
        elif step.what == "wait":
            found.discard(step.channel)
    return found


def reused(sequence: list[Step]) -> set[tuple[str, int]]:
    """BDs, by tile and id, that are used again before a task that has them was waited for."""
    found, busy = set[tuple[str, int]](), dict[tuple[str, int], str]()
    for step in sequence:
        tile = step.channel.partition(" ")[0]
        if step.what == "start":
            found |= {(tile, each) for each in step.ids} & busy.keys()
            busy |= dict.fromkeys([(tile, each) for each in step.ids], step.channel)
        else:
            busy = {bd: channel for bd, channel in busy.items() if channel != step.channel}
    return found


def steps(scene: Scene, sequence: Operation) -> list[Step]:
    """Starts and waits of a host sequence, in the order of the text."""
    found = list[Step]()
    for each in sequence.walk():
        if each.name == _TRANSFER:
            at = scene.attribute(each, "metadata")
            symbol = "" if at is None else each.tokens.words[at]
            found.append(Step("start", _channel(scene, symbol), _ids(scene, each, "id")))
        elif each.name in ("aiex.dma_start_task", "aiex.dma_await_task", "aiex.dma_free_task"):
            task = next((scene.maker(each, each.tokens.words[at]) for at in scene.values(each)), None)
            if task is not None and task.name in TASKS:
                what = {"start": "start", "await": "wait", "free": "wait"}[each.name.split("_")[1]]
                bds = [bd for bd in task.walk() if bd.name == "aie.dma_bd"] if what == "start" else []
                ids = tuple(n for bd in bds for n in _ids(scene, bd, "bd_id"))
                found.append(Step(what, _task_channel(scene, task), ids))
        elif each.name == "aiex.npu.dma_wait":
            found.append(Step("wait", _channel(scene, each.tokens.words[scene.symbols(each)[0]])))
        elif each.name == "aiex.npu.sync":
            found += [Step("wait", channel) for channel in scene.synced(each)]
    return found


def _channel(scene: Scene, symbol: str) -> str:
    """The channel of a symbol; of an object FIFO its name, with the way that its end at the host has."""
    channel = scene.of_symbol(symbol)
    made = scene.fifo(symbol)
    if made is None:
        return channel
    ends = [scene.maker(made, made.tokens.words[at]) for at in scene.values(made)]
    hosts = [end for end in ends if end is not None and _is_interface(scene, made, end)]
    if not hosts:
        return channel
    place = scene.place(made, hosts[0].results[0]) if hosts[0].results else None
    tile = "interface" if place is None else f"interface({place[0]},{place[1]})"
    return f"{tile} {'MM2S' if hosts[0] is ends[0] else 'S2MM'} {channel}"


def _is_interface(scene: Scene, made: Operation, tile: Operation) -> bool:
    place = scene.place(made, tile.results[0]) if tile.results else None
    return place[1] == 0 if place is not None else any("Shim" in word for word in tile.words)


def _task_channel(scene: Scene, task: Operation) -> str:
    symbols = scene.symbols(task)[:1]
    if task.name.endswith("_for") and symbols:
        return _channel(scene, task.tokens.words[symbols[0]])
    return next(iter(scene.actors(task)), "")


def _ids(scene: Scene, made: Operation, name: str) -> tuple[int, ...]:
    at = scene.attribute(made, name)
    value = None if at is None else scene.number(made, at)
    return () if value is None else (value,)
