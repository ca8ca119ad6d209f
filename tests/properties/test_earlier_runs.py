"""Does a run that is taken from an earlier one leave what running it leaves, whatever the design?"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from memtile.explore.plan.designs import gemm
from support.designs.relays import relay
from support.engine.run_stores import left, store_in

RELAYS = st.fixed_dictionaries(
    {
        "objects": st.integers(1, 6),
        "words": st.integers(1, 40),
        "count": st.integers(1, 300),
        "device": st.sampled_from(["npu1", "npu2"]),
        "tasks": st.integers(0, 12),
        "again": st.integers(1, 3),
        "depth": st.integers(1, 3),
        "extra": st.integers(0, 40),
        "far": st.integers(0, 2),
        "endless": st.sampled_from([None, False, True]),
    }
)


@given(values=RELAYS)
@settings(max_examples=15)
def test_relays(values: dict[str, Any]) -> None:
    _same(lambda: relay(**values))


@given(
    sizes=st.tuples(*[st.integers(1, 3)] * 3),
    columns=st.integers(1, 2),
    rows=st.sampled_from([1, 2]),
    keep=st.sampled_from(["none", "a", "b"]),
    device=st.sampled_from(["npu1", "npu2"]),
)
@settings(max_examples=8)
def test_planned_products(
    sizes: tuple[int, int, int], columns: int, rows: int, keep: Any, device: str
) -> None:
    m, n, k = (each * 16 * more for each, more in zip(sizes, (rows, columns, 1), strict=True))
    cut: dict[str, Any] = {"tall": 16, "wide": 16, "deep": 16, "panel": 16, "macs": 64, "device": device}
    _same(lambda: gemm.design(m, n, k, columns=columns, rows=rows, keep=keep, data=False, **cut))


def _same(made: Any) -> None:
    with tempfile.TemporaryDirectory() as place, store_in(Path(place)):
        first, again = made(), made()
        ran, taken = first.run(data=False), again.run(data=False)
        assert (ran.good, ran.recalled, taken.recalled) == (True, False, True)
        assert left(first, ran) == left(again, taken)
