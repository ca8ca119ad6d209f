"""Is it said, before a run and in it, that one end of a stream compresses and the other does not?"""

from __future__ import annotations

import numpy as np
import pytest

from memtile import Array
from memtile.check.check import check_design


def design(*, sends: bool, takes: bool, words: int = 64) -> Array:
    """64 words go from a memory tile to a compute tile, compressed and expanded or not."""
    array = Array("npu1", columns=1)
    memory, compute = array.memory_tile(0), array.compute_tile(0, 2)
    read = memory.read(memory.buffer("plain", 64, data=np.arange(64) * (np.arange(64) % 4 == 0)))
    write = compute.write(compute.buffer("come", words))
    memory.mm2s[0].start(read.compressed() if sends else read)
    compute.s2mm[0].start(write.compressed() if takes else write)
    array.connect(memory.mm2s[0], compute.s2mm[0])
    return array


@pytest.mark.parametrize("sends", [True, False])
def test_the_end_that_is_not_coded_comes_first(sends: bool) -> None:
    array = design(sends=sends, takes=not sends)
    (checked,) = check_design(lambda: design(sends=sends, takes=not sends)).findings
    found = array.run(max_cycles=10_000).findings
    assert {checked.code, found[0].code} == {"MT0415"}
    assert found[0].message == checked.message
    assert checked.sides[0].who.startswith("compute(0,2) S2MM 0" if sends else "memory(0,1) MM2S 0")
    assert checked.fix == (
        "Let compute(0,2) S2MM 0 expand them too, or neither."
        if sends
        else "Let memory(0,1) MM2S 0 compress them too, or neither."
    )


@pytest.mark.parametrize(
    ("sends", "takes", "words"), [(True, True, 64), (False, False, 64), (True, False, 32)]
)
def test_what_is_kept_compressed_has_no_finding(sends: bool, takes: bool, words: int) -> None:
    findings = check_design(lambda: design(sends=sends, takes=takes, words=words)).findings
    assert "MT0415" not in [each.code for each in findings]
