"""Do mistakes around a graph's kernels get an error that names kernel, port and line?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from left_out import needs
from memtile.adf.description import Description
from memtile.adf.kernel_calls import KernelCode, KernelOptions, LockUse, StreamPort, Value
from memtile.adf.kernel_sources import kernel_sources
from memtile.errors import DesignError, InputFileError
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine import Engine
from support.adf.kernel_graphs import SOURCE, Declared, Memory, described, kernel_of, port
from support.designs.cpp_designs import FOUND

pytestmark = needs("c++", FOUND)
FAULTY = SOURCE.with_name("faulty_kernels.cc")
KERNELS = {
    "gr.beyond": Declared("beyond", "buffer >buffer"),
    "gr.early": Declared("early", "async >buffer"),
    "gr.keeps": Declared("keeps", "async >buffer"),
    "gr.twice": Declared("twice", "async >buffer"),
    "gr.sized": Declared("sized", "buffer >buffer"),
    "gr.packet": Declared("packet", ">packet"),
    "gr.waits": Declared("waits", "window >buffer"),
}
NUMBER = {name: number for number, name in enumerate(KERNELS)}
LOCKS = (LockUse(1, -1), LockUse(0, 1))


@pytest.fixture(scope="module")
def checked() -> KernelCode:
    """The kernels, compiled with checks, once."""
    return KernelCode(described(KERNELS, source=FAULTY), KernelOptions(root=FAULTY.parent, sanitize=True))


def refused(code: KernelCode, name: str, make: Any) -> str:
    """What a call of a kernel is refused with."""

    def body(core: Any, memory: Memory) -> Iterator[Any]:
        yield core.release(1, 2)
        yield from code.caller(NUMBER[name], core)(make(memory))

    engine = Engine([Placed("compute", column=0, row=3)])
    engine.attach_kernel(0, kernel_of(body, lambda: None))
    with pytest.raises(DesignError) as error:
        engine.run(1000)
    return str(error.value)


def test_an_access_behind_a_buffer_names_the_port_and_the_line(checked: KernelCode) -> None:
    said = refused(checked, "gr.beyond", lambda m: [port(m(4)), port(m(4))])
    assert "faulty_kernels.cc:9: the kernel writes 4 bytes at index 4 of gr.beyond.b (4 x " in said
    assert "gr.beyond, cycle" in said


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gr.early", "faulty_kernels.cc:12: the kernel uses an asynchronous buffer that it has not acquired"),
        ("gr.twice", "faulty_kernels.cc:19: the kernel acquires a buffer that it has already"),
        ("gr.keeps", "the kernel returns without a release of gr.keeps.a"),
    ],
    ids=["early", "twice", "kept"],
)
def test_an_asynchronous_buffer_out_of_turn(checked: KernelCode, name: str, says: str) -> None:
    """DEV-ADF-43."""
    make = lambda m: [port(m(4), m(4), locks=(LOCKS, LOCKS)), port(m(4))]  # noqa: E731
    assert says in refused(checked, name, make)


def test_a_buffer_of_another_size_than_its_extents(checked: KernelCode) -> None:
    said = refused(checked, "gr.sized", lambda m: [port(m(8)), port(m(4))])
    assert "the memory of a port has another size than the extents of the kernel's buffer say" in said


def test_a_packet_id_of_a_branch_that_is_not_there(checked: KernelCode) -> None:
    said = refused(checked, "gr.packet", lambda _: [StreamPort(packet_ids=(4, 5))])
    assert "the kernel asks for the packet id of branch 2 of gr.packet.a; it has 0..1" in said


def test_a_window_of_a_synchronous_port_is_not_acquired(checked: KernelCode) -> None:
    said = refused(checked, "gr.waits", lambda m: [port(m(4)), port(m(4))])
    assert "faulty_kernels.cc:26: the kernel acquires a window whose port is synchronous" in said


def test_ports_are_given_what_they_are(checked: KernelCode) -> None:
    assert "ports is 1; it must be 2, one for each parameter" in refused(
        checked, "gr.beyond", lambda m: [port(m(4))]
    )
    said = refused(checked, "gr.beyond", lambda m: [port(m(4)), Value(1)])
    assert "gr.beyond.b is Value; it must be a PortMemory for a port of kind buffer" in said
    said = refused(checked, "gr.early", lambda m: [port(m(4)), StreamPort()])
    assert "gr.early.b is StreamPort; it must be a PortMemory for a port of kind buffer" in said


def options(description: Description, tmp_path: Path) -> str:
    """Why the kernels of a description do not compile."""
    with pytest.raises(InputFileError) as error:
        KernelCode(description, KernelOptions(root=tmp_path))
    return str(error.value)


def test_a_source_that_is_missing(tmp_path: Path) -> None:
    graph = described({"gr.k": Declared("f", "buffer")}, source=Path("none.cc"))
    said = options(graph, tmp_path)
    assert "kernel gr.k has the source none.cc, which is in none of the folders" in said
    kernel = replace(graph.kernels[0], source="", line="graph.h:12")
    said = options(replace(graph, kernels=(kernel,)), tmp_path)
    assert said == (
        "graph.h:12: kernel gr.k (f) has no source. Name the file that defines it: "
        'source(gr.k) = "kernels.cc".'
    )


@pytest.mark.parametrize("where", ["aie/src", "aie", ".", "more"])
def test_a_source_is_looked_for_where_makefiles_run(where: str, tmp_path: Path) -> None:
    """A folder of headers, and up to two folders above the graph's."""
    root = tmp_path / "aie" / "src"
    file = tmp_path / where / "own" / "k.cc"
    for folder in (root, file.parent):
        folder.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    graph = described({"gr.k": Declared("f", "buffer")}, source=Path("own/k.cc"))
    graph = replace(graph, kernels=(replace(graph.kernels[0], source="own/k.cc"),))
    (found,) = kernel_sources(graph, root, [tmp_path / "more"])
    assert found.file == file


def test_a_kernel_that_does_not_compile_has_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "k.cc").write_text(
        "#include <adf.h>\nvoid f(adf::input_buffer<int32>& in) {\n  none(in);\n}\n"
    )
    said = options(described({"gr.k": Declared("f", "buffer")}, source=Path("k.cc")), tmp_path)
    assert said.startswith(f"{tmp_path}/k.cc: the kernel does not compile.\n{tmp_path}/k.cc:3:3: error: ")


@pytest.mark.parametrize(
    "ports", ["window", "buffer buffer", "parameter parameter"], ids=["kind", "more", "numbers"]
)
def test_parameters_that_are_not_those_of_the_graph(ports: str, tmp_path: Path) -> None:
    """Of another kind, more, or of another kind with as many numbers in the call."""
    (tmp_path / "k.cc").write_text("#include <adf.h>\nvoid f(adf::input_buffer<int32>& in) {}\n")
    said = options(described({"gr.k": Declared("f", ports)}, source=Path("k.cc")), tmp_path)
    assert "the parameters of the kernel's function are not those that the graph has ports for" in said


def test_a_number_of_the_memory_keeps_its_sign() -> None:
    assert Value.of(np.int8(-1)).bits == 0xFF
