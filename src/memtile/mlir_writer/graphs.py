"""A graph of UG1603 as a module: its array, and the calls of its kernels as loops of cores.

``main`` is no part of the text: what it moves by GMIO has a symbol for a host sequence of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtile.adf.host_record import Updated
from memtile.adf.lowering import Lowered
from memtile.adf.parameters import HostParameters
from memtile.arch.tiles import DIRECTIONS, MM2S, S2MM
from memtile.iron.ops.operations import Module
from memtile.mlir_writer.cores import CallLoop
from memtile.mlir_writer.graph_calls import core_loop
from memtile.mlir_writer.graph_functions import functions_of, objects_of
from memtile.mlir_writer.graph_limits import check_graph, check_updates
from memtile.mlir_writer.scene import Place, Scene
from memtile.mlir_writer.writer import module_of


def module_of_graph(lowered: Lowered, updates: Sequence[Updated] = ()) -> Module:
    """The module of a graph that is in an array and has not run.

    Args:
        lowered: the graph; channels that begin with its run begin with the array now.
        updates: what its ``main`` gives parameters; those before the first run are in the array now.

    Raises:
        DesignError: what no operation of mlir-aie says, with the graph's names.
    """
    check_updates(lowered, updates)
    first = {each.port: each.data for each in updates if not each.runs}
    host = HostParameters(lowered.array, lowered.parameters, lambda is_met: is_met())
    for port, data in first.items():
        host.update(port, data)
    check_graph(lowered)
    for fill in lowered.fills:
        fill.channel.start(*fill.work, loop=True)
    functions, objects = functions_of(lowered), objects_of(lowered)
    cores = {tile: core_loop(lowered, tile, functions, objects) for tile in lowered.cores}
    return module_of(lowered.array, _Graph(lowered, cores))


@dataclass(frozen=True, slots=True)
class _Graph:
    """What a graph adds to its array: the loops of its cores, and symbols for what its host moves."""

    lowered: Lowered
    cores: Mapping[Place, CallLoop]

    @property
    def controllers(self) -> Mapping[Place, int]:
        """None: a graph's host gets no tokens."""
        return {}

    def begin(self, scene: Scene) -> None:
        """The channels of GMIO and of ports of external buffers, by name."""
        for each in self.lowered.host_channels.values():
            place = each.channel.tile.place
            assert place is not None
            scene.add(
                "aie.shim_dma_allocation",
                scene.names.of(each.name),
                scene.tiles[place],
                DIRECTIONS[S2MM if each.channel.receives else MM2S],
                each.channel.number,
            )

    def end(self, scene: Scene) -> None:
        """Nothing stands behind them: a graph's host is a program of its own."""
