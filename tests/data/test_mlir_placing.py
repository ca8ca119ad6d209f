"""Where do logical tiles go, and does a design with them run?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile.errors import InputFileError
from support.mlir.mlir_designs import NUMBERS, WAIT, copied, device, host, loaded, ran

_CORE = """aie.core(%{tile}) {{
  %z = arith.constant 0 : index
  %n = arith.constant 4 : index
  %w = arith.constant 16 : index
  %o = arith.constant 1 : index
  scf.for %t = %z to %n step %o {{
    %s0 = aie.objectfifo.acquire @{source}(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
    %x = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    %s1 = aie.objectfifo.acquire @{target}(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
    %y = aie.objectfifo.subview.access %s1[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    scf.for %i = %z to %w step %o {{
      %v = memref.load %x[%i] : memref<16xi32>
      memref.store %v, %y[%i] : memref<16xi32>
    }}
    aie.objectfifo.release @{source}(Consume, 1)
    aie.objectfifo.release @{target}(Produce, 1)
  }}
  aie.end
}}"""


def _fifo(name: str, source: str, target: str) -> str:
    return f"aie.objectfifo @{name}(%{source}, {{%{target}}}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"


def _places(text: str) -> dict[str, tuple[int, int] | None]:
    return {name[1:]: tile.place for name, tile in loaded(text).configured.tiles.items()}


_LOGICAL = """
  %s = aie.logical_tile<ShimNOCTile>(?, ?)
  %r = aie.logical_tile<ShimNOCTile>(?, ?)
  %c = aie.logical_tile<CoreTile>(?, ?)
"""
_BOTH = host(copied("out", "b", 1), copied("in", "a", 0), WAIT)


def test_logical_tiles_get_places_and_share_an_interface_tile() -> None:
    parts = _fifo("in", "s", "c"), _fifo("out", "c", "r"), _CORE.format(tile="c", source="in", target="out")
    text = device(*parts, _BOTH, tiles=_LOGICAL)
    assert _places(text) == {"s": (0, 0), "r": (0, 0), "c": (0, 2)}
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1], NUMBERS)


def test_what_has_a_place_keeps_it() -> None:
    tiles = _LOGICAL.replace("CoreTile>(?, ?)", "CoreTile>(2, ?)") + "%fixed = aie.tile(2, 2)\n"
    places = _places(device(_fifo("in", "s", "c"), _fifo("out", "c", "r"), tiles=tiles, chip="npu1"))
    assert places == {"s": (2, 0), "r": (2, 0), "c": (2, 3), "fixed": (2, 2)}


def test_an_interface_tile_without_channels_left_is_passed_over() -> None:
    sources = "".join(f"%s{n} = aie.logical_tile<ShimNOCTile>(?, ?)\n" for n in range(3))
    fifos = [_fifo(f"in{n}", f"s{n}", "m") for n in range(3)]
    text = device(*fifos, tiles=sources + "%m = aie.logical_tile<MemTile>(?, ?)\n", chip="npu1")
    assert _places(text) == {"s0": (0, 0), "s1": (0, 0), "s2": (1, 0), "m": (0, 1)}
    with pytest.raises(InputFileError, match="no interface tile has 1 MM2S channels left"):
        loaded(text.replace("(npu1)", "(npu1_1col)"))


def test_more_cores_than_tiles_are_named() -> None:
    tiles = "".join(f"%c{n} = aie.logical_tile<CoreTile>(?, ?)\n" for n in range(5))
    with pytest.raises(InputFileError, match="all 4 compute tiles that it may be are taken"):
        loaded(device(tiles=tiles))


def test_logical_tiles_at_one_place_are_one_tile() -> None:
    """All of them have places; the buffers of both object FIFOs lie in one memory, without overlap."""
    tiles = """
  %s = aie.logical_tile<ShimNOCTile>(0, 0)
  %m = aie.logical_tile<MemTile>(0, 1)
  %k = aie.logical_tile<MemTile>(0, 1)
  %c = aie.logical_tile<CoreTile>(0, 2)
"""
    fifos = [_fifo("in", "s", "m"), _fifo("a", "m", "c"), _fifo("b", "c", "k"), _fifo("out", "k", "s")]
    links = ["aie.objectfifo.link [@in] -> [@a]([] [0])", "aie.objectfifo.link [@b] -> [@out]([] [0])"]
    text = device(*fifos, *links, _CORE.format(tile="c", source="a", target="b"), _BOTH, tiles=tiles)
    assert _places(text) == {"s": (0, 0), "m": (0, 1), "k": (0, 1), "c": (0, 2)}
    np.testing.assert_array_equal(ran(loaded(text), NUMBERS)[1], NUMBERS)


def test_tiles_that_need_most_channels_are_placed_first() -> None:
    """As mlir-aie's sequential placer: a join of four finds room near to its cores, although it is last."""
    cores = "".join(f"%c{n} = aie.logical_tile<CoreTile>(?, ?)\n" for n in range(4))
    passes = "".join(f"%p{n} = aie.logical_tile<MemTile>(?, ?)\n" for n in range(4))
    tiles = f"{cores}{passes}%j = aie.logical_tile<MemTile>(?, ?)\n%s = aie.logical_tile<ShimNOCTile>(?, ?)\n"
    fifos = [_fifo(f"{name}{n}", f"p{n}", f"c{n}") for name in "pq" for n in range(4)]
    joined = [_fifo(f"j{n}", f"c{n}", "j") for n in range(4)] + [_fifo("out", "j", "s")]
    places = _places(device(*fifos, *joined, tiles=tiles, chip="npu1"))
    assert places["j"] == (0, 1)
    assert [places[f"c{n}"] for n in range(4)] == [(0, 2), (0, 3), (0, 4), (0, 5)]
    assert [places[f"p{n}"] for n in range(4)] == [(0, 1), (0, 1), (1, 1), (1, 1)]


def test_a_line_that_compiles_a_text_limits_the_cores_of_a_column() -> None:
    tiles = "".join(f"%c{n} = aie.logical_tile<CoreTile>(?, ?)\n" for n in range(5))
    places = _places("// RUN: aiecc --cores-per-col 2\n" + device(tiles=tiles, chip="npu1"))
    assert [places[f"c{n}"] for n in range(5)] == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 2)]


_TWO = "%a = aie.logical_tile<CoreTile>(?, ?)\n%b = aie.logical_tile<CoreTile>(?, ?)\n"
_LOAD = "%i = arith.constant 0 : index\n%v = memref.load %buf[%i] : memref<16xi32>\naie.end"


def _flow(source: str, target: str, channel: int = 0) -> str:
    return f"aie.flow(%{source}, DMA : {channel}, %{target}, DMA : 0)"


@pytest.mark.parametrize(
    ("chip", "tiles", "parts", "expected"),
    [
        pytest.param(  # a chain of cascades goes east where nothing is in the south
            "npu1",
            _TWO + "%c = aie.logical_tile<CoreTile>(?, ?)\n",
            ["aie.cascade_flow(%a, %b)", "aie.cascade_flow(%b, %c)"],
            {"a": (0, 2), "b": (1, 2), "c": (2, 2)},
            id="cascade",
        ),
        pytest.param(  # of the one in the middle the source is in the west, the target in the south
            "npu1",
            _TWO + "%m = aie.tile(1, 3)\n",
            ["aie.cascade_flow(%a, %m)", "aie.cascade_flow(%m, %b)"],
            {"a": (0, 3), "b": (1, 2), "m": (1, 3)},
            id="cascade-both-ways",
        ),
        pytest.param(  # the three tiles that reach the memory of (1, 3)
            "npu1",
            "%o = aie.tile(1, 3)\n" + _TWO + "%c = aie.logical_tile<CoreTile>(?, ?)\n",
            [
                "%buf = aie.buffer(%o) : memref<16xi32>",
                *(f"aie.core(%{n}) {{\n{_LOAD}\n}}" for n in "abc"),
            ],
            {"o": (1, 3), "a": (1, 2), "b": (1, 4), "c": (2, 3)},
            id="buffer",
        ),
        pytest.param(  # the column of a core that has its place decides
            "npu1",
            "%a = aie.tile(3, 2)\n%m = aie.logical_tile<MemTile>(?, ?)\n"
            "%s = aie.logical_tile<ShimNOCTile>(?, ?)\n",
            [_flow("s", "m"), _flow("m", "a", 1)],
            {"a": (3, 2), "m": (3, 1), "s": (3, 0)},
            id="placed-core",
        ),
        pytest.param(  # one MM2S channel for three flows: broadcasts of one channel count once
            "npu1",
            _TWO + "%c = aie.logical_tile<CoreTile>(?, ?)\n%s = aie.logical_tile<ShimNOCTile>(?, ?)\n",
            [_flow("s", name) for name in "abc"],
            {"a": (0, 2), "b": (0, 3), "c": (0, 4), "s": (0, 0)},
            id="one-channel",
        ),
        pytest.param(  # of a broadcast every column between the first and the last is as near
            "npu2",
            "%a = aie.tile(1, 2)\n%b = aie.tile(7, 2)\n%s = aie.logical_tile<ShimNOCTile>(?, ?)\n",
            [
                "aie.packet_flow(1) {\naie.packet_source<%s, DMA : 0>\naie.packet_dest<%a, DMA : 0>\n"
                "aie.packet_dest<%b, DMA : 0>\n}"
            ],
            {"a": (1, 2), "b": (7, 2), "s": (4, 0)},
            id="broadcast",
        ),
        pytest.param(  # a core with a column of its own comes first
            "npu1",
            "%a = aie.logical_tile<CoreTile>(?, ?)\n%b = aie.logical_tile<CoreTile>(0, ?)\n",
            [],
            {"a": (0, 3), "b": (0, 2)},
            id="wanted-first",
        ),
    ],
)
def test_places_that_mlir_aie_states(
    chip: str, tiles: str, parts: list[str], expected: dict[str, tuple[int, int]]
) -> None:
    """As its test/place-tiles (2026-08-14) has them."""
    assert _places(device(*parts, tiles=tiles, chip=chip)) == expected


def test_a_core_with_more_fifos_than_channels_gets_neighbours() -> None:
    """Four object FIFOs and two channels: two must come from cores that share memory (DEV-MLIR-9)."""
    cores = "".join(f"%w{n} = aie.logical_tile<CoreTile>(?, ?)\n" for n in range(1, 5))
    both = "%s = aie.logical_tile<ShimNOCTile>(?, ?)\n%m = aie.logical_tile<MemTile>(?, ?)\n"
    wide = "aie.objectfifo @wide(%w1, {%w2, %w3}, 2 : i32) : !aie.objectfifo<memref<16xi32>>"
    fifos = [_fifo("in", "s", "w1"), wide, _fifo("a", "w2", "w4"), _fifo("b", "w3", "w4")]
    fifos += [_fifo(f"skip{n}", "m", "w4") for n in range(2)]
    places = _places(device(*fifos, tiles=cores + both, chip="npu2"))
    assert [places[f"w{n}"] for n in range(1, 5)] == [(0, 2), (0, 3), (0, 5), (0, 4)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            device("aie.cascade_flow(%a, %b)", tiles=_TWO.replace("?, ?", "1, 3", 1).replace("?, ?", "0, ?")),
            "is beside the cascade source of a at (1, 3)",
            id="cascade",
        ),
        pytest.param(
            "// RUN: aiecc --placer=sa_placer --sa-seed=3\n" + device(tiles=_TWO),
            "its RUN line places tiles with sa_placer",
            id="placer",
        ),
        pytest.param(
            "// RUN: aiecc --cores-per-col=5\n" + device(tiles=_TWO),
            "its RUN line asks for 5 cores in a column",
            id="cores",
        ),
    ],
)
def test_what_cannot_be_placed_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputFileError) as refused:
        loaded(text.replace("npu1_1col", "npu1"))
    assert message in str(refused.value)
