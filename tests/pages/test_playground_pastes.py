"""Does the playground take orders of elements as people paste them: views of NumPy and object FIFOs?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "web" / "playground"))
import answers

LOOPS = "dimensionsToStream [<size = 16, stride = 1>, <size = 8, stride = 16>]"
FIFO = f"aie.objectfifo @of0 (%t {LOOPS}, {{%c}}, 2 : i32)"
PLAIN = "aie.objectfifo @a (%t, {%c}, 2 : i32) : !aie.objectfifo<memref<8xi32>>"
ARRAY = "import numpy as np\na = np.arange(256, dtype=np.int32).reshape(16, 16)\nb = a[2:6, 4:].T"


def answered(text: str, tile: str = "memory") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answers.answer(text, tile))
    return found


IMAGE = np.arange(256).reshape(16, 16)


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("view((16, 16))[4:12, ::2].T", IMAGE[4:12, ::2].T),
        ("import memtile\nimage = memtile.view((16, 16))\nimage[4:12].T", IMAGE[4:12].T),
        (
            "import numpy as np\na = np.arange(256, dtype=np.int32).reshape(16, 16)\nb = a[2:6, 4:].T",
            IMAGE[2:6, 4:].T,
        ),
        (f"{FIFO} : !aie.objectfifo<memref<8x16xi32>>", np.arange(128).reshape(8, 16).T),
    ],
)
def test_an_order_has_its_walk_its_words_and_its_picture(text: str, order: Any) -> None:
    found = answered(text)
    assert found["walk"].split() == [*map(str, order.reshape(-1))], found.get("error")
    assert found["words"]
    assert found["picture"].count("<rect") > 100


def test_zeros_around_a_view_are_dots() -> None:
    assert answered("np.pad(view((2, 4)), 1)")["walk"].split()[5:9] == [".", ".", "0", "1"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("view((3, 3)).foo", "the view: AttributeError"),
        ("np.arange(8)[::-1]", "write view(shape)[::-1] instead"),
        ("len(view((8, 8)))", "the last line is a int"),
        (
            "aie.objectfifo @a (%t, {%c}, 2 : i32) : !aie.objectfifo<memref<8xi32>>",
            "has no dimensionsToStream",
        ),
        (FIFO, "has no type"),
        ("x[::2, 1:]", "Begin with its shape, such as x = np.zeros((8, 8), np.int32)"),
        ("hello world", "this is nothing that the playground takes"),
    ],
)
def test_what_is_wrong_with_it_is_said(text: str, says: str) -> None:
    assert says in answered(text)["error"]
