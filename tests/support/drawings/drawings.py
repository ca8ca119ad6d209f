"""All drawn pictures of the pages, by the name of their file below ``docs/pictures``."""

from __future__ import annotations

from collections.abc import Callable

from support.drawings import chip, moves, runs
from support.drawings.sheet import Sheet

DRAWINGS: dict[str, Callable[[], Sheet]] = {
    "array": chip.array,
    "memory_tile": chip.memory_tile,
    "windows": chip.windows,
    "descriptor_words": chip.descriptor_words,
    "queue": chip.queue,
    "circuit": chip.circuit,
    "packets": chip.packets,
    "banks": chip.banks,
    "doors": chip.doors,
    "object_fifo": chip.object_fifo,
    "compilers": chip.compilers,
    "graph": chip.graph,
    "walk": moves.walk,
    "four_dimensions": moves.four_dimensions,
    "padding": moves.padding,
    "halo": moves.tiles_of_a_tiling,
    "numpy_view": moves.numpy_view,
    "timeline": runs.timeline,
    "lock": runs.lock,
    "one_buffer": runs.one_buffer,
    "ping_pong": runs.ping_pong,
    "bank_conflict": runs.bank_conflict,
    "back_pressure": runs.back_pressure,
    "starvation": runs.starvation,
    "deadlock": runs.deadlock,
    "race": runs.race,
    "stuck_array": runs.stuck_array,
    "design_space": runs.design_space,
}


def drawn() -> dict[str, str]:
    """The text of each picture by the name of its file."""
    return {f"{name}.svg": draw().text_of() for name, draw in DRAWINGS.items()}
