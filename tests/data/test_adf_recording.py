"""Does a graph's description say what its C++ text says?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtile.adf.description import (
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
from memtile.adf.record import describe
from memtile.errors import InputFileError
from support.designs.cpp_designs import FOUND

pytestmark = pytest.mark.skipif(not FOUND, reason="no compiler of C++20 is here")
GRAPHS = Path(__file__).parents[1] / "support" / "adf"


@pytest.fixture(scope="module")
def tiled() -> Description:
    return describe([GRAPHS / "tiled.cpp"])


def port(graph: Description, name: str) -> Port:
    (found,) = [each for each in graph.ports if each.name == name]
    return found


def kernel(graph: Description, name: str) -> Kernel:
    (found,) = [each for each in graph.kernels if each.name == name]
    return found


def names(graph: Description) -> dict[int, str]:
    """Names of all objects and ports by id."""
    groups = (graph.graphs, graph.kernels, graph.memories, graph.plios, graph.ports)
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
