"""Does a graph's description say what its C++ text says?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from left_out import needs
from memtile.adf.description import (
    ConstructorArgument,
    Description,
    Kernel,
    Location,
    Loop,
    Place,
    Port,
    Tiling,
    read,
    write,
)
from memtile.adf.graph_file import load
from memtile.adf.record import living_around
from memtile.errors import InputFileError
from support.designs.cpp_designs import FOUND

pytestmark = needs("c++", FOUND)
GRAPHS = Path(__file__).parents[1] / "support" / "adf"


@pytest.fixture(scope="module")
def tiled() -> Description:
    return load(GRAPHS / "tiled.cpp").description


@pytest.fixture(scope="module")
def breadth() -> Description:
    return load(GRAPHS / "breadth.cpp").description


def test_what_a_local_graph_has_made_is_in_the_graph_around_it() -> None:
    """Graph 2 is a local variable of 1's constructor, 1 of 0's; 3 is gone, and none was around it."""
    lives = {"address": 64}
    graphs = [{"id": 0, **lives}, {"id": 1, "within": 0}, {"id": 2, "within": 1}, {"id": 3}]
    assert living_around([*graphs, {"id": 4, "within": 2, **lives}]) == {0: 0, 1: 0, 2: 0, 3: -1, 4: 4}


def port(graph: Description, name: str) -> Port:
    (found,) = [each for each in graph.ports if each.name == name]
    return found


def kernel(graph: Description, name: str) -> Kernel:
    (found,) = [each for each in graph.kernels if each.name == name]
    return found


def names(graph: Description) -> dict[int, str]:
    """Names of all objects and ports by id."""
    groups = (graph.graphs, graph.kernels, graph.memories, graph.plios, graph.gmios, graph.ports)
    return {each.id: each.name for group in groups for each in group}


def connections(graph: Description) -> Iterator[tuple[str, str]]:
    called = names(graph)
    for each in graph.connections:
        yield called[each.source], called[each.target]


def test_objects_have_the_names_and_lines_of_the_user(tiled: Description) -> None:
    assert [(each.name, each.parent, each.type) for each in tiled.graphs] == [
        ("gr", -1, "tiled"),
        ("gr.sub", tiled.graphs[0].id, "inner"),
    ]
    assert [(each.name, each.line) for each in tiled.kernels] == [
        ("gr.sub.steps[0]", "tiled.h:12"),
        ("gr.sub.steps[1]", "tiled.h:13"),
    ]
    assert [(each.name, each.line) for each in tiled.memories] == [("gr.matrix", "tiled.h:35")]
    assert {each.graph for each in tiled.kernels} == {tiled.graphs[1].id}


def test_a_kernel_that_has_no_body_here_has_its_name_and_template_arguments(tiled: Description) -> None:
    first, second = tiled.kernels
    assert (first.function, first.source) == ("turned<16, 8>", "turned.cc")
    assert (second.function, second.source) == ("halved", "halved.cc")
    assert (first.runtime_ratio, first.object_type) == (0.9, "")


def test_ports_of_kernels_come_from_the_types_of_parameters(tiled: Description) -> None:
    into = port(tiled, "gr.sub.steps[0].in[0]")
    out = port(tiled, "gr.sub.steps[0].out[0]")
    assert (into.direction, into.kind, into.element, into.element_bytes) == ("in", "buffer", "int32", 4)
    assert (into.dimensions, into.argument) == ((128,), 0)  # dimensions() of the graph
    assert (out.dimensions, out.argument, out.element) == ((16, 8), 1, "int32")  # extents of the type
    last = port(tiled, "gr.sub.steps[1].out[0]")
    assert (last.element, last.element_bytes, last.dimensions) == ("int16", 2, ())


def test_a_shared_buffer_has_its_tilings(tiled: Description) -> None:
    (matrix,) = tiled.memories
    assert (matrix.element, matrix.dimensions, matrix.num_buffers) == ("int32", (16, 8), 2)
    assert matrix.external is False
    assert port(tiled, "gr.matrix.in[0]").write_access == (
        Tiling(buffer_dimension=(16, 8), tiling_dimension=(16, 8), offset=(0, 0)),
    )
    assert port(tiled, "gr.matrix.out[0]").read_access == (
        Tiling(
            buffer_dimension=(16, 8),
            tiling_dimension=(4, 4),
            offset=(0, -4),
            tile_traversal=(Loop(1, 4, 2), Loop(0, 4, 4)),
            boundary_dimension=(16, 4),
        ),
    )


def test_plios_have_what_create_was_given(tiled: Description) -> None:
    first, second = tiled.plios
    assert (first.name, first.direction, first.label, first.width, first.file, first.mhz) == (
        "gr.data_in",
        "in",
        "DataIn",
        64,
        "data/in.txt",
        312.5,
    )
    assert (second.name, second.direction, second.width, second.mhz, second.hex) == (
        "gr.data_out",
        "out",
        32,
        0.0,
        False,
    )


def test_connections_are_as_written(tiled: Description) -> None:
    assert list(connections(tiled)) == [
        ("gr.sub.in", "gr.sub.steps[0].in[0]"),
        ("gr.sub.steps[0].out[0]", "gr.sub.steps[1].in[0]"),
        ("gr.sub.steps[1].out[0]", "gr.sub.out"),
        ("gr.data_in.out[0]", "gr.matrix.in[0]"),
        ("gr.matrix.out[0]", "gr.sub.in"),
        ("gr.sub.out", "gr.data_out.in[0]"),
    ]
    assert [each.fifo_depth for each in tiled.connections] == [None, None, 32, None, None, None]
    assert [each.kind for each in tiled.connections] == ["", "", "", "", "", "stream"]
    assert tiled.connections[0].line == "tiled.h:18"


def test_locations_are_as_written(tiled: Description) -> None:
    called = names(tiled)
    first, second = kernel(tiled, "gr.sub.steps[0]").id, kernel(tiled, "gr.sub.steps[1]").id
    buffer = port(tiled, "gr.sub.steps[0].out[0]").id
    assert tiled.locations == (
        Location("kernel", first, (Place("tile", 3, 1),), line="tiled.h:47"),
        Location(
            "buffer",
            buffer,
            (Place("address", 3, 1, 0x1000), Place("address", 3, 1, 0x2000)),
            line="tiled.h:48",
        ),
        Location("kernel", second, (Place("same", 1, 0, other=first, what="kernel"),), line="tiled.h:49"),
        Location("buffer", tiled.memories[0].id, (Place("address", 3, 0, 0),), line="tiled.h:51"),
    )
    assert called[tiled.memories[0].id] == "gr.matrix"


def test_a_description_comes_back_from_its_json(tiled: Description) -> None:
    assert read(write(tiled), "tiled.json") == tiled


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"num_buffers": 2', '"num_bufers": 2', "memories[0] has the key 'num_bufers', which Memory"),
        ('"kind": "plio"', '"kind": "pllio"', "Invalid enum value 'pllio'"),
        ('"version": 1', '"version": 2', "version 2 of a graph's description; this memtile reads 1"),
        ('"memtile graph"', '"memtile bd"', 'it has no "format": "memtile graph"'),
        ('"width": 64', '"width": "64"', "Expected `int`, got `str`"),
    ],
)  # fmt: skip
def test_a_description_with_an_unknown_word_is_refused(
    tiled: Description, old: str, new: str, says: str
) -> None:
    text = write(tiled)
    assert old in text
    with pytest.raises(InputFileError) as error:
        read(text.replace(old, new, 1), "tiled.json")
    assert str(error.value).startswith("tiled.json: ")
    assert says in str(error.value)


def test_members_in_containers_behind_pointers_and_in_arrays_have_names(breadth: Description) -> None:
    assert [each.name for each in breadth.graphs] == ["gr", "gr.with", "gr.without"]
    assert [each.type for each in breadth.graphs] == ["breadth", "chain<true>", "chain<false>"]
    assert {each.name for each in breadth.kernels} == {
        *("gr.with.first", "gr.with.last", "gr.with.extra", "gr.without.first", "gr.without.last"),
        *("gr.filters[0]", "gr.filters[1]", "gr.owned"),
        *(f"gr.grid[{row}][{column}]" for row in range(2) for column in range(2)),
    }  # a conditional member that is not there is no kernel
    inside = kernel(breadth, "gr.without.last")
    assert names(breadth)[inside.graph] == "gr.without"


_FIRST = """
#include <adf.h>
#include <array>
#include <memory>
void copy(adf::input_buffer<int32>& a, adf::output_buffer<int32>& b);
struct ends { adf::input_plio from; adf::output_plio to; };
struct gr : adf::graph {
    std::array<adf::input_plio, 2> in;
    std::array<std::array<adf::output_plio, 1>, 2> out;
    ends third;
    std::unique_ptr<std::array<adf::kernel, 3>> steps = std::make_unique<std::array<adf::kernel, 3>>();
    gr() {
        for (int i = 0; i < 3; i++) {
            adf::kernel& step = (*steps)[i] = adf::kernel::create(copy);
            adf::input_plio& a = i < 2 ? in[i] : third.from;
            adf::output_plio& b = i < 2 ? out[i][0] : third.to;
            adf::source(step) = "copy.cc";
            adf::runtime<adf::ratio>(step) = 0.5;
            adf::dimensions(step.in[0]) = adf::dimensions(step.out[0]) = {8};
            a = adf::input_plio::create("in" + std::to_string(i), adf::plio_32_bits, "in.txt");
            b = adf::output_plio::create("out" + std::to_string(i), adf::plio_32_bits, "out.txt");
            adf::connect(a.out[0], step.in[0]);
            adf::connect(step.out[0], b.in[0]);
        }
    }
} top;
int main() { return 0; }
"""


def test_the_first_object_of_an_array_or_a_class_of_the_user_is_one_of_several(tmp_path: Path) -> None:
    """It has the address of what it is in, which is no object."""
    (tmp_path / "first.cpp").write_text(_FIRST)
    found = load(tmp_path / "first.cpp").description
    plios = ["top.in[0]", "top.in[1]", "top.out[0][0]", "top.out[1][0]", "top.third.from", "top.third.to"]
    assert sorted(each.name for each in found.plios) == plios
    assert sorted(each.name for each in found.kernels) == ["top.steps[0]", "top.steps[1]", "top.steps[2]"]
    assert {each.graph for each in found.kernels} == {found.graphs[0].id}


@pytest.mark.parametrize(
    ("name", "kind", "element", "nbytes", "argument"),
    [
        ("gr.with.first.in[0]", "stream", "cint16", 4, 0),
        ("gr.with.first.out[0]", "cascade", "acc48", 0, 1),
        ("gr.with.first.in[1]", "parameter", "int32", 4, 2),
        ("gr.with.first.in[2]", "parameter_array", "int16", 2, 3),
        ("gr.with.first.inout[0]", "parameter", "int32", 4, 4),
        ("gr.with.last.out[0]", "async_buffer", "cint16", 4, 1),
        ("gr.owned.in[0]", "buffer", "int16", 2, 0),
        ("gr.owned.out[0]", "stream", "int16", 2, 1),
        ("gr.grid[1][0].in[0]", "packet_stream", "int32", 4, 0),
        ("gr.with.extra.out[0]", "window", "int32", 4, 1),
        ("gr.filters[1].param[0]", "parameter_array", "int16", 2, -1),
    ],
)
def test_kinds_of_ports(
    breadth: Description, name: str, kind: str, element: str, nbytes: int, argument: int
) -> None:
    found = port(breadth, name)
    assert (found.kind, found.element, found.element_bytes, found.argument) == (
        kind,
        element,
        nbytes,
        argument,
    )


def test_files_of_a_platform_are_plios_of_32_bits(breadth: Description) -> None:
    found = {each.file: each for each in breadth.plios}
    assert (found["data/in.txt"].direction, found["data/out.txt"].direction) == ("in", "out")
    assert {found[file].width for file in ("data/in.txt", "data/out.txt")} == {32}


def test_margins_and_modes_of_ports(breadth: Description) -> None:
    circular = port(breadth, "gr.owned.in[0]")
    assert (circular.margin, circular.is_circular, circular.is_async) == (16, True, False)
    assert port(breadth, "gr.with.last.out[0]").is_async
    gain = port(breadth, "gr.with.first.in[1]")
    assert (gain.is_async, gain.initial) == (True, "07000000")
    assert port(breadth, "gr.filters[1].in[0]").single
    assert not port(breadth, "gr.filters[0].in[0]").single
    member = port(breadth, "gr.filters[0].param[0]")
    assert (member.is_member, member.dimensions, member.direction) == (True, (4,), "inout")


def test_a_kernel_object_has_its_class_and_arguments(breadth: Description) -> None:
    made = kernel(breadth, "gr.filters[0]")
    assert (made.object_type, made.function) == ("filter<short, 4u>", "filter::run")
    assert made.arguments == (
        ConstructorArgument("int32", ("-1",)),
        ConstructorArgument("int16", ("1", "-2", "3", "4"), is_list=True),
        ConstructorArgument("float", ("0x1p-1f",)),
    )
    assert made.ports == (
        port(breadth, "gr.filters[0].in[0]").id,
        port(breadth, "gr.filters[0].out[0]").id,
    )
    assert made.tables == (breadth.tables[0].id,)
    assert (breadth.tables[0].symbol, breadth.tables[0].element, breadth.tables[0].data) == (
        "table",
        "int16",
        "",  # its source is another one
    )
    assert breadth.tables[0].nbytes == 8


def test_constraints_of_kernels(breadth: Description) -> None:
    first, last = kernel(breadth, "gr.with.first"), kernel(breadth, "gr.with.last")
    assert (first.stack_size, first.heap_size, first.headers) == (2048, 512, ("one.h", "two.h"))
    assert (first.repetition, last.repetition) == (None, 3)
    assert (last.stack_size, last.runtime_ratio) == (None, None)


def test_packets_and_gmios(breadth: Description) -> None:
    assert [(each.name, each.kind, len(each.inputs), len(each.outputs)) for each in breadth.packets] == [
        ("gr.split", "split", 1, 2),
        ("gr.merge", "merge", 2, 1),
        ("gr.ordered", "ordered_merge", 2, 1),
    ]
    assert [port(breadth, f"gr.ordered.in[{n}]").packets for n in (0, 1)] == [3, 1]
    assert [
        (each.direction, each.label, each.burst_bytes, each.mbytes_per_second) for each in breadth.gmios
    ] == [("in", "in", 64, 1000), ("out", "", 256, 500)]


def test_windows_in_connections(breadth: Description) -> None:
    called = names(breadth)
    found = {called.get(each.target): each for each in breadth.connections}
    first, second = found["gr.filters[0].in[0]"], found["gr.to_memory.in[0]"]
    assert (first.kind, first.bytes, first.margin) == ("window", 128, 32)
    assert (second.kind, second.bytes) == ("window", 64)  # connect<window<64>, stream>
    assert found["gr.with.first.in[1]"].is_async


def test_older_descriptors_and_lists_of_tilings(breadth: Description) -> None:
    assert port(breadth, "gr.bytes.in[0]").write_access == (Tiling(offset=(0,), steps=((1, 0),), length=8),)
    assert port(breadth, "gr.bytes.out[0]").read_access == (
        Tiling(offset=(2,), steps=((1, 2), (4, 0)), length=16),
    )
    assert port(breadth, "gr.bytes.in[1]").write_access == tuple(
        Tiling(tiling_dimension=(32,), offset=(32 * n,), packet_port_id=n) for n in (0, 1)
    )
    assert port(breadth, "gr.outside.out[0]").read_access == (
        Tiling(tiling_dimension=(2, 2)),
        Tiling(packet_port_id=1),
    )


def test_what_is_said_of_a_kernel_that_is_not_made_has_no_effect(breadth: Description) -> None:
    """DSPLib's matrix_mult_graph says so of tilers that its parameters leave out."""
    assert kernel(breadth, "gr.filters[1]").runtime_ratio == 0.25
    assert port(breadth, "gr.filters[0].out[0]").samples == 16
    assert not [each for each in breadth.kernels if each.source == "left_out.cc" or each.runtime_ratio == 0.4]


def test_places_of_graphs_channels_and_stacks(breadth: Description) -> None:
    called = names(breadth)
    found = [(each.what, called.get(each.object), each.places) for each in breadth.locations]
    of_first = kernel(breadth, "gr.filters[0]").id
    assert found == [
        (
            "graph",
            "gr.with",
            (
                Place("area", 0, 0, tile_kind="aie_tile", last_column=3, last_row=1),
                Place("area", 0, 0, tile_kind="shim_tile", last_column=3, last_row=0),
            ),
        ),
        ("graph", "gr.without", (Place("area", 4, 0, tile_kind="aie_tile", last_column=5, last_row=2),)),
        ("dma", "gr.bytes.in[0]", (Place("dma_channel", 2, 0, 3, "memory_tile"),)),
        ("GMIO", "gr.from_memory", (Place("shim", 5, number=1),)),
        ("stack", "gr.filters[0]", (Place("bank", 1, 2, 3),)),
        ("parameter", "gr.filters[0].param[0]", (Place("offset", number=1024),)),
        ("parameter", "gr.filters[1].param[0]", (Place("same", 0, 0, other=of_first, what="kernel"),)),
    ]
    assert [called[each] for each in breadth.not_equal[0].objects] == [
        "gr.filters[0].in[0]",
        "gr.filters[0].out[0]",
    ]


@pytest.mark.parametrize(
    ("case", "line", "says"),
    [
        ("port", 16, "port in[1] of this kernel is not there: it has 1"),
        ("kernel", 17, "a kernel is used before create() made it"),
        ("early", 18, "a port is used before create() made its object"),
        ("static", 19, "a kernel's function must not be static: its name is not known elsewhere"),
        ("source", 21, "a connection begins at a port of a kernel, k.out[n], not at a kernel"),
        ("logic", 22, "fabric<pl>: kernels of the programmable logic are not simulated"),
        ("missing", 23, "the program calls absent(int), which none of its sources defines"),
    ],
)
def test_what_a_graph_must_not_is_refused_with_its_line(
    monkeypatch: pytest.MonkeyPatch, case: str, line: int, says: str
) -> None:
    monkeypatch.setenv("WRONG", case)
    with pytest.raises(InputFileError) as error:
        _ = load(GRAPHS / "wrong.h", instance="wrong top").description
    assert str(error.value) == f"wrong.h:{line}: {says}."


def test_a_graph_that_no_program_makes_is_made_by_its_class() -> None:
    graph = load(GRAPHS / "wrong.h", instance="wrong top")
    found = graph.description
    assert graph.options.instance == "wrong top"
    assert [each.name for each in found.graphs] == ["top"]
    assert [each.name for each in found.kernels] == ["top.k"]


def test_sources_that_make_no_graph_are_refused() -> None:
    source = GRAPHS / "none.cpp"
    with pytest.raises(InputFileError) as error:
        _ = load(source).description
    assert str(error.value) == f"{source}: no graph is made here. Make one: my_graph gr;"
