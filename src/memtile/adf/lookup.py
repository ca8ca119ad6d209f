"""What a lowering and a run look up in a description: ports and their owners, by id."""

from __future__ import annotations

from functools import cached_property

from memtile.adf.description import Description, Gmio, Kernel, MemoryObject, Plio, Port


class Lookup:
    """What a description has, by id.

    Args:
        description: of the program's graphs.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.ports: dict[int, Port] = {port.id: port for port in description.ports}
        self.kernels: dict[int, Kernel] = {kernel.id: kernel for kernel in description.kernels}
        self.memories: dict[int, MemoryObject] = {memory.id: memory for memory in description.memories}
        self.plios: dict[int, Plio] = {plio.id: plio for plio in description.plios}
        self.gmios: dict[int, Gmio] = {gmio.id: gmio for gmio in description.gmios}

    def kernel_of(self, port: int) -> Kernel | None:
        """The kernel that a port belongs to; None = another object."""
        return self.kernels.get(self.ports[port].owner)

    def memory_of(self, port: int) -> MemoryObject | None:
        """The shared or external buffer that a port belongs to; None = another object."""
        return self.memories.get(self.ports[port].owner)

    def plio_of(self, port: int) -> Plio | None:
        """The PLIO that a port belongs to; None = another object."""
        return self._outside.get(port) if port in self._outside else self.plios.get(self.ports[port].owner)

    def gmio_of(self, port: int) -> Gmio | None:
        """The GMIO that a port belongs to; None = another object."""
        return self._gmio_ports.get(port) or self.gmios.get(self.ports[port].owner)

    def name(self, port: int) -> str:
        """The user's name of a port; of a PLIO or a GMIO that of the object."""
        for outside in (self.plio_of(port), self.gmio_of(port)):
            if outside is not None:
                return outside.name
        return self.ports[port].name

    def is_in_graph(self, graph: int, root: int) -> bool:
        """Whether a graph is ``root`` or inside it."""
        seen = graph
        while seen != root:
            parent = self._parents.get(seen, -1)
            if parent < 0:
                return False
            seen = parent
        return True

    @cached_property
    def _parents(self) -> dict[int, int]:
        return {graph.id: graph.parent for graph in self.description.graphs}

    @cached_property
    def _outside(self) -> dict[int, Plio]:
        return {plio.port: plio for plio in self.plios.values()}

    @cached_property
    def _gmio_ports(self) -> dict[int, Gmio]:
        return {gmio.port: gmio for gmio in self.gmios.values()}
