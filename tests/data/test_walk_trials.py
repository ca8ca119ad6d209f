"""Is the transfer named that makes the words of a reduction wrong, though what they depend on is unknown?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtile import MemoryTile
from memtile.bd import Descriptor
from memtile.cli.runnable import python_design
from memtile.design.chains import other_descriptors
from memtile.errors import InputFileError
from memtile.explain.findings import Finding, Severity, Side
from memtile.explain.race_findings import NamedArea
from memtile.explain.repairs import Trial, search, with_repair
from memtile.explain.walk_trials import walk_candidates
from memtile.runs.array_names import Given
from memtile.runs.options import RunOptions

DOTS = """
import numpy as np
from memtile import Array, view

def design():
    array = Array("npu1", columns=1)
    door, tile = array.interface_tile(0), array.compute_tile(0, 2)
    data, out = np.arange(64, dtype=np.int32).reshape(8, 8) ** 2, np.zeros(4, np.int32)
    rows = array.object_fifo("rows", door, tile, shape=(8,), depth=1)
    sums = array.object_fifo("sums", tile, door, shape=(1,), depth=1)
    source, result = rows.consumers[0], sums.producer

    def add(core):
        for n in range(4):
            yield core.acquire(source.full)
            yield core.acquire(result.free)
            core.write(result.buffer(n), [int(core.read(source.buffer(n)) @ np.arange(8))])
            yield core.release(source.free)
            yield core.release(result.full)

    tile.run_kernel(add)
    door.mm2s[0].start(door.read(array.external("data", data), PART))
    door.s2mm[0].start(door.write(array.external("out", out)))
    array.expect_array("out", out, MEANT @ np.arange(8))
    return array
"""


@pytest.mark.parametrize(
    ("part", "meant", "says"),
    [
        ("view((8, 8))[3:7]", "data[4:]", "reads 8 words too early: let it begin at word 32"),
        (
            "view((8, 8))[:4].T",
            "data[:4]",
            "reads with sizes 8, 4 and strides 1, 8: exchange its dimensions: sizes 4, 8 and strides 8, 1",
        ),
    ],
)
def test_the_transfer_is_named_with_which_all_words_are_right(
    part: str, meant: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "dots.py"
    file.write_text(DOTS.replace("PART", part).replace("MEANT", meant))
    make, options = python_design(str(file), ()), RunOptions(untimed=True)
    result = make().run(options).result
    assert result.kept is not None
    found = [*walk_candidates(result.kept.engine())]
    right = next(each for each in found if each.says == f"interface(0,0) MM2S 0 'rows' (line 22) {says}")
    with other_descriptors(right.walks):
        assert make().run(options).result.exact
    assert right.unlikely < 0.4


def test_a_walk_that_leaves_its_buffer_is_less_likely() -> None:
    tile = MemoryTile()
    box, full = tile.buffer("box", 16), tile.lock(0, "full")
    tile.s2mm[0].start(tile.write(box).guarded(None, full.release()))
    tile.s2mm[0].feed(np.arange(16, dtype=np.int32))
    tile.mm2s[0].start(Descriptor("memory", 16, box.dma_address + 1, acquire=full.acquire()))
    result = tile.run(untimed=True)
    assert result.kept is not None
    areas = [NamedArea("box", 0, box.offset, box.nbytes)]
    found = [*walk_candidates(result.kept.engine(), areas)]
    fits, leaves = (next(c for c in found if c.says.endswith(f"let it begin at word {n}")) for n in (0, 1))
    assert (fits.target[0], leaves.target[0]) == ("MM2S 0", "S2MM 0")
    assert fits.unlikely + 0.3 < leaves.unlikely


def test_the_finding_is_at_the_transfer(tmp_path: Path) -> None:
    file = tmp_path / "dots.py"
    file.write_text(DOTS.replace("PART", "view((8, 8))[:4]").replace("MEANT", "data[:4]"))
    result = python_design(str(file), ())().run(RunOptions(untimed=True)).result
    assert result.exact
    assert result.kept is not None
    change = next(iter(walk_candidates(result.kept.engine())))
    tried = search([change], lambda *_: Trial(True, 7, compared=True), max_cycles=9)
    (found,) = with_repair(
        [Finding("MT0405", Severity.ERROR, "out is wrong.", (Side("out", "is wrong"),))], tried
    )
    assert (found.sides[0].who, found.sides[0].place) == (change.target[0], f"{file}:23")


def test_what_is_expected_from_outside_comes_before_what_the_design_expects(tmp_path: Path) -> None:
    file = tmp_path / "dots.py"
    file.write_text(DOTS.replace("PART", "view((8, 8))[:4]").replace("MEANT", "data[4:]"))
    right = (np.arange(64).reshape(8, 8)[:4] ** 2) @ np.arange(8)
    made = python_design(str(file), (), [Given("out", right)])()
    assert made.run(RunOptions(untimed=True)).result.exact
    with pytest.raises(
        InputFileError, match=r"writes no array in\. Its arrays in external memory: data, out"
    ):
        python_design(str(file), (), [Given("in", right)])()
    with pytest.raises(InputFileError, match=r"3 elements are expected of out, which has 4"):
        python_design(str(file), (), [Given("out", right[:3])])()
