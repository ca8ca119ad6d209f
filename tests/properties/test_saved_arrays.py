"""Does a run that goes on from a file, in another process, equal the one that was never interrupted?"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtile import Array
from memtile.errors import DesignError, InputFileError
from memtile.explain.results import Result
from memtile.jit.settings import ENABLED
from memtile.sim.kernels.kernel_core import Core
from support.designs.interrupted_runs import interrupted
from support.designs.random_designs import Design, designs

EXAMPLES = Path(__file__).parents[2] / "examples"
WITHOUT_KERNELS = ("distribute_join", "packets", "transpose")
CYCLES = 700  # within all of them


def example(name: str) -> Array:
    made: Array = runpy.run_path(str(EXAMPLES / f"{name}.py"))["design"]()
    return made


def loop_back(words: int, seed: int, gaps: list[int]) -> Array:
    """External memory to buffers in a memory tile and back; one channel sends to the test bench."""
    array = Array("npu1", columns=1)
    shared, interface = array.memory_tile(0), array.interface_tile(0)
    random = np.random.default_rng(seed)
    sent = random.integers(0, 1 << 30, 4 * words, dtype=np.int32)
    back = np.zeros_like(sent)
    source, target = array.external("sent", sent), array.external("back", back)
    fifo = array.object_fifo("into", interface, shared, shape=words)
    (out,) = fifo.split("out", [interface])
    interface.mm2s[fifo.producer.channel.number].start(interface.read(source))
    receiver = out.consumers[0].channel
    receiver.start(interface.write(target))
    array.expect_array("back", back, sent)
    free = next(c for c in shared.mm2s if not c.claimed)
    extra = shared.buffer("extra", words, data=np.arange(words))
    free.start(shared.read(extra), repeat=3)
    free.expect(np.tile(np.arange(words, dtype=np.int32), 3), pattern=gaps)
    return array


def told(result: dict[str, Any]) -> dict[str, Any]:
    """What a result says of the hardware; which cycles were jumped over depends on where a run began."""
    return {name: value for name, value in result.items() if name != "fast_forward"}


def same(one: Result, other: Result) -> None:
    assert json.dumps(told(one.as_json())) == json.dumps(told(other.as_json()))
    assert one.outputs.keys() == other.outputs.keys()
    assert all(np.array_equal(one.outputs[name], other.outputs[name]) for name in one.outputs)


CONTINUE = """
import json, sys
from memtile import Array
array = Array.load(sys.argv[1])
result = array.run()
array.save(sys.argv[2])
print(json.dumps(result.as_json()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_KERNELS)
def test_a_run_goes_on_in_another_process_bit_by_bit(name: str, tmp_path: Path) -> None:
    stopped, whole = example(name), example(name)
    stopped.run(CYCLES)
    whole.run(CYCLES)
    stopped.save(tmp_path / "half")
    command = [sys.executable, "-c", CONTINUE, str(tmp_path / "half"), str(tmp_path / "end")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = whole.run()
    assert told(json.loads(text)) == told(result.as_json())
    assert result.good
    ended = Array.load(tmp_path / "end")
    assert str(ended.diff(whole)) == "the states are equal"


@pytest.mark.slow
@settings(max_examples=20)
@given(
    words=st.integers(1, 40).map(lambda n: 4 * n),
    seed=st.integers(0, 99),
    gaps=st.lists(st.sampled_from([0, 1]), min_size=1, max_size=7).filter(any),
    first=st.integers(0, 900),
)
def test_a_run_goes_on_from_any_cycle(words: int, seed: int, gaps: list[int], first: int) -> None:
    stopped, whole = (loop_back(words, seed, gaps) for _ in range(2))
    stopped.run(first)
    whole.run(first)
    with tempfile.TemporaryDirectory() as folder:
        stopped.save(Path(folder) / "saved")
        loaded = Array.load(Path(folder) / "saved")
    assert not loaded.diff(stopped)
    same(loaded.run(), whole.run())
    assert not loaded.diff(whole)
    back = loaded.engine.external.buffers["back"].array
    assert np.array_equal(back, whole.engine.external.buffers["back"].array)


@given(design=designs(), moments=st.lists(st.integers(0, 400), min_size=1, max_size=3))
@settings(max_examples=20, deadline=None)
def test_random_work_saved_at_any_moment_ends_like_undisturbed_work(
    design: Design, moments: list[int]
) -> None:
    """Every column at the end, and every word at the ports, is that of an array that only stopped there."""
    interrupted(design, moments)


@pytest.mark.slow
@pytest.mark.skipif(not ENABLED, reason="MEMTILE_JIT=0: the test above runs in the interpreter anyway")
def test_random_work_is_saved_in_the_interpreter_too() -> None:
    name = test_random_work_saved_at_any_moment_ends_like_undisturbed_work.__name__
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"{__file__}::{name}"]
    run = subprocess.run(
        command, env={**os.environ, "MEMTILE_JIT": "0"}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout


def test_what_a_design_declared_is_there_again(tmp_path: Path) -> None:
    array = example("distribute_join")
    array.run(CYCLES)
    array.save(tmp_path / "saved")
    loaded = Array.load(tmp_path / "saved")
    for mine, theirs in zip(array.tiles, loaded.tiles, strict=True):
        assert [repr(b) for b in mine.buffers] == [repr(b) for b in theirs.buffers]
        assert mine.locks == theirs.locks
        assert [repr(c) for c in mine.mm2s] == [repr(c) for c in theirs.mm2s]
    more = loaded.memory_tile(0).buffer("more", 64)
    assert not any(more.offset <= b.offset < more.offset + more.nbytes for b in array.memory_tile(0).buffers)
    with pytest.raises(DesignError, match="band 0"):
        loaded.compute_tile(0, 2).buffer("band 0", 4)


def test_fifos_and_buses_have_their_names(tmp_path: Path) -> None:
    array = loop_back(16, 1, [1])
    array.run(50)
    array.save(tmp_path / "saved")
    fifo = Array.load(tmp_path / "saved").fifos[0]
    assert repr(fifo) == repr(array.fifos[0])
    bus = example("packets")
    bus.run(50)
    bus.save(tmp_path / "saved")
    loaded = Array.load(tmp_path / "saved").buses[0]
    assert [s.id for s in loaded.streams] == [s.id for s in bus.buses[0].streams]
    assert [str(s.flow) for s in loaded.streams] == [str(s.flow) for s in bus.buses[0].streams]


def test_a_difference_is_named_with_the_names_of_the_design() -> None:
    one, other = (loop_back(16, seed, [1]) for seed in (1, 1))
    one.memory_tile(0).lock(1, name="mine")
    other.memory_tile(0).lock(2, name="mine")
    found = one.diff(other)
    assert found
    assert "locks.value: 1 value differs" in str(found)
    assert "lock mine: 1 against 2" in str(found)
    assert found.as_json()[0]["count"] == 1
    with pytest.raises(DesignError, match="2 columns"):
        Array("npu1", columns=2).diff(one)


def test_kernels_that_have_not_ended_are_refused_by_name(tmp_path: Path) -> None:
    def adds(core: Core):  # type: ignore[no-untyped-def]
        yield core.cycles(100)

    array = Array("npu1", columns=1)
    array.compute_tile(0, 2).run_kernel(adds)
    array.run(10)
    with pytest.raises(DesignError, match="adds"):
        array.save(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()
    array.run()
    array.save(tmp_path / "saved")
    same(Array.load(tmp_path / "saved").run(), array.run())


def test_a_core_of_a_saved_array_that_is_reset_has_no_kernel_to_begin(tmp_path: Path) -> None:
    begun = []

    def adds(core: Core):  # type: ignore[no-untyped-def]
        begun.append(core.name)
        yield core.cycles(100)

    array = Array("npu1", columns=1)
    control = array.door.address(0, 2, 0x32000)  # Core_Control
    array.door.write32(control, 1)
    array.compute_tile(0, 2).run_kernel(adds)
    array.run()
    array.save(tmp_path / "saved")
    again = Array.load(tmp_path / "saved")
    for value in (3, 2, 0):
        again.door.write32(control, value)
    again.run()  # reset, and not enabled
    for value in (3, 1):
        again.door.write32(control, value)
    with pytest.raises(DesignError, match="a saved array does not hold its kernel 'adds'"):
        again.run()
    again.compute_tile(0, 2).run_kernel(adds)
    again.run()
    assert len(begun) == 2


def test_flows_without_a_circuit_are_refused(tmp_path: Path) -> None:
    array = example("distribute_join")
    with pytest.raises(DesignError, match=r"Call route\(\) or run\(\) first"):
        array.save(tmp_path / "saved")


def rewritten(path: Path, change: Callable[[dict[str, np.ndarray]], None]) -> Path:
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return path


def with_header(**values: str) -> Callable[[dict[str, np.ndarray]], None]:
    def change(arrays: dict[str, np.ndarray]) -> None:
        header = json.loads(arrays["header"].tobytes()) | values
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)

    return change


@pytest.mark.parametrize("values", [{"sources": "0123456789abcdef"}, {"format": "memtile array 0"}])
def test_files_of_other_sources_are_refused(tmp_path: Path, values: dict[str, str]) -> None:
    path = tmp_path / "saved"
    Array("npu1", columns=1).save(path)
    with pytest.raises(InputFileError, match="saved by other sources of memtile"):
        Array.load(rewritten(path, with_header(**values)))


def test_what_is_no_saved_array_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "saved"
    with pytest.raises(InputFileError, match="cannot be read"):
        Array.load(path)
    path.write_bytes(b"not an archive")
    with pytest.raises(InputFileError, match="not an array that memtile saved"):
        Array.load(path)
    with path.open("wb") as file:
        np.savez(file, header=np.array([object()], dtype=object), allow_pickle=True)
    with pytest.raises(InputFileError, match="not an array that memtile saved"):
        Array.load(path)
    Array("npu1", columns=1).save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(InputFileError, match="not an array that memtile saved"):
        Array.load(path)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    array, path = Array("npu1", columns=1), tmp_path / "saved"
    array.save(path)
    before = path.read_bytes()

    def stops(*_args: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stops)
    with pytest.raises(KeyboardInterrupt):
        array.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputFileError, match="cannot be written"):
        array.save(tmp_path / "nowhere" / "saved")
