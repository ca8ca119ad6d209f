"""Are tilings in C++ text those that a compiler would make of it?"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np
import pytest

import memtile
from memtile.access.graph_text.fragment import graph_tilings, tiling_of
from memtile.access.request import elements
from memtile.access.tiling import TilingParameters, TraversingParameters, tiling_elements
from memtile.access.tiling_cases import parse_tiling
from memtile.access.tiling_views import numpy_steps, tiling_view
from memtile.errors import TransferError
from support.formats.oracle_files import load

PUBLISHED = {case["id"]: parse_tiling(case).tiling for case in load("tilings")["tilings"]}
EMPTY = "{.buffer_dimension = {%s}}"


def value(expression: str, text: str = "", **constants: int) -> int:
    """What an expression is worth, as a buffer's dimension."""
    (found,) = graph_tilings(f"{text}\ntiling({EMPTY % expression})", constants)
    assert found.error is None, found.error
    assert found.tiling is not None
    return found.tiling.buffer_dimension[0]


def written(tiling: TilingParameters, *, designated: bool) -> str:
    """A tiling as C++."""

    def numbers(values: Any) -> str:
        return "{" + ", ".join(map(str, values)) + "}"

    def given(**members: Any) -> str:
        mark = ".{} = {}" if designated else "{1}"
        return "{" + ", ".join(mark.format(*pair) for pair in members.items()) + "}"

    loops = [given(dimension=x.dimension, stride=x.stride, wrap=x.wrap) for x in tiling.tile_traversal]
    return given(
        buffer_dimension=numbers(tiling.buffer_dimension),
        tiling_dimension=numbers(tiling.tiling_dimension),
        offset=numbers(tiling.offset),
        tile_traversal=numbers(loops),
        packet_port_id=tiling.packet_port_id,
        repetition=tiling.repetition,
        phase=tiling.phase,
        boundary_dimension=numbers(tiling.boundary_dimension or ()),
    )


@pytest.mark.parametrize("designated", [True, False])
def test_all_published_tilings_are_read_back(designated: bool) -> None:
    for name, tiling in PUBLISHED.items():
        if not tiling.buffer_iteration:
            assert tiling_of(written(tiling, designated=designated)) == tiling, name


def test_comments_and_spaces_change_nothing() -> None:
    drawn = random.Random(32)
    fillers = [" ", "\n", "\t", "/* } */", "// {\n", "\\\n", '/* \n * " */']
    for tiling in list(PUBLISHED.values())[:40]:
        words = re.findall(r"[\w.]+|\S", written(tiling, designated=True))
        text = "".join(word + "".join(drawn.choices(fillers, k=drawn.randrange(3))) + " " for word in words)
        if not tiling.buffer_iteration:
            assert tiling_of(text) == tiling


def test_a_graph_has_the_tilings_of_its_ports() -> None:
    # 8 x 8 x 16 in quarters, test case 1 of the tiling tutorial in XD100; the text is our own
    text = """
    #include <adf.h>
    #define LAYERS (4 * 4)
    template <int COL> class Quarters : public adf::graph {
      adf::shared_buffer<int32> image, copies[2];
      kernel last;
      Quarters() {
        const uint plane = W * H, all = plane * LAYERS;
        image = adf::shared_buffer<int32>::create({all}, 1, 1);
        copies[0] = shared_buffer<int8>::create({16, 8}, 1, 1);
        dimensions(last.in[0]) = {H, W};
        adf::write_access(image.in[0]) = adf::tiling({.tiling_dimension = {all}, .offset = {0}});
        adf::read_access(image.out[0]) = adf::tiling({
            .buffer_dimension = {W, H, LAYERS}, .tiling_dimension = {(W / 2), H >> 1, 1},
            .offset = {0, 0, 0},
            .tile_traversal = {{.dimension = 0, .stride = W / 2, .wrap = 2},
                               {.dimension = 1, .stride = H / 2, .wrap = 2},
                               {.dimension = 2, .stride = 1, .wrap = LAYERS}}});
        tiling_parameters part = {.tiling_dimension = {8, 8}};
        part.offset = {8, 0};
        read_access(copies[0].out[1]) = {tiling(part), tiling({.tiling_dimension = {8, 8}})};
        write_access(last.in[0]) = tiling({});
      }
    };"""
    write, read, second, first, kernel = found = graph_tilings(text, {"W": 8, "H": 8})
    assert read.tiling == PUBLISHED["mt_t1"]
    assert write.tiling == TilingParameters((1024,), (1024,), (0,))
    assert second.tiling == TilingParameters((16, 8), (8, 8), (8, 0))
    assert first.tiling == TilingParameters((16, 8), (8, 8))
    assert kernel.tiling == TilingParameters((8, 8))
    assert [(each.name, each.access, each.memory, each.element_type) for each in found] == [
        ("image.in[0] (Quarters, line 12)", "write", "memtile", "int32"),
        ("image.out[0] (Quarters, line 13)", "read", "memtile", "int32"),
        ("copies[0].out[1] (Quarters, line 19)", "read", "memtile", "int8"),
        ("copies[0].out[1] (Quarters, line 21)", "read", "memtile", "int8"),
        ("last.in[0] (Quarters, line 22)", "write", "aie_ml_data_memory", ""),
    ]


def test_tilings_of_variables_and_vectors_are_listed() -> None:
    text = """adf::tiling_parameters a{{8}}; tiling_parameters b;
    b.buffer_dimension = {4}; auto c = tiling_parameters{{2}};
    std::vector<adf::tiling_parameters> all = {{{3}}, adf::tiling_parameters{{5}}};
    adf::external_buffer<cint16> far;
    write_access(far.in[0]) = tiling(a);"""
    found = {each.name: each for each in graph_tilings(text)}
    sizes = {name: each.tiling.buffer_dimension for name, each in found.items() if each.tiling}
    assert sizes == {
        "far.in[0] (line 1)": (8,),
        "b (line 1)": (4,),
        "tiling (line 2)": (2,),
        "all[0] (line 3)": (3,),
        "all[1] (line 3)": (5,),
    }
    far = found["far.in[0] (line 1)"]
    assert (far.access, far.memory, far.element_type) == (
        "write",
        "external_ddr_via_interface_tile",
        "cint16",
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("20 - 6 - 4", 10),
        ("1 << 2 + 1", 8),
        ("0x10 | 3", 19),
        ("010 + 0b11", 11),
        ("1'000u / 3", 333),
        ("-7 / 2 + 8", 5),
        ("-7 % 4 + 8", 5),
        ("7 % -4", 3),
        ("~0 + 5 & 7 ^ 1", 5),
        ("(3 > 2) + (2 >= 3) + (1 == 1 && !0)", 2),
        ("(unsigned int)8 / uint32_t(2) + static_cast<std::size_t>(1)", 5),
        ("sizeof(int32) * sizeof(cint16)", 16),
        ("W / 2 + Shape::N", 7),
    ],
)
def test_expressions_have_the_values_of_cpp(expression: str, expected: int) -> None:
    text = "struct Shape { static constexpr unsigned N = 3; };"
    assert value(expression, text, W=8) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const uint N = 4, M = N * 2; constexpr auto K = M;", 8),
        ("int K{5};", 5),
        ("int K = 5; K = 6;", 6),
        ("#define K J + 1\n#define J 2", 3),
        ("#if LARGE && defined(LARGE)\nint K = 1;\n#elif 1\nint K = 2;\n#else\nint K = 3;\n#endif", 2),
        ("#ifndef K\n#define K 7\n#endif\n#ifdef Q\n#undef K\n#endif", 7),
        ("int K = 1; { int K = 2; }", 1),
        ("namespace a { constexpr long K = 3; } using a::K; const int K = a::K;", 3),
        ("const char *s = \"int K = 9; {\"; int K = 4; char c = '{';", 4),
        ('auto s = R"x(int K = 9; { )" )x"; int K = 4;', 4),
    ],
)
def test_constants_of_the_text_are_those_of_cpp(text: str, expected: int) -> None:
    assert value("K", text) == expected


def test_a_constant_from_outside_wins_over_a_line() -> None:
    assert value("K", "const uint K = 4;", K=9) == 9
    assert value("K", "#define K 4", K=9) == 9


def test_python_reads_a_pasted_initialiser() -> None:
    tiling = memtile.tiling_of("{.buffer_dimension = {N, 6}, .tiling_dimension = {N / 2, 3}}", N=8)
    assert tiling == TilingParameters((8, 6), (4, 3))
    assert tiling_view(tiling, "int8").shape == (3, 4)


def drawn_tiling(drawn: random.Random) -> TilingParameters:
    """Any tiling: overlaps, gaps, padding, loops along one dimension within each other, repetitions."""
    rank = drawn.randint(1, 3)
    buffer = tuple(drawn.randint(1, 9) for _ in range(rank))
    tile = tuple(drawn.randint(1, size + 1) for size in buffer)
    loops = [
        TraversingParameters(drawn.randrange(rank), drawn.choice([0, 1, 2, 3, tile[0]]), drawn.randint(1, 3))
        for _ in range(drawn.randint(0, 3))
    ]
    return TilingParameters(
        buffer,
        tile,
        tuple(drawn.randint(-2, size - 1) for size in buffer),
        tuple(loops),
        boundary_dimension=tuple(drawn.randint(1, size) for size in buffer) if drawn.random() < 0.3 else None,
        repetition=drawn.choice([1, 1, 2]),
    )


def numpy_order(tiling: TilingParameters) -> Any:
    """Elements in the order of the NumPy expression; -1 for zeros."""
    steps = numpy_steps(tiling)
    array = np.arange(1, np.prod(steps.shape) + 1).reshape(steps.shape)
    names = {"np": np, "a": array, "sliding_window_view": np.lib.stride_tricks.sliding_window_view}
    return eval(steps.text, names).reshape(-1) - 1


def test_numpy_walks_as_the_tiling_does() -> None:
    drawn = random.Random(7)
    wide = "pfa_permute_i_OOR"  # a mistake of its users: its zeros would fill an array of 5 GB
    small = [
        each for name, each in PUBLISHED.items() if np.prod(each.buffer_dimension) <= 1 << 12 and name != wide
    ]
    tilings = [*small, *(drawn_tiling(drawn) for _ in range(120))]
    compared = 0
    for tiling in tilings:
        if (tiling_elements(tiling) < 0).all():
            continue
        try:
            found = numpy_order(tiling)
        except TransferError:  # a dimension of which no element is data, beside one with some
            continue
        compared += 1
        assert np.array_equal(found, tiling_elements(tiling)), tiling
        assert np.array_equal(elements(tiling_view(tiling).request()), tiling_elements(tiling)), tiling
    assert compared > 110


def test_numpy_is_written_as_people_write_it() -> None:
    texts = {
        name: numpy_steps(PUBLISHED[name]).text for name in ("mt_t1", "mt_t3_stage2_read", "dsp_mvm_write")
    }
    assert texts == {
        "mt_t1": "a.reshape(16, 2, 4, 2, 4).transpose(0, 1, 3, 2, 4)",
        "mt_t3_stage2_read": "sliding_window_view(np.pad(a, ((1, 1), (1, 1))), (6, 6), (0, 1))"
        "[::4, ::4, :, :]",
        "dsp_mvm_write": "a.transpose(1, 0)",
    }
