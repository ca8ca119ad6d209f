"""What the run of a graph looks up in its description: the owners of ports, and the graphs around them."""

from __future__ import annotations

from functools import cached_property

from memtile.adf.description import Gmio, Kernel, MemoryObject, Plio
from memtile.adf.objects import Objects


class Lookup(Objects):
    """A description, with its objects by id and the owners of ports by the ports' ids."""

    def kernel_at(self, port: int) -> Kernel | None:
        """The kernel that a port belongs to; None = another object."""
        return self.kernel_of(self.ports[port])

    def memory_at(self, port: int) -> MemoryObject | None:
        """The shared or external buffer that a port belongs to; None = another object."""
        return self.memory_of(self.ports[port])

    def plio_at(self, port: int) -> Plio | None:
        """The PLIO that a port belongs to; None = another object."""
        return self._plio_ports.get(port)

    def gmio_at(self, port: int) -> Gmio | None:
        """The GMIO that a port belongs to; None = another object."""
        return self._gmio_ports.get(port)

    def label(self, port: int) -> str:
        """The user's name of a port; of a PLIO or a GMIO that of the object."""
        outside = self.plio_at(port) or self.gmio_at(port)
        return self.ports[port].name if outside is None else outside.name

    def is_in_graph(self, graph: int, root: int) -> bool:
        """Whether a graph is ``root`` or inside it."""
        while graph != root:
            if graph not in self._parents or graph < 0:
                return False
            graph = self._parents[graph]
        return True

    @cached_property
    def plios(self) -> dict[int, Plio]:
        """The PLIOs by id."""
        return {plio.id: plio for plio in self.description.plios}

    @cached_property
    def _parents(self) -> dict[int, int]:
        return {graph.id: graph.parent for graph in self.description.graphs}

    @cached_property
    def _plio_ports(self) -> dict[int, Plio]:
        return {plio.port: plio for plio in self.description.plios}

    @cached_property
    def _gmio_ports(self) -> dict[int, Gmio]:
        return {gmio.port: gmio for gmio in self.description.gmios}
