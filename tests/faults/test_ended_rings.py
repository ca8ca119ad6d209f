"""Is a chain that ends where it should go round named, before a run and in one, and is it closed again?"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from memtile import Array
from memtile.check.check import check
from memtile.check.checked_program import of_mlir
from memtile.cli.main import app
from memtile.explain.findings import Finding, Severity
from memtile.importers.design import load, load_still
from memtile.importers.mlir.repairs.candidates import candidates
from memtile.importers.mlir.token_packets import Text
from support.pages.corpus_scores import CORPUS

HANGS = (CORPUS / "ring-of-one-pass-hangs.mlir").read_text(encoding="utf-8")
WEST = (CORPUS / "lock-of-the-west-hangs.txt").read_text(encoding="utf-8")


def checked(tmp_path: Path, text: str) -> list[Finding]:
    file = tmp_path / "ring.mlir"
    file.write_text(text, encoding="utf-8")
    return list(check("ring.mlir", lambda: of_mlir(load_still(str(file)))).findings)


def test_a_chain_that_ends_beside_a_ring_is_named_at_its_last_descriptor(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, HANGS)
    assert found.message == (
        "memory(0,1) S2MM 0 ends after BD 1, and memory(0,1) MM2S 0, which shares its locks, goes round: "
        "it takes 32 of the 64 words that interface(0,0) MM2S 0 'in' sends."
    )
    assert found.fix == "Chain BD 1 to BD 0 (next_bd, loop=True)."
    assert found.sides[0].place.endswith("ring.mlir:23:7")
    assert [side.who for side in found.sides[1:]] == ["interface(0,0) MM2S 0 'in'", "memory(0,1) MM2S 0"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("aie.next_bd ^out0", "aie.next_bd ^end"),  # both end
        ("aie.use_lock(%full, Release, 1)\n      aie.next_bd ^end", "aie.next_bd ^end"),  # it gives nothing
        ("[1, 1, 1, 64][0, 0, 0, 1]) {metadata = @in", "[1, 1, 1, 48][0, 0, 0, 1]) {metadata = @in"),
    ],
)
def test_a_chain_that_may_be_meant_to_end_is_not_called_a_ring(tmp_path: Path, old: str, new: str) -> None:
    text = HANGS.replace(old, new)
    assert text != HANGS
    assert not any("goes round" in each.message for each in checked(tmp_path, text))


def test_a_sender_that_ends_is_named_too(tmp_path: Path) -> None:
    """The chain that empties the buffers ends, and the one that fills them goes round."""
    text = HANGS.replace("aie.next_bd ^end", "aie.next_bd ^in0").replace(
        "aie.next_bd ^out0", "aie.next_bd ^end"
    )
    found = checked(tmp_path, text)
    assert found[0].message == (
        "memory(0,1) MM2S 0 ends after BD 3, and memory(0,1) S2MM 0, which shares its locks, goes round: "
        "it sends 32 of the 64 words that interface(0,0) S2MM 0 'out' takes."
    )


def test_a_chain_whose_one_pass_is_all_that_is_wanted_is_meant_to_end(tmp_path: Path) -> None:
    """The host takes, or sends, on the other side of the ring just what the chain moves."""
    other_way = HANGS.replace("aie.next_bd ^end", "aie.next_bd ^in0").replace(
        "aie.next_bd ^out0", "aie.next_bd ^end"
    )
    for text, host in ((HANGS, "%b"), (other_way, "%a")):
        whole = f"{host}[0, 0, 0, 0][1, 1, 1, 64]"
        assert whole in text
        found = checked(tmp_path, text.replace(whole, whole.replace("64", "32")))
        assert not any("goes round" in each.message for each in found)
        assert any(each.code == "MT0108" for each in found)


@pytest.mark.parametrize("command", ["run", "check"])
def test_the_chain_is_closed_by_a_repair(tmp_path: Path, command: str) -> None:
    file = tmp_path / "ring.mlir"
    file.write_text(HANGS, encoding="utf-8")
    more = ["--pad-arguments"] if command == "run" else ["--fix"]
    said = CliRunner().invoke(app, [command, str(file), *more]).output
    if command == "run":
        assert "line 25: continue with ^in0 instead of ^end" in said
    else:
        fine = (CORPUS / "ring-of-one-pass-fine.mlir").read_text(encoding="utf-8")
        assert file.read_text(encoding="utf-8") == fine


def test_a_run_says_where_a_channel_had_its_last_work(tmp_path: Path) -> None:
    file = tmp_path / "ring.mlir"
    file.write_text(HANGS, encoding="utf-8")
    numbers = np.arange(64, dtype=np.int32)
    (found,) = load(str(file)).run([numbers, np.zeros_like(numbers)]).result.findings
    assert found.sides[0].place.endswith("ring.mlir:23:7")


def starving() -> Array:
    """A core that waits for words of a channel that has sent all."""
    array = Array("npu1", columns=1)
    shared, worker = array.memory_tile(0), array.compute_tile(0, 2)
    shared.mm2s[0].start(shared.read(shared.buffer("once", 16, data=np.arange(16))))
    got, full = worker.buffer("got", 16), worker.lock(0, "full")
    worker.s2mm[0].start(worker.write(got).guarded(None, full.release()), loop=True)
    array.connect(shared.mm2s[0], worker.s2mm[0])

    def kernel(core: Any) -> Generator[Any, Any, None]:
        for _ in range(2):
            yield core.acquire(full)

    worker.run_kernel(kernel)
    return array


def test_a_kernel_in_python_is_named_with_its_file() -> None:
    (found,) = starving().run().findings
    assert found.sides[0].place.startswith(f"{Path(__file__).name}:")


def test_a_kernel_that_waits_in_another_file_is_named_with_that(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    text = "def turns(core, lock):\n    yield core.acquire(lock)\n"
    exec(compile(text, str(tmp_path / "turns.py"), "exec"), names)
    array = Array("npu1", columns=1)
    tile = array.compute_tile(0, 2)
    full = tile.lock(0, "full")

    def kernel(core: Any) -> Generator[Any, Any, None]:
        yield from names["turns"](core, full)

    tile.run_kernel(kernel)
    (found,) = array.run().findings
    assert found.sides[0].place == "turns.py:2"


def test_the_lock_of_a_neighbour_is_told_from_the_own_one(tmp_path: Path) -> None:
    file = tmp_path / "west.txt"
    file.write_text(WEST, encoding="utf-8")
    said = CliRunner().invoke(app, ["check", "--device", "npu1", str(file)]).output
    assert "west.txt:7: warning MT0103: memory(0,1) MM2S 0 (BD 1) waits for lock 1 of tile (-1, 1)" in said
    assert "Give BD 1 lock id 65: lock 1 of its own tile." in said
    other = WEST.replace("0x8140FF01", "0x8140FF03")  # lock 3, which nothing releases in the own tile either
    file.write_text(other, encoding="utf-8")
    said = CliRunner().invoke(app, ["check", "--device", "npu1", str(file)]).output
    assert "MT0103" in said
    assert "id 3" not in said


def test_a_chain_is_not_closed_for_another_reason() -> None:
    """A wait that a ring would end too: its lock is given by nobody."""
    text = HANGS.replace(
        "aie.use_lock(%full, AcquireGreaterEqual, 1)", "aie.use_lock(%full, AcquireGreaterEqual, 2)"
    )
    kinds = [
        each.kind
        for code in ("MT0304", "MT0302")
        for each in candidates(Text("ring.mlir", text), [Finding(code, Severity.ERROR, "", ())])
        if "continue with ^in0 instead of ^end" in each.says
    ]
    assert kinds == ["loop"]
