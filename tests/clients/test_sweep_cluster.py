"""Does a sweep on a Dask cluster of real processes give what it gives here, whatever is killed meanwhile?"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from left_out import need_package
from support.commands.sweep_designs import small

need_package("pyarrow")
need_package("distributed")
pytestmark = pytest.mark.slow
VARIANTS = ("--vary", "gap=0..5")  # of 4 numbers of words and 4 modes: 96, a quarter of them good


class Cluster:
    """A scheduler and its workers, each a process."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address, self._folder = f"tcp://127.0.0.1:{self.port}", folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self._environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}

    def scheduler(self) -> subprocess.Popen[bytes]:
        return self._begin(
            "dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"
        )

    def worker(self) -> subprocess.Popen[bytes]:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "5")
        place = ("--local-directory", str(self._folder / "dask"))
        return self._begin("dask_worker", self.address, *options, *place)

    def _begin(self, module: str, *args: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.{module}", *args]
        with (self._folder / f"{module}.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    try:
        yield made
    finally:
        made.end()


def begin(folder: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memtile", "sweep", "--json", "--set", f"log={folder / 'ran.txt'}"]
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    return subprocess.Popen(
        [*command, *VARIANTS, *args, "small.py"],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str], code: int = 0) -> dict[str, Any]:
    out, err = process.communicate(timeout=200)
    assert process.returncode == code, err
    assert out, err
    found: dict[str, Any] = json.loads(out)
    return found


def ran(folder: Path) -> Counter[str]:
    """How often each variant was made."""
    file = folder / "ran.txt"
    return Counter(file.read_text().splitlines() if file.exists() else ())


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    limit = time.monotonic() + 120
    while not what():
        assert time.monotonic() < limit
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


@pytest.fixture
def expected(tmp_path: Path) -> dict[str, Any]:
    """The sweep in processes of this machine; what it ran is forgotten."""
    small(tmp_path)
    found = ended(begin(tmp_path, "--workers", "1", "--no-log"))
    assert found["counts"] == {"good": 24, "infeasible": 72, "beaten": 0}
    (tmp_path / "ran.txt").unlink()
    return found


def test_two_workers_give_the_same_and_one_of_them_may_be_killed(
    tmp_path: Path, cluster: Cluster, expected: dict[str, Any]
) -> None:
    cluster.scheduler()
    first, _ = cluster.worker(), cluster.worker()
    process = begin(tmp_path, "--scheduler", cluster.address)
    wait_for(lambda: len(ran(tmp_path)) > 20, process)
    assert len(ran(tmp_path)) < 96
    first.kill()
    first.wait()
    assert ended(process) == expected
    assert set(ran(tmp_path).values()) <= {1, 2}
    assert sum(ran(tmp_path).values()) <= 96 + 1  # what the worker was at


def test_after_the_kill_of_the_scheduler_nothing_is_lost_and_nothing_runs_twice(
    tmp_path: Path, cluster: Cluster, expected: dict[str, Any]
) -> None:
    scheduler = cluster.scheduler()
    workers = [cluster.worker(), cluster.worker()]
    process = begin(tmp_path, "--scheduler", cluster.address)
    wait_for(lambda: len(ran(tmp_path)) > 20, process)
    scheduler.kill()
    scheduler.wait()
    broken = ended(process, 1)
    assert f"scheduler {cluster.address}: the connection was lost" in broken["stopped"]
    assert 0 < len(broken["rows"]) < 96
    for worker in workers:
        worker.wait(timeout=60)
    kept = {path.stem for path in (tmp_path / "cache").rglob("sweeps/*/*.json")}
    assert kept >= {row["key"] for row in broken["rows"]}  # the workers wrote down what they had done
    before = ran(tmp_path)
    cluster.scheduler()
    cluster.worker(), cluster.worker()
    assert ended(begin(tmp_path, "--scheduler", cluster.address)) == expected
    after = ran(tmp_path)
    twice = [variant for variant, count in after.items() if count > 1]
    assert len(after) == 96
    assert sum(before.values()) - len(kept) == len(twice)  # those that were under way
    assert len(twice) <= 2
    assert not list((tmp_path / "cache").rglob("sweeps/*/*.json"))


def test_a_worker_with_another_memtile_is_refused(tmp_path: Path) -> None:
    from memtile import DesignError
    from memtile.documents import plain
    from memtile.explore.sweep.cluster import attempt_there
    from memtile.explore.sweep.row import Variant
    from memtile.explore.sweep.sources import sources_of

    sources = sources_of(str(small(tmp_path)))
    task = {"sources": "0" * 16, "point": {}, "max_cycles": 1000, "check": False}
    asked = {
        "path": "",
        "sources": plain(sources),
        "task": task,
        "rivals": {"objectives": [], "costs": []},
    }
    with pytest.raises(DesignError, match="another memtile"):
        attempt_there(asked)
    assert Variant(**task).key


def test_a_worker_forgets_what_another_has_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of one machine share the place: it is not made again while the others remove it."""
    from memtile.explore.sweep.cluster import forget_there  # distributed may be missing

    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path))
    forget_there("0" * 16)
    assert list(tmp_path.iterdir()) == []
