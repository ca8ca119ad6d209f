"""Does ``memtile sweep`` try the variants of a design, keep them, and say which are best and why?"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from left_out import need_package
from memtile import InputFileError, schema
from memtile.cli.main import app
from support.commands.sweep_designs import small

need_package("pyarrow")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    small(tmp_path)
    return tmp_path


def sweep(*args: object, code: int = 0) -> Any:
    done = CliRunner().invoke(app, ["sweep", *map(str, args)], env={"COLUMNS": "150"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.exit_code == code, done.output
    return done


def data(*args: object, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sweep(*args, "--json", code=code).stdout)
    assert list(Draft202012Validator(schema("sweep-output")).iter_errors(found)) == []
    return found


def points(found: dict[str, Any], state: str = "good") -> list[dict[str, Any]]:
    return [row["point"] for row in found["rows"] if row["state"] == state]


GRID = ("small.py", "--workers", 0)


@pytest.mark.usefixtures("here")
def test_a_grid_tries_every_variant_and_says_why_some_are_infeasible() -> None:
    found = data(*GRID, "--by", "cycles,l2")
    assert found["counts"] == {"good": 4, "infeasible": 12, "beaten": 0}
    assert points(found) == [{"words": n, "mode": "ok"} for n in (8, 16, 24, 32)]
    rows = {(row["point"]["mode"], row["point"]["words"]): row for row in found["rows"]}
    kinds = {mode: rows[mode, 8]["kind"] for mode in ("hang", "wrong", "refused")}
    assert kinds["refused"] == "refused"
    assert kinds["hang"].startswith("MT03")
    assert kinds["wrong"].startswith("MT04")
    assert "lock 0 'never'" in rows["hang", 8]["why"]
    assert "small.py, line 22" in rows["refused", 8]["why"]
    assert found["front"] == [rows["ok", 8]["key"]]
    assert [rows["ok", n]["figures"]["l2"] for n in (8, 16, 24, 32)] == [32, 64, 96, 128]
    assert rows["ok", 8]["figures"]["bds"] == 1
    assert rows["ok", 8]["figures"]["cycles"] < rows["ok", 16]["figures"]["cycles"]
    text = sweep(*GRID).stdout
    assert "16 variants: 4 good, 12 infeasible" in text
    assert "4 infeasible, refused: with words = 8, mode = refused: small.py" in text


@pytest.mark.usefixtures("here")
def test_the_same_command_runs_nothing_again_and_other_sources_do(here: Path) -> None:
    args = (*GRID, "--set", "log=ran.txt", "--set", "mode=ok")
    first = data(*args)
    spread = [f"{n} ok 0" for n in (24, 16, 8, 32)]  # from the middle
    assert (here / "ran.txt").read_text().splitlines() == spread
    assert [row["point"]["words"] for row in first["rows"]] == [8, 16, 24, 32]
    assert data(*args) == first
    assert "4 known from the log" in sweep(*args).stdout
    assert len((here / "ran.txt").read_text().splitlines()) == 4
    data(*args, "--set", "words=8", "--vary", "gap=1")
    assert (here / "ran.txt").read_text().splitlines()[4:] == ["8 ok 1"]
    (here / "beside.py").write_text("def slowly(words):\n    pass  # other sources\n")
    data(*args)
    assert len((here / "ran.txt").read_text().splitlines()) == 9
    sweep(*args, "--restart")
    assert len((here / "ran.txt").read_text().splitlines()) == 13


@pytest.mark.usefixtures("here")
def test_show_has_what_the_sweep_had(here: Path) -> None:
    found = data(*GRID)
    shown = data("show", "small.sweep.parquet")
    assert {key: shown[key] for key in ("counts", "front", "rows")} == {
        key: found[key] for key in ("counts", "front", "rows")
    }
    sweep("show", "small.sweep.parquet", "--by", "bds,l2", "--picture", "p.svg", "--page", "p.html")
    assert (here / "p.svg").read_text().count("<polyline") == 4
    assert (here / "p.svg").read_text().count("<circle") == 4
    page = (here / "p.html").read_text()
    assert page.count("<tr data-variant=") == 4
    assert page.count("<polyline") == 4


@pytest.mark.usefixtures("here")
def test_a_row_is_replayed_from_the_sources_of_the_log(here: Path) -> None:
    found = data(*GRID)
    (here / "beside.py").write_text("raise RuntimeError\n")
    sys.modules.pop("beside")
    assert "the same" in sweep("replay", "--trust", "small.sweep.parquet").stdout
    answer = json.loads(
        sweep("replay", "--trust", "small.sweep.parquet", found["front"][0][:12], "--json").stdout
    )
    assert list(Draft202012Validator(schema("sweep-replay-output")).iter_errors(answer)) == []
    assert answer["same"]
    assert (
        "no variant with the key 'zz'"
        in sweep("replay", "--trust", "small.sweep.parquet", "zz", code=2).stderr
    )


@pytest.mark.usefixtures("here")
def test_processes_give_what_one_process_gives() -> None:
    assert data("small.py", "--workers", 2, "--no-log") == data(*GRID, "--no-log")


@pytest.mark.usefixtures("here")
def test_a_variant_that_crashes_or_never_ends_is_one_infeasible_row(here: Path) -> None:
    (here / "beside.py").write_text(
        "import os, time\n\n\ndef slowly(words):\n"
        "    os._exit(3) if words == 16 else time.sleep(60) if words == 24 else None\n"
    )
    found = data("small.py", "--set", "mode=ok", "--workers", 1, "--seconds", 10)
    assert [row["kind"] for row in found["rows"]] == ["", "crashed", "seconds", ""]
    assert found["rows"][1]["why"] == "the process ended with exit code 3"


@pytest.mark.usefixtures("here")
def test_what_is_by_chance_hangs_on_the_seed_alone() -> None:
    args = (*GRID, "--no-log", "--vary", "gap=0..99", "--set", "mode=ok", "--random", 10)
    first = data(*args)
    assert first == data(*args)
    keys = [row["key"] for row in first["rows"]]
    assert len(set(keys)) == 10
    assert keys != [row["key"] for row in data(*args, "--seed", 1)["rows"]]
    assert len(data(*GRID, "--no-log", "--random", 100, "--set", "mode=ok")["rows"]) == 4


@pytest.mark.usefixtures("here")
def test_pruned_variants_could_not_have_been_better() -> None:
    args = (*GRID, "--vary", "gap=0..15", "--set", "mode=ok")
    every, pruned = data(*args, "--no-log"), data(*args, "--no-log", "--prune")
    assert pruned["counts"]["beaten"] > 40
    assert pruned["front"] == every["front"]
    cycles = {row["key"]: row["figures"]["cycles"] for row in every["rows"]}
    beaten = [row for row in pruned["rows"] if row["state"] == "beaten"]
    assert all(row["figures"]["bound"] <= cycles[row["key"]] for row in beaten)
    assert {row["kind"] for row in beaten} <= {"bound", "cycles"}
    data(*args, "--prune")
    again = data(*args)  # what was stopped early runs when all are wanted
    assert again["rows"] == every["rows"]


@pytest.mark.usefixtures("here")
def test_the_static_bound_is_below_every_run() -> None:
    from memtile.explore.sweep.variant_figures import static_bound
    from memtile.importers.design_file import design_function

    design = design_function("small.py")
    for words in (8, 32):
        made = design(words)
        bound = static_bound(made)
        assert bound == words
        assert bound <= made.run().cycles


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_a_search_finds_the_best_of_a_space_that_it_does_not_try_whole(sampler: str) -> None:
    need_package("optuna")
    args = (*GRID, "--vary", "gap=0..63", "--optimise", "cycles,l2", "--trials", 60, "--sampler", sampler)
    found = data(*args)
    assert len(found["rows"]) == 60
    best = min(row["figures"]["cycles"] for row in found["rows"] if row["state"] == "good")
    assert best <= 60
    assert data(*args) == found  # from the log: the same questions, none run again
    assert "0 ran, 60 known from the log" in sweep(*args).stdout
    assert data(*args, "--workers", 2, "--no-log") == found
    assert data(*GRID, "--optimise", "cycles", "--no-log")["counts"]["good"] >= 1


@pytest.mark.usefixtures("here")
def test_timing_constants_are_varied_and_set() -> None:
    args = (*GRID, "--set", "mode=ok", "--set", "words=8", "--no-log")
    found = data(*args, "--vary", "timing.task_start=1..16:5")
    cycles = [row["figures"]["cycles"] for row in found["rows"]]
    assert [row["point"]["timing.task_start"] for row in found["rows"]] == [1, 6, 11, 16]
    assert [n - cycles[0] for n in cycles] == [0, 5, 10, 15]
    assert len(data(*args, "--vary", "timing.task_start")["rows"]) == 16
    later = data(*args, "--vary", "gap=0", "--timing", "task_start=16")
    assert later["rows"][0]["figures"]["cycles"] == cycles[3]


BAD = {
    "nothing to vary": (("--set", "words=8", "--set", "mode=ok"), "there is nothing to vary"),
    "no name": (("--vary", "word=1"), "there is no 'word' to vary; the parameters are words, mode, gap, log"),
    "open": (("--vary", "gap"), "the annotation of gap does not say which values it has"),
    "outside": (("--vary", "words=8,12"), "words cannot be varied over '8,12'"),
    "no number": (("--vary", "gap=a..b"), "gap cannot be varied over 'a..b'"),
    "backwards": (("--vary", "gap=9..1"), "gap cannot be varied over '9..1'"),
    "no step": (("--vary", "gap=1..9:0"), "gap cannot be varied over '1..9:0'"),
    "huge": (("--vary", "gap=1..99999999"), "are 99999999 values"),
    "both": (("--vary", "words=8", "--set", "words=8"), "words is both set and varied"),
    "set": (("--set", "words=9"), "words is '9'; it must be a whole number of 8..32, step 8"),
    "set, no name": (("--set", "wordz=8"), "the design has no parameter 'wordz'"),
    "twice": (("--vary", "gap=1", "--vary", "gap=2"), "names gap twice"),
    "objective": (("--by", "speed"), "there is no objective 'speed'"),
    "measured": (("--vary", "timing.firmware_word"), "it is measured"),
    "constant": (("--vary", "timing.external_latency=0..5"), "must be whole numbers of 1..65536"),
    "two strategies": (("--grid", "--random", "5"), "exclude each other"),
    "budget": (("--budget", "soon"), "it must be a time such as 90s"),
    "log": (("--log", "small.py"), "this is no Parquet file"),
    "no log": (("--no-log", "--restart"), "--no-log keeps nothing"),
    "scheduler": (("--scheduler", "tcp://127.0.0.1:1"), "scheduler tcp://127.0.0.1:1: there was no answer"),
}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    args, says = BAD[name]
    if name == "scheduler":
        need_package("distributed")
        from memtile.explore.sweep import cluster

        monkeypatch.setattr(cluster, "_SECONDS", 0.5)
    done = sweep(*GRID, *args, code=1 if name == "scheduler" else 2)
    told = " ".join(done.stderr.replace("│", " ").split())
    assert says in told


@pytest.mark.usefixtures("here")
def test_a_missing_package_is_named_before_the_first_run(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> Any:
        if name.split(".")[0] == missing:
            raise ImportError(f"no {name}")
        return real(name, package)

    monkeypatch.setattr("memtile.explore.sweep.extras.import_module", without)
    args = (*GRID, "--set", "log=ran.txt")
    needs: dict[str, tuple[str, ...]]
    needs = {"pyarrow": (), "optuna": ("--optimise", "cycles"), "distributed": ("--scheduler", "tcp://h:1")}
    for missing, more in needs.items():
        assert f"pip install {missing}" in sweep(*args, *more, code=2).stderr
    assert sorted(path.name for path in here.iterdir() if path.is_file()) == ["beside.py", "small.py"]
    missing = "pyarrow"
    sweep(*args, "--no-log")


@pytest.mark.usefixtures("here")
def test_data_frames() -> None:
    from memtile.explore.sweep.sweep import SweepPlan
    from memtile.explore.sweep.sweep import sweep as run_sweep

    result = run_sweep("small.py", SweepPlan(workers=0))
    table = result.arrow()
    assert table.column_names[:7] == ["number", "key", "state", "kind", "why", "words", "mode"]
    assert table.num_rows == 16
    need_package("pandas")
    frame = result.pandas()
    good = frame[frame.state == "good"]
    assert list(good.sort_values("cycles").words) == [8, 16, 24, 32]
    assert (good.cycles.dtype.kind, next(iter(good.cycles)) % 1) == ("i", 0)


def test_variants_that_are_equal_are_both_on_the_front() -> None:
    from memtile.explore.sweep.row import costs_of, front

    assert front([(2.0, 2.0), (1.0, 3.0), (2.0, 2.0), (3.0, 2.0), (1.0, 4.0)]) == [1, 0, 2]
    assert costs_of({"cycles": 5, "share": 0.5}, ("share", "cycles")) == (-0.5, 5)


def test_a_restart_that_fails_leaves_the_old_log(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was run before the disk was full is in the journal; the same command takes it from there."""
    args = (*GRID, "--set", "log=ran.txt", "--set", "mode=ok")
    sweep(*args)
    (log,) = here.glob("*.parquet")
    old = log.read_bytes()

    def full(path: Path) -> Any:
        raise InputFileError(f"{path}: the disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("memtile.explore.sweep.log.output_file", full)
        assert "the disk is full" in sweep(*args, "--restart", code=2).stderr
    assert log.read_bytes() == old
    assert len((here / "ran.txt").read_text().splitlines()) == 8
    assert "4 known from the log" in sweep(*args).stdout
    assert not log.with_name(f"{log.name}.journal").exists()


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    small(tmp_path, seconds=0.3)
    process, ran = begin(tmp_path, "--vary", "gap=0..99", "--set", "mode=ok"), tmp_path / "ran.txt"
    wait_for(lambda: ran.exists() and len(ran.read_text().splitlines()) > 4, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    found = json.loads(process.communicate(timeout=60)[0])
    assert (process.returncode, found["stopped"]) == (130, "interrupted")
    assert 3 <= found["counts"]["good"] <= len(ran.read_text().splitlines())
    assert not (tmp_path / "small.sweep.parquet.journal").exists()
    from memtile.explore.sweep.log import Log

    assert [row.key for row in Log(tmp_path / "small.sweep.parquet").rows.values()] != []


def test_a_sweep_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    small(tmp_path, seconds=0.2)
    args = ("--vary", "gap=0..2", "--set", "mode=ok")
    process, ran = begin(tmp_path, *args), tmp_path / "ran.txt"
    journal = tmp_path / "small.sweep.parquet.journal"
    wait_for(lambda: journal.exists() and len(journal.read_text().splitlines()) > 6, process)
    process.kill()
    process.communicate()
    time.sleep(1)  # its process ends with its input
    with journal.open("a") as half:
        half.write('{"key": "half a li')
    done = [json.loads(line)["key"] for line in journal.read_text().splitlines()[2:-1]]
    before = len(ran.read_text().splitlines())
    process = begin(tmp_path, *args)
    found = json.loads(process.communicate(timeout=120)[0])
    assert (process.returncode, found["counts"]["good"]) == (0, 12)
    again = len(ran.read_text().splitlines()) - before
    assert again == 12 - len(done)
    assert {row["key"] for row in found["rows"]} >= set(done)


def test_what_goes_into_the_journal_is_in_its_file_at_once(here: Path) -> None:
    from memtile.explore.sweep.log import Log

    with Log(here / "a.parquet").open({"sources": {}, "hash": "", "space": []}) as log:
        assert '"memtile-sweep"' in log.journal.read_text()


def test_two_sweeps_do_not_write_one_log(here: Path) -> None:
    from memtile.explore.sweep.log import Log

    head = {"sources": {}, "hash": "", "space": []}
    first, second = Log(here / "a.parquet"), Log(here / "a.parquet")
    with first.open(head):
        with pytest.raises(InputFileError, match="another sweep writes"), second.open(head):
            pass
        assert first.journal.exists()


def begin(folder: Path, *args: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "memtile", "sweep", "--json", "--workers", "1", "--set", "log=ran.txt"]
    return subprocess.Popen(
        [*command, *args, "small.py"], cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for(what: Any, process: subprocess.Popen[str], seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < limit
        assert process.poll() is None
        time.sleep(0.05)
