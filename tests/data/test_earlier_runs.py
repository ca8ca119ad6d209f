"""Is a run taken from an earlier one only if all that decides about it is the same, and equal then?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtile.access.views import view
from memtile.arch.timing import chosen_timing
from memtile.design.array import Array
from memtile.design.transfers import TransferPart
from memtile.explain.summary import verdict
from memtile.jit.cache import last_use
from memtile.kernels import Action, Core
from memtile.model.state.state_differences import columns
from memtile.runs import earlier_runs, run_store
from memtile.runs.run_store import RunStore
from memtile.sim.doors.relaxed_model import relaxed_models
from memtile.sim.kernels.kernel_lines import kernel_time
from memtile.sim.kernels.listed_actions import cycles, listed, steps_of
from memtile.sim.loop.other_schedules import schedule
from memtile.sim.loop.run_start import column_digests, start_of
from support.designs.relays import relay
from support.engine.run_stores import left, start, store_in

Made = Callable[[], Array]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with store_in(tmp_path) as found:
        yield found


def key(array: Array, **options: Any) -> str:
    found = start(array, **options)
    assert found is not None
    return found.key


@pytest.mark.parametrize("given", [{}, {"tasks": 3}, {"tasks": 5, "device": "npu2", "far": 1}])
@pytest.mark.usefixtures("store")
def test_a_run_is_taken_from_an_equal_one_with_all_that_it_leaves(given: dict[str, Any]) -> None:
    first, again = relay(**given), relay(**given)
    ran, taken = first.run(data=False), again.run(data=False)
    assert (ran.recalled, taken.recalled) == (False, True)
    assert left(first, ran) == left(again, taken)
    assert not first.run(data=False).recalled
    assert first.run(data=False) == again.run(data=False)


@pytest.mark.usefixtures("store")
def test_results_say_that_they_are_taken_from_an_earlier_run() -> None:
    (ran, taken) = (relay().run(data=False) for _ in range(2))
    assert taken == ran
    assert taken.as_json() == {**ran.as_json(), "recalled": True}
    assert verdict(taken) == f"{verdict(ran)}; taken from an earlier run"
    assert "taken from an earlier run: its whole start was the same" in str(taken)


@pytest.mark.usefixtures("store")
def test_an_array_goes_on_after_a_run_that_was_taken_as_after_one_that_ran() -> None:
    def twice(array: Array) -> Any:
        array.run(data=False)
        outside = array.interface_tile(0)
        a = array.external("more", np.zeros(8, np.int32))
        bds = outside.mm2s[0].start(outside.read(a, view((8,), np.int32)))
        return bds, array.run(data=False).as_json(), array.engine.now

    assert twice(relay(tasks=3)) == twice(relay(tasks=3))


def _poked(name: str, at: int, by: int) -> Made:
    def made() -> Array:
        array = relay(tasks=2)
        array.route()
        (values,) = (each.values for each in columns(array.engine.state) if each.name == name)
        values.flat[at] += by
        return array

    return made


def _bd_taken() -> Array:
    array = relay(tasks=2)
    array.interface_tile(0).bd_pool.take(0, 1, "MM2S 1")
    return array


def _jobs(change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Made:
    def made() -> Array:
        array = relay(tasks=2)
        program: Any = array.hosts[0].program
        program.jobs = change(program.jobs)
        return array

    return made


def _in_two_tasks(jobs: tuple[Any, ...]) -> tuple[Any, ...]:
    (channel, work, runs), *others = jobs
    two = replace(work, descriptors=work.descriptors * 2, parts=(TransferPart(1),) * 2, runs=2)
    return (channel, two, runs), *others


OTHERS: dict[str, Made] = {
    "cycles": lambda: relay(tasks=2, count=6),
    "rounds": lambda: relay(tasks=2, objects=4),
    "last step": lambda: relay(tasks=2, extra=1),
    "declared": lambda: relay(tasks=2, endless=False),
    "reaches": lambda: relay(tasks=2, reaches=((0, 3),)),
    "tasks": lambda: relay(tasks=3),
    "runs": lambda: relay(tasks=2, again=2),
    "order": _jobs(lambda jobs: jobs[::-1]),
    "rows outside": _jobs(lambda jobs: jobs[2:] + jobs[:2]),
    "repeats": _jobs(lambda jobs: ((*jobs[0][:2], 2), *jobs[1:])),
    "places outside": lambda: relay(tasks=2, far=1),
    "words": lambda: relay(tasks=2, words=9),
    "depth": lambda: relay(tasks=2, depth=3),
    "no host": lambda: relay(objects=6),
    "device": lambda: relay(tasks=2, device="npu2"),
    "BDs": _bd_taken,
    "lock": _poked("locks.value", 3, 1),
    "memory": _poked("memory", 100, 1),
    "register": _poked("registers", 7, 1),
    "arbiter": _poked("locks.turn", 5, 1),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.usefixtures("store")
def test_another_start_is_another_run(name: str) -> None:
    assert key(OTHERS[name]()) != key(relay(tasks=2)) == key(relay(tasks=2))


@pytest.mark.usefixtures("store")
def test_every_table_that_a_model_is_built_with_is_part_of_its_start() -> None:
    array = relay(tasks=2)
    usual = start(array)
    assert usual is not None
    for table in array.engine.spec._fields:
        values: Any = getattr(array.engine.spec, table)
        names = () if isinstance(values, tuple) else values.dtype.names
        numbers = values[names[-1]] if names else values[-1] if isinstance(values, tuple) else values
        numbers.flat[-1] ^= 1  # models of the same tiles share it
        try:
            assert start_of(array.engine)["spec"] != usual.parts["spec"], table  # type: ignore[index]
        finally:
            numbers.flat[-1] ^= 1


@pytest.mark.usefixtures("store")
def test_every_column_of_the_state_is_part_of_the_start() -> None:
    array = relay(tasks=2)
    usual = start(array)
    assert usual is not None
    changed = [each for each in columns(array.engine.state) if each.values.size]
    before = [each.values.flat[-1] for each in changed]
    for each in changed:
        each.values.flat[-1] ^= 1
    found = column_digests(array.engine)
    assert [each.name for each in changed if found[each.name] == usual.parts["state"][each.name]] == []
    for each, value in zip(changed, before, strict=True):
        each.values.flat[-1] = value
    same = start_of(array.engine)
    assert same is not None
    assert same["state"] == usual.parts["state"]


@pytest.mark.usefixtures("store")
def test_another_reach_of_a_kernel_is_another_run() -> None:
    assert key(relay(reaches=((0, 3),))) != key(relay(reaches=((0, 4),)))


@pytest.mark.usefixtures("store")
def test_another_limit_is_another_run() -> None:
    assert key(relay(), max_cycles=10_000_001) != key(relay())


@pytest.mark.usefixtures("store")
def test_a_run_that_steps_each_cycle_is_another_one() -> None:
    def made() -> Array:
        array = relay()
        array.engine.forward.on = True  # as it is in the compiled engine
        return array

    assert key(made(), fast_forward=False) != key(made())


@pytest.mark.parametrize("constant", ["core_lock", "firmware_push"])
@pytest.mark.usefixtures("store")
def test_other_timing_is_another_run(constant: str) -> None:
    usual = key(relay())
    with chosen_timing({constant: 3}):
        assert key(relay()) != usual


@pytest.mark.usefixtures("store")
def test_other_sources_are_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = key(relay())
    monkeypatch.setattr(earlier_runs, "build", lambda: "others")
    assert key(relay()) != usual


@pytest.mark.usefixtures("store")
def test_cycles_of_kernels_in_force_are_part_of_the_start() -> None:
    usual = key(relay(count=200))
    with kernel_time({-1: 50}):
        assert key(relay(count=200)) != usual


def _spoiled(core: Core) -> Iterator[Action]:
    yield core.cycles(5)


def _copied() -> Any:
    made = listed(cycles(5))
    _spoiled.__dict__.update(made.__dict__)
    return _spoiled


def _fed() -> Array:
    array = relay()
    array.compute_tile(0, 2).s2mm[1].feed(np.zeros(1, np.int32))
    return array


def _watched() -> Array:
    array = relay()
    array.engine.observe(lambda door, _tile: door)
    return array


def _upset() -> Array:
    from memtile.sim.loop.upsets import Upset

    array = relay()
    array.engine.upsets.add([Upset(10, 2, 0, (1,))])
    return array


def _two_hosts() -> Array:
    array = relay(tasks=2)
    array.start_in_order(())
    return array


def _own_host() -> Array:
    array = relay()
    array.host(lambda host: iter([host.pause(3)]))
    return array


def _begun() -> Array:
    array = relay()
    array.run(10, data=False)
    return array


UNKNOWN: dict[str, Made] = {
    "a function": lambda: relay(kernel=_spoiled),
    "a copied attribute": lambda: relay(kernel=_copied()),
    "a feed": _fed,
    "an observer": _watched,
    "an upset": _upset,
    "two hosts": _two_hosts,
    "a host of its own": _own_host,
    "a run before": _begun,
    "a task that may be several": _jobs(_in_two_tasks),
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.usefixtures("store")
def test_a_run_that_data_alone_does_not_decide_has_no_start(name: str) -> None:
    assert start(relay()) is not None
    assert start(UNKNOWN[name]()) is None


@pytest.mark.usefixtures("store")
def test_what_is_in_force_around_a_model_keeps_it_from_earlier_runs() -> None:
    arrays = [relay(tasks=2) for _ in range(3)]
    with relaxed_models({}, no_waits=True):
        assert start(arrays[0]) is None
    with relaxed_models({}, unpaced=True):
        assert start(arrays[1]) is None
    assert start(arrays[2]) is not None
    with schedule(3):
        assert start(relay()) is None
    for options in ({"check": True}, {"history": True}, {"data": True}, {"recall": False}):
        assert not [relay().run(**{"data": False, **options}).recalled for _ in range(2)][1]


@pytest.mark.usefixtures("store")
def test_a_run_that_did_not_end_is_not_kept(tmp_path: Path) -> None:
    last = relay().run(data=False, recall=False).cycles - 1
    assert not relay().run(last, data=False).good
    assert not relay(kernel=listed(name="idle")).run(data=False).good
    assert not list(tmp_path.glob("*.run"))


def test_a_damaged_file_is_removed_and_the_run_made_anew(store: RunStore, tmp_path: Path) -> None:
    relay().run(data=False)
    (file,) = tmp_path.glob("*.run")
    whole = file.read_bytes()
    flipped = whole[:200] + bytes([whole[200] ^ 1]) + whole[201:]
    for damaged in (
        b"",
        whole[:10],
        whole[: len(whole) // 2],
        whole[:-1],
        flipped,
        b"PK" + whole,
        whole + b"x",
    ):
        file.write_bytes(damaged)
        assert store.read(file.stem) is None
        assert not file.exists()
    file.write_bytes(flipped)
    assert [relay().run(data=False).recalled for _ in range(2)] == [False, True]
    other = file.with_name("00.run")
    file.rename(other)
    assert store.read("00") is None
    assert not other.exists()


def test_an_end_of_another_model_is_not_taken(store: RunStore, tmp_path: Path) -> None:
    relay(device="npu2").run(data=False)
    (file,) = tmp_path.glob("*.run")
    end, mine = store.read(file.stem), start(relay())
    assert end is not None
    assert mine is not None
    store.write(mine.key, end)
    assert not relay().run(data=False).recalled
    relay(count=9).run(data=False)
    good = store.read(key(relay(count=9)))
    assert good is not None
    bad = {**good.arrays, "active_cores": np.full_like(good.arrays["active_cores"], 1 << 40)}
    store.write(mine.key, type(good)(bad, good.facts))
    assert not relay().run(data=False).recalled


@pytest.mark.usefixtures("store")
def test_the_files_used_last_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_store, "MOST_FILES", 2)
    keys = [key(relay(count=n)) for n in (3, 4, 5)]
    for n in (3, 4):
        relay(count=n).run(data=False)
    for n, name in enumerate(keys[:2]):
        file = tmp_path / f"{name}.run"
        os.utime(file, (n, n))
    relay(count=3).run(data=False)  # used
    relay(count=5).run(data=False)
    assert {file.stem for file in tmp_path.glob("*.run")} == {keys[0], keys[2]}


@pytest.mark.usefixtures("store")
def test_a_long_end_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_store, "MOST_BYTES", 100)
    assert relay().run(data=False).good
    assert not list(tmp_path.glob("*.run"))


@pytest.mark.usefixtures("store")
def test_a_place_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    with store_in(tmp_path / "missing"):
        assert [relay().run(data=False).recalled for _ in range(2)] == [False, False]


def test_the_environment_turns_earlier_runs_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_RECALL", "0")
    assert earlier_runs.store_in_use() is None


def test_kernels_that_are_lists_do_what_they_say() -> None:
    found = steps_of(listed(cycles(3), name="x"))
    assert found == (cycles(3),)
    assert steps_of(None) is None
    assert steps_of(_spoiled_plain) is None


def _spoiled_plain(core: Core) -> Iterator[Action]:
    yield core.cycles(1)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands for the sources of this process, which keeps runs in a cache of its own."""
    file = tmp_path / "source.py"
    file.write_text("a = 1\n", encoding="utf-8")
    monkeypatch.setattr(run_store, "_LOADED", {file: run_store._stamp(file)})
    monkeypatch.setenv(earlier_runs.VARIABLE, "1")
    monkeypatch.setattr(earlier_runs, "BOUNDS", False)
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path / "cache"))
    run_store.usual_store.cache_clear()
    return file


def test_a_process_whose_sources_have_changed_keeps_and_takes_no_run(source: Path) -> None:
    """Its code is not that of their hash."""
    usual = earlier_runs.store_in_use()
    assert usual is not None
    with store_in(source.parent) as kept:
        source.write_text("a = 22\n", encoding="utf-8")
        assert not relay().run(data=False).recalled
        assert [*source.parent.glob("*.run")] == [], kept
    assert earlier_runs.store_in_use() is None
    source.unlink()
    assert earlier_runs.store_in_use() is None


@pytest.mark.usefixtures("source")
def test_runs_with_checked_indices_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(earlier_runs, "BOUNDS", True)
    assert earlier_runs.store_in_use() is None


@pytest.mark.usefixtures("source")
def test_a_cache_that_cannot_be_used_refuses_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", "/dev/null/x")
    assert earlier_runs.store_in_use() is None
    assert not relay().run(data=False).recalled


@pytest.mark.parametrize("what", ["the file", "the lock", "a file that was used long ago"])
def test_what_the_system_refuses_costs_only_time(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Folders in the place of files stand for files of another user, which no test can make."""
    relay().run(data=False)
    (file,) = tmp_path.glob("*.run")
    monkeypatch.setattr(run_store, "MOST_FILES", 1)
    places = {
        "the file": file,
        "the lock": tmp_path / ".lock",
        "a file that was used long ago": tmp_path / "0.run",
    }
    place = places[what]
    place.unlink(missing_ok=True)
    place.mkdir()
    (place / "inside").touch()
    os.utime(place, (1, 1))
    for _ in range(2):
        assert relay(count=9).run(data=False).good
    assert relay().run(data=False).good
    assert store.read(file.stem) is None or what != "the file"


def test_a_file_that_another_process_has_removed_was_used_before_all_others(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    (tmp_path / "there").touch()
    assert sorted(tmp_path.iterdir(), key=last_use)[0].name == "dangling"
