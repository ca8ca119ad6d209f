"""Do writers lose or leave nothing on file systems without locks, with quotas, and between two sweeps?"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

from left_out import need_package
from memtile import InputFileError, output_files
from memtile import system as system_module
from memtile.cpp import build
from memtile.explore.sweep.log import FORMAT, VERSION, Log
from memtile.explore.sweep.row import SweepRow, VariantState
from memtile.explore.sweep.sources import DesignSources
from memtile.output_files import output_file, write_output
from memtile.system import Opener, System, locked_file, remove_open, using

need_package("pyarrow")
HEAD: dict[str, Any] = {"format": FORMAT, "version": VERSION, "design": "d.py", "hash": 16 * "0"}
HEAD |= {"sources": {}, "space": [], "set": {}, "objectives": ["cycles"], "strategy": "grid"}
HEAD |= {"max_cycles": 1, "check": True}


class NoLocks(System):
    def lock(self, file: BinaryIO | io.FileIO) -> bool:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), file.name)


class Between(NoLocks):
    """Another worker is first to give a file, or the folder of all, its name."""

    def __init__(self, suffix: str, other: Callable[[], object]) -> None:
        self._suffix, self._others = suffix, [other]

    def replace(self, old: Path | str, new: Path | str) -> None:
        if str(old).endswith(self._suffix) and self._others:
            self._others.pop()()
        super().replace(old, new)


class Quota(System):
    """A network file system, which reports a quota when a file is closed."""

    def open(self, path: Path | str, mode: str, *, buffered: bool, opener: Opener | None = None) -> BinaryIO:
        if mode != "x+b":
            return super().open(path, mode, buffered=buffered, opener=opener)

        class Full(io.FileIO):
            def close(self) -> None:
                if not self.closed:
                    super().close()
                    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

        return cast(BinaryIO, io.BufferedRandom(Full(path, "x+")))


class Hooked(System):
    """Something is done before files are moved or removed, or names put on the disk."""

    def __init__(self, **before: Callable[[], object]) -> None:
        self._before = before

    def replace(self, old: Path | str, new: Path | str) -> None:
        self._before.get("replace", lambda: None)()
        super().replace(old, new)

    def unlink(self, path: Path | str) -> None:
        self._before.get("unlink", lambda: None)()
        super().unlink(path)

    def sync_folder(self, folder: Path | str) -> None:
        self._before.get("sync_folder", lambda: None)()
        super().sync_folder(folder)


def fails() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def row(key: str) -> SweepRow:
    return SweepRow(16 * key, 16 * "0", {"a": 1}, VariantState.GOOD)


# Output files.


@pytest.mark.parametrize("durable", [True, False])
def test_a_quota_reported_at_closing_leaves_the_old_file(tmp_path: Path, durable: bool) -> None:
    (path := tmp_path / "a.txt").write_text("old")
    with using(Quota()), pytest.raises(InputFileError, match="the file cannot be written: Disk quota"):
        write_output(path, "new", durable=durable)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_a_temporary_file_is_locked_until_it_has_its_name(tmp_path: Path) -> None:
    """It is closed by then."""

    def others() -> None:
        (part,) = tmp_path.glob(".memtile-*")
        output_files._remove_abandoned(str(part))

    with using(Hooked(replace=others)):
        write_output(tmp_path / "a.txt", "new")
    assert names(tmp_path) == ["a.txt"]


def test_a_file_whose_name_is_not_on_the_disk_is_said_to_be_written(tmp_path: Path) -> None:
    with using(Hooked(sync_folder=fails)), pytest.raises(InputFileError) as error:
        write_output(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert "a.txt: the file is written, but a loss of power may undo that: Input/output error." in str(error)


def test_a_temporary_file_that_was_closed_goes_too(tmp_path: Path) -> None:
    def write() -> None:
        with output_file(tmp_path / "a.txt") as file:
            file.close()

    with pytest.raises(ValueError, match="closed file"):
        write()
    assert names(tmp_path) == []


def test_what_a_killed_writer_left_is_locked_open_for_writing(tmp_path: Path) -> None:
    """Locks of NFS need that."""
    (part := tmp_path / "a.part").touch()

    class Nfs(System):
        def lock(self, file: BinaryIO | io.FileIO) -> bool:
            assert file.writable()
            return super().lock(file)

    with using(Nfs()):
        output_files._remove_abandoned(str(part))
    assert names(tmp_path) == []


def test_files_that_never_have_their_names_are_not_made_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_files, "is_at", lambda *_: False)
    monkeypatch.setattr(system_module, "is_at", lambda *_: False)
    with pytest.raises(InputFileError, match="its name is always that of another file"):
        write_output(tmp_path / "a.txt", "new")
    with pytest.raises(OSError, match="its name is always that of another file"):
        locked_file(tmp_path / "lock")


# Locks.


def test_of_a_link_the_file_behind_it_is_locked(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    file = locked_file(tmp_path / "link")
    assert file is not None
    with file:
        assert locked_file(tmp_path / "real") is None


@pytest.mark.parametrize("has_locks", [True, False])
def test_a_file_that_is_locked_is_removed_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_locks: bool
) -> None:
    """Windows, which has no such locks, removes no open file."""
    if not has_locks:
        monkeypatch.setattr(system_module, "fcntl", None)
    file = locked_file(tmp_path / "lock")
    assert file is not None
    closed: list[bool] = []
    with using(Hooked(unlink=lambda: closed.append(file.closed))):
        remove_open(file, tmp_path / "lock")
    assert closed == [not has_locks]
    assert file.closed
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", [".part", ".new"])
def test_workers_without_locks_put_the_same_sources(tmp_path: Path, suffix: str) -> None:
    sources = DesignSources("d.py", {"d.py": "a = 1\n", "m.py": "b = 2\n"})
    with using(Between(suffix, lambda: sources.put(tmp_path))):
        assert sources.put(tmp_path) == str(tmp_path / sources.hash / "d.py")
    assert names(tmp_path) == [sources.hash]
    assert names(tmp_path / sources.hash) == ["d.py", "m.py"]


def test_what_a_killed_worker_left_is_no_source(tmp_path: Path) -> None:
    sources = DesignSources("d.py", {"d.py": "a = 1\n"})
    for each in ("new", "old"):
        (folder := tmp_path / f".{sources.hash}.{each}").mkdir()
        (folder / "m.py").touch()
    assert sources.put(tmp_path) == str(tmp_path / sources.hash / "d.py")
    assert names(tmp_path) == [sources.hash]
    assert names(tmp_path / sources.hash) == ["d.py"]


def test_compilers_without_locks_make_the_same_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "cache_folder", lambda _: tmp_path)

    def made() -> Path:
        return build._kept("name", "a.so", make)

    def make(place: Path) -> dict[str, str]:
        (place / "a.so").write_text("library")
        return {}

    with using(Between(".new", made)):
        assert made() == tmp_path / "name" / "a.so"
    assert (tmp_path / "name" / "a.so").read_text() == "library"
    assert names(tmp_path) == ["name"]


# The log of a sweep.


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with a row."""
    with Log(tmp_path / "a.parquet").open(HEAD) as log:
        log.add(row("1"))
    return log.path


def test_a_log_is_read_once_unless_another_sweep_wrote_it(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Log(log)
    monkeypatch.setattr(found, "_read", None)
    with found.open(HEAD):
        pass


@pytest.mark.parametrize("journal", ["", "\n"])
def test_a_log_that_cannot_be_read_again_is_left(log: Path, journal: str) -> None:
    """A journal that was made to lock the log goes."""
    found = Log(log)
    if journal:
        found.journal.write_text(journal)
    before = len(os.listdir("/dev/fd"))
    log.write_text("no table")
    with pytest.raises(InputFileError):
        found.open(HEAD)
    assert len(os.listdir("/dev/fd")) == before
    assert names(log.parent) == ["a.parquet", *["a.parquet.journal"] * bool(journal)]


def test_a_sweep_that_ends_while_its_log_is_read_hides_no_row(log: Path) -> None:
    writing = Log(log).open(HEAD)
    writing.add(row("2"))

    class Read(Log):
        def _read_table(self) -> None:
            super()._read_table()
            if self.journal.exists():
                writing.__exit__(None, None, None)

    assert sorted(Read(log).rows) == [16 * "1", 16 * "2"]


def test_a_journal_that_goes_while_it_is_looked_at_is_no_error(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there when one asks, and gone when it is read."""
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: path.suffix == ".journal" or exists(path))
    assert list(Log(log).rows) == [16 * "1"]
