"""Is the log of a sweep that somebody else wrote data until the user says that its code may run?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install pyarrow")

from memtile.errors import DesignError, InputFileError
from memtile.explore.sweep import cluster, data_frames
from memtile.explore.sweep.log import Log
from memtile.explore.sweep.reruns import replay
from memtile.explore.sweep.sources import DesignSources
from memtile.explore.sweep.sweep_result import read_result
from support.mutated import mutated_logs
from support.mutated.mutated_logs import COLUMNS, PATHS, mutated, parts_of, saved_log, write
from support.mutated.mutated_runs import BAD, ended

MANY = 300
Head = dict[str, Any]


@pytest.fixture(scope="module")
def log() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield saved_log(Path(folder))


def changed(log: Path, path: Path, change: Callable[[Head, list[Head]], object]) -> Path:
    """A log whose head and rows say something else."""
    head, rows = json.loads(json.dumps(parts_of(log)))
    change(head, rows)
    write(path, json.dumps(head), [json.dumps(row) for row in rows], None)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(InputFileError) as caught:
        read_result(path)
    text = str(caught.value)
    assert text.startswith(f"{path}")
    assert "\n" not in text
    return text.removeprefix(str(path))


@pytest.mark.chance
def test_mutated_logs_are_refused_or_shown(log: Path, tmp_path: Path) -> None:
    found = []
    for number in range(MANY):
        path = tmp_path / "mutated.parquet"
        mutated(log, number, path)
        found.append(ended(number, lambda path=path: mutated_logs.look(path, log.parent)))  # type: ignore[misc]
    assert [each for each in found if each.kind in BAD] == []
    assert {each.says for each in found} >= {"same", "input_file", "sources"}


def test_a_log_that_was_not_touched_is_replayed(log: Path) -> None:
    assert replay(log).same


@pytest.mark.parametrize("name", PATHS)
def test_a_replay_writes_nothing_elsewhere(name: str, log: Path, tmp_path: Path) -> None:
    def outside(head: Head, _: list[Head]) -> None:
        for each in head["sources"].values():
            each["files"][name] = "raise SystemExit(9)"

    path = changed(log, tmp_path / "a.parquet", outside)
    with pytest.raises(InputFileError) as caught:
        replay(path)
    assert repr(name)[1:-1] in str(caught.value) or "cannot be written" in str(caught.value)


def test_a_replay_follows_no_link(log: Path, tmp_path: Path) -> None:
    """A folder of sources that is a link to another one is replaced, not written to or run from."""
    head, _ = parts_of(log)
    sources = DesignSources(**next(iter(head["sources"].values())))
    folder, other = tmp_path / "kept", tmp_path / "other"
    folder.mkdir(), other.mkdir()
    (other / sources.name).write_text("raise SystemExit(9)", encoding="utf-8")
    (folder / sources.hash).symlink_to(other)
    assert Path(sources.put(folder)).read_text(encoding="utf-8") == sources.files[sources.name]
    assert (other / sources.name).read_text(encoding="utf-8") == "raise SystemExit(9)"
    assert not (folder / sources.hash).is_symlink()


@pytest.mark.parametrize("planted", ["another text", "one file more", "a link"])
def test_files_that_happen_to_be_there_are_not_run(planted: str, log: Path, tmp_path: Path) -> None:
    head, _ = parts_of(log)
    sources = DesignSources(**next(iter(head["sources"].values())))
    target = Path(sources.put(tmp_path)).parent
    assert Path(sources.put(tmp_path)).parent == target
    if planted == "another text":
        (target / sources.name).write_text("raise SystemExit(9)", encoding="utf-8")
    elif planted == "one file more":
        (target / "numpy.py").write_text("raise SystemExit(9)", encoding="utf-8")
    else:
        (target / sources.name).rename(tmp_path / "elsewhere.py")
        (target / sources.name).symlink_to(tmp_path / "elsewhere.py")
    sources.put(tmp_path)
    assert sorted(os.listdir(target)) == [sources.name]
    assert (target / sources.name).read_text(encoding="utf-8") == sources.files[sources.name]
    assert not (target / sources.name).is_symlink()


def test_a_design_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="not among the sources"):
        DesignSources("a.py", {}).put(tmp_path)


HEADS: dict[str, tuple[Callable[[Head, list[Head]], object], str]] = {
    "format": (lambda h, _: h.update(format="x"), "the log is of another memtile"),
    "missing": (lambda h, _: h.pop("sources"), "head.sources is missing"),
    "strange": (lambda h, _: h.update(more=1), "head.'more' is no key"),
    "hash": (lambda h, _: h.update(hash="zz"), "head.hash is 'zz'; it must be 16 hexadecimal digits"),
    "objectives": (lambda h, _: h.update(objectives=[]), "it must be a list of at least one of cycles"),
    "figure": (lambda h, _: h.update(objectives=["x"]), "it must be a list of at least one of cycles"),
    "space": (lambda h, _: h.update(space=[{}] * 65), "it must be a list of up to 64 axes"),
    "files": (
        lambda h, _: [s.update(files={f"{n}.py": "" for n in range(2000)}) for s in h["sources"].values()],
        "1,024 files and 16,777,216 characters at most",
    ),
    "row": (lambda _, r: r[0].update(point=[1]), "row 1.point is a list of 1; it must be an object"),
    "state": (lambda _, r: r[1].update(state=[]), "row 2.state is a list of 0; it must be one of good"),
    "figures": (
        lambda _, r: r[0].update(figures={"cycles": 1e999}),
        "cycles is inf; it must be a finite",
    ),
    "text": (
        lambda _, r: r[0].update(why="\ud800"),
        "row 1: a text has half of a surrogate pair. Give Unicode text.",
    ),
}


@pytest.mark.parametrize("name", HEADS)
def test_heads_and_rows_are_refused_by_what_they_say(name: str, log: Path, tmp_path: Path) -> None:
    change, says = HEADS[name]
    assert says in refusal(changed(log, tmp_path / "a.parquet", change))


@pytest.mark.parametrize(
    "head", ["[]", '"x"', "7", "null", "[" * 100_000, "{", '{"a": 1, "a": 2}', "9" * 5000]
)
def test_a_head_that_is_no_object_is_one_sentence(head: str, log: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write(path, head, [json.dumps(row) for row in parts_of(log)[1]], None)
    assert len(refusal(path)) < 300


@pytest.mark.parametrize("number", range(len(COLUMNS)))
def test_rows_of_another_type_are_one_sentence(number: int, log: Path, tmp_path: Path) -> None:
    path, (head, rows) = tmp_path / "a.parquet", parts_of(log)
    write(path, json.dumps(head), [json.dumps(row) for row in rows], COLUMNS[number])
    refusal(path)


def test_a_log_has_no_more_rows_than_a_sweep(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_frames, "MOST_ROWS", 2)
    assert ": the log has 4 rows, allowed are 0..2." in refusal(log)
    monkeypatch.setattr(data_frames, "MOST_BYTES", 1)
    monkeypatch.setattr(data_frames, "MOST_ROWS", 9)
    assert "bytes of rows, allowed are 0..1." in refusal(log)


@pytest.mark.parametrize("text", ["[1]\n[2]\n", "\n\n{}\n", "\n\nnull\n"])
def test_a_journal_with_other_lines_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.with_name("a.parquet.journal").write_text(text, encoding="utf-8")
    with pytest.raises(InputFileError, match="the log is damaged: row"):
        Log(path)


@pytest.mark.parametrize("text", ["\n\n" + "[" * 100_000, '\n\n{"half', "\n\n" + "9" * 5000])
def test_half_a_line_of_a_journal_is_left_out(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.with_name("a.parquet.journal").write_text(text, encoding="utf-8")
    assert not Log(path).found


def memtile(*args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memtile", "sweep", *map(str, args)]
    return subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_a_replay_is_asked_for(log: Path, tmp_path: Path) -> None:
    """Without a terminal nobody can be asked: the code in the log does not run."""
    mark = tmp_path / "ran"

    def marks(head: Head, _: list[Head]) -> None:
        for each in head["sources"].values():
            each["files"][each["name"]] += f"\nopen({str(mark)!r}, 'w').close()\n"

    path = changed(log, tmp_path / "a.parquet", marks)
    done = memtile("replay", path)
    assert done.returncode == 2
    assert (
        f"{path}: replay runs the Python code in the log, with all your rights. Give --trust" in done.stderr
    )
    assert not mark.exists()
    assert memtile("show", path).returncode == 0
    assert not mark.exists()
    memtile("replay", "--trust", path)
    assert mark.exists()
    assert "with all your rights" in " ".join(memtile("replay", "--help").stdout.split())


def test_a_worker_keeps_sources_where_nobody_else_writes(tmp_path: Path) -> None:
    place = {"MEMTILE_CACHE": str(tmp_path / "cache")}
    folder = cluster._kept("0" * 16, place)
    assert folder.stat().st_mode & 0o077 == 0
    (tmp_path / "cache").chmod(0o2775)
    with pytest.raises(DesignError, match=r"no place for the sources of a sweep: .* can be written by its"):
        cluster._kept("0" * 16, place)


def test_a_worker_reads_no_answer_of_another_user(tmp_path: Path) -> None:
    place = {"MEMTILE_CACHE": str(tmp_path / "cache")}
    answer = cluster._kept("0" * 16, place) / "answer.json"
    answer.touch()
    try:
        os.chown(answer, 12345, 12345)
    except PermissionError:
        pytest.skip("only root can give a file to another user")
    with pytest.raises(DesignError, match="belongs to another user"):
        cluster._kept("0" * 16, place)
