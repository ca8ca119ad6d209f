"""Does a comparison say which element is wrong, where in the user's array, and what came instead?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from memtile import Array, DesignError, MemoryTile
from memtile.explain.checks import Check


def sent(data: np.ndarray, expected: np.ndarray, *more: np.ndarray) -> Check:
    """The comparison of a buffer that is sent."""
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", data.shape, data.dtype, data=data)))
    for each in (expected, *more):
        tile.mm2s[0].expect(each)
    return tile.run().checks[0]


def test_the_first_wrong_element_is_told_by_its_place_and_both_values() -> None:
    data = np.arange(64, dtype=np.int16).reshape(4, 16)
    expected = data.copy()
    expected[2, 5:7] = 700, 701
    check = sent(data, expected)
    assert check.text == (
        "MM2S 0: 2 wrong, the first is element 37 at [2, 5] (37 came, 700 was expected), "
        "0 missing of 64 elements"
    )
    assert (check.index, check.got, check.expected, check.note) == ((2, 5), 37, 700, "")


def test_of_several_expected_arrays_the_number_is_told() -> None:
    data = np.arange(12, dtype=np.int32)
    check = sent(data, data[:4].reshape(2, 2), data[4:8], data[8:].reshape(2, 2) * np.int32(2))
    assert check.index == (2, 0, 0)
    assert "element 8 at [2, 0, 0] (8 came, 16 was expected)" in check.text


def test_what_comes_beyond_the_end_has_no_place() -> None:
    check = sent(np.arange(8, dtype=np.int32), np.arange(6, dtype=np.int32))
    assert (check.first_wrong, check.index, check.got, check.expected) == (6, None, 6, None)
    assert (
        check.text
        == "MM2S 0: 2 wrong, the first is element 6 (6 came, beyond the end), 0 missing of 6 elements"
    )


def test_a_difference_of_types_is_told() -> None:
    check = sent(np.arange(8, dtype=np.int32), np.arange(8, dtype=np.float32))
    assert check.text.endswith("float32 is expected of a buffer of int32: bits are compared, not values")
    short = sent(np.arange(8, dtype=np.int8), np.arange(8, dtype=np.int32))
    assert short.note.startswith("int32 is expected of a buffer of int8")
    assert sent(np.arange(8, dtype=np.int32), np.arange(8, dtype=np.uint32)[::-1]).note == ""
    assert sent(np.zeros(8, np.int32), np.zeros(8, np.float32)).note == ""


def test_numbers_that_json_does_not_have_are_texts() -> None:
    values = np.array([1.5, np.nan, np.inf], np.float32)
    check = sent(np.zeros(3, np.float32), values[1:2].repeat(3))
    assert (check.got, check.expected) == (0.0, "nan")
    json.dumps(check.as_json(), allow_nan=False)
    assert check.as_json()["index"] == [0]


def test_buffers_and_external_arrays_are_told_by_their_shape_too() -> None:
    array = Array("npu1", 1)
    tile, wanted = array.memory_tile(0), np.zeros((2, 4), np.int32)
    wanted[1, 3] = 9
    tile.expect(tile.buffer("b", (2, 4)), wanted)
    array.expect_array("out", np.zeros((2, 4), np.int32), wanted)
    for check in array.run().checks:
        assert (check.first_wrong, check.index, check.got, check.expected) == (7, (1, 3), 0, 9)


def test_long_integers_go_where_32_bits_hold_them_as_into_buffers() -> None:
    tile = MemoryTile()
    tile.s2mm[0].start(tile.write(tile.buffer("in", 8)))
    tile.s2mm[0].feed(np.arange(8))
    tile.mm2s[0].start(tile.read(tile.buffer("out", 8, data=np.arange(8))))
    tile.mm2s[0].expect(np.arange(8))
    result = tile.run()
    assert result.good
    assert result.outputs["MM2S 0"].dtype == np.int32
    alone = MemoryTile()
    alone.mm2s[0].expect(np.array([0xFFFF_FFFF], np.uint64))
    assert alone.mm2s[0].dtype == np.uint32


@pytest.mark.parametrize("values", [[1 << 32], [-1, 1 << 31], [1.5], [0.1]])
def test_numbers_that_32_bits_do_not_hold_are_refused(values: list[float]) -> None:
    with pytest.raises(DesignError, match="its elements must have 4 bytes or less, or be whole numbers that"):
        MemoryTile().mm2s[0].expect(np.array(values))


def test_long_integers_are_refused_where_the_buffer_has_other_elements() -> None:
    tile = MemoryTile()
    tile.mm2s[0].start(tile.read(tile.buffer("b", 8, np.int8)))
    with pytest.raises(DesignError, match=r"has type int64, the buffer has int8 .*\.astype\(np\.int8\)"):
        tile.mm2s[0].expect(np.arange(8))
