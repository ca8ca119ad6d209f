"""Is a barrier that no host sets repaired by setting it, and never turned into another lock?"""

from __future__ import annotations

from memtile.explain.findings import Finding, Severity
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.repairs.text_edits import applied
from memtile.importers.mlir.token_packets import Text

WAITED = Finding("MT0302", Severity.ERROR, "")
TEXT = """module {{
  aie.device(npu2_1col) {{
    %a = {tile}
    %b = {other}
    %set = aie.lock(%a)
    %left = aie.lock(%b)
    %spare = aie.lock(%b)
    aie.core(%a) {{
      aie.use_lock(%set, Acquire, 1)
      aie.end
    }}
    aie.core(%b) {{
      aie.use_lock(%left, {action}, 1)
      aie.use_lock(%spare, Release, 1)
      aie.end
    }}
    aie.runtime_sequence(%x: memref<64xi32>) {{
      aiex.set_lock(%set, 1)
    }}
  }}
}}
"""
LOGICAL = "aie.logical_tile<CoreTile>(?, ?)"


def tried(action: str = "Acquire", tile: str = "aie.tile(0, 2)", other: str = "aie.tile(0, 3)") -> list[str]:
    """The texts that are tried."""
    text = Text("d.mlir", TEXT.format(action=action, tile=tile, other=other))
    return [applied(text, each.changes) for each in candidates(text, [WAITED]) if each.changes]


def test_a_barrier_is_set_where_another_one_is() -> None:
    assert any("aiex.set_lock(%set, 1)\n      aiex.set_lock(%left, 1)" in each for each in tried())


def test_a_barrier_is_no_other_lock() -> None:
    assert not any("use_lock(%spare, Acquire, 1)" in each for each in tried())
    assert any("use_lock(%spare, AcquireGreaterEqual, 1)" in each for each in tried("AcquireGreaterEqual"))


def test_locks_of_tiles_without_a_place_are_not_of_one_tile() -> None:
    for each in tried("AcquireGreaterEqual", LOGICAL, LOGICAL):
        assert "use_lock(%set, AcquireGreaterEqual, 1)" not in each
    found = tried("AcquireGreaterEqual", LOGICAL, LOGICAL)
    assert any("use_lock(%spare, AcquireGreaterEqual, 1)" in each for each in found)
