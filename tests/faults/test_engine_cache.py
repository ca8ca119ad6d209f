"""Where is the compiled engine kept, who is told that it compiles, and does anything grow without end?"""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from weakref import ref

import numba
import numpy as np
import pytest

from memtile.arch.timing import timing_in_force
from memtile.bd.descriptor import Descriptor
from memtile.bd.windows import OWN
from memtile.cli.progress import run_progress
from memtile.cli.terminal_streams import printable_streams
from memtile.cpp import build
from memtile.errors import MemtileError
from memtile.jit import cache, native, progress
from memtile.jit import cache as jit_cache
from memtile.jit import decorators as jit
from memtile.jit.cache import why_unsafe
from memtile.jit.linking import PartLibrary
from memtile.jit.progress import PROGRESS, Progress
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop import compiled_model, engine_warmup, new_state
from memtile.sim.races import note_reading
from memtile.testing.rig import Rig

SOURCES = ("model", "sim/loop/clock.py")


def forget_what_was_found() -> None:
    jit_cache.cache_directory.cache_clear()
    jit_cache.source_hash.cache_clear()


@pytest.fixture(autouse=True)
def _asked_anew() -> Iterator[None]:
    forget_what_was_found()
    yield
    forget_what_was_found()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The package as installed somewhere without a checkout around it."""
    package = tmp_path / "lib" / "site-packages" / "memtile"
    for room in ("jit", "model", "sim/loop"):
        (package / room).mkdir(parents=True)
    for name in ("jit/parts.py", "model/locks.py", "sim/loop/clock.py", "sim/loop/engine.py"):
        (package / name).touch()
    monkeypatch.setattr(jit_cache, "_PACKAGE", package)
    monkeypatch.delenv("MEMTILE_CACHE", raising=False)
    return tmp_path


def test_a_variable_names_the_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path / "mine"))
    directory = jit_cache.cache_directory(SOURCES)
    assert directory.is_dir()
    assert directory.parent == tmp_path / "mine" / "jit"


def test_a_place_that_cannot_be_written_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.touch()
    monkeypatch.setenv("MEMTILE_CACHE", str(place))
    with pytest.raises(MemtileError) as caught:
        jit_cache.cache_directory(SOURCES)
    assert str(caught.value) == (
        f"environment: MEMTILE_CACHE is {place}; it must be a directory that can be written "
        "(the compiled engine and ends of runs are kept there)."
    )


def test_an_installed_package_uses_the_users_cache(monkeypatch: pytest.MonkeyPatch, installed: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed / "user"))
    assert jit_cache.cache_directory(SOURCES).is_relative_to(installed / "user" / "memtile")
    assert list((installed / "lib").rglob("*cache*")) == []


def test_without_a_users_cache_the_temporary_one_serves(
    monkeypatch: pytest.MonkeyPatch, installed: Path
) -> None:
    (installed / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed / "file"))
    monkeypatch.setattr(jit_cache.tempfile, "gettempdir", lambda: str(installed / "temporary"))
    assert jit_cache.cache_directory(SOURCES).is_relative_to(installed / "temporary")


def test_a_place_that_others_can_write_is_not_used(monkeypatch: pytest.MonkeyPatch, installed: Path) -> None:
    """What is kept are pickles: who can write them can run code as whoever loads them."""
    (installed / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed / "file"))
    monkeypatch.setattr(jit_cache.tempfile, "gettempdir", lambda: str(installed))
    planted = installed / f"memtile-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    monkeypatch.setattr(jit_cache.tempfile, "mkdtemp", lambda prefix: str(installed / f"{prefix}new"))
    assert jit_cache.cache_directory(SOURCES).is_relative_to(installed / "memtile-new")
    forget_what_was_found()
    planted.chmod(0o755)
    assert jit_cache.cache_directory(SOURCES).is_relative_to(planted)


def test_a_place_of_another_user_is_not_used(monkeypatch: pytest.MonkeyPatch, installed: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed / "user"))
    monkeypatch.setattr(jit_cache.tempfile, "mkdtemp", lambda prefix: str(installed / f"{prefix}new"))
    monkeypatch.setattr(jit_cache.tempfile, "gettempdir", lambda: str(installed / "temporary"))
    for root in ("user/memtile", f"temporary/memtile-{os.getuid()}"):
        (installed / root).mkdir(parents=True)
        try:
            os.chown(installed / root, 12345, 12345)
        except PermissionError:
            pytest.skip("only root can give a folder to another user")
    assert jit_cache.cache_directory(SOURCES).is_relative_to(installed / "memtile-new")


def test_a_named_place_that_others_can_write_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setenv("MEMTILE_CACHE", str(place))
    with pytest.raises(MemtileError) as caught:
        jit_cache.cache_directory(SOURCES)
    assert str(caught.value) == (
        f"environment: MEMTILE_CACHE is {place}, and {place} can be written by everybody "
        "(the compiled engine and ends of runs are kept there)."
    )


def refused(monkeypatch: pytest.MonkeyPatch, place: Path) -> str:
    """Why a named place is refused."""
    monkeypatch.setenv("MEMTILE_CACHE", str(place))
    forget_what_was_found()
    with pytest.raises(MemtileError) as caught:
        jit_cache.cache_directory(SOURCES)
    return str(caught.value)


@pytest.mark.parametrize("mode", [0o775, 0o2775, 0o777, 0o757])
@pytest.mark.parametrize("above", [0, 1, 3])
def test_a_place_below_one_that_others_can_write_is_refused(
    mode: int, above: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who can write a folder above can put another one in the place of the cache."""
    place = tmp_path / "shared" / "a" / "b" / "c"
    place.mkdir(parents=True)
    shared = (place, *place.parents)[above]
    shared.chmod(mode)
    who = "everybody" if mode & 0o002 else "its group"
    assert f"and {shared} can be written by {who}" in refused(monkeypatch, place)


def test_a_link_to_a_place_that_others_can_write_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "shared" / "mine").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o775)
    (tmp_path / "link").symlink_to(tmp_path / "shared" / "mine")
    assert f"{tmp_path / 'shared'} can be written by its group" in refused(monkeypatch, tmp_path / "link")


def test_a_worker_place_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shared" / "mine").mkdir(parents=True)
    (tmp_path / "shared").chmod(0o775)
    (tmp_path / "link").symlink_to(tmp_path / "shared" / "mine")
    assert why_unsafe(tmp_path / "link") == f"{tmp_path / 'shared'} can be written by its group"


def test_a_place_below_a_sticky_one_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As below ``/tmp``: others can write there, and not replace what is ours."""
    place = tmp_path / "shared" / "mine"
    place.mkdir(parents=True)
    place.parent.chmod(0o1777)
    monkeypatch.setenv("MEMTILE_CACHE", str(place))
    assert jit_cache.cache_directory(SOURCES).is_relative_to(place)


def test_a_file_of_another_user_in_the_cache_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path / "mine"))
    planted = jit_cache.cache_directory(SOURCES) / "deep" / "planted.nbi"
    planted.parent.mkdir()
    planted.touch()
    try:
        os.chown(planted, 12345, 12345)
    except PermissionError:
        pytest.skip("only root can give a file to another user")
    assert f"{planted} belongs to another user" in refused(monkeypatch, tmp_path / "mine")


def test_a_file_that_disappears_while_a_place_is_checked_is_not_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cache, "_all_in", lambda folder: iter([folder / "renamed", folder / "there"]))
    (tmp_path / "there").write_text("")
    assert cache.why_unsafe_inside(tmp_path) == ""


def test_what_the_group_could_write_is_made_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where new folders are open to the group, as some systems have it, the cache closes its own."""
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path / "mine"))
    directory = jit_cache.cache_directory(SOURCES)
    (directory / "planted.nbi").touch()
    directory.chmod(0o775)
    directory.parent.chmod(0o775)
    forget_what_was_found()
    assert jit_cache.cache_directory(SOURCES) == directory
    assert not list(directory.iterdir())
    assert [each.stat().st_mode & 0o022 for each in (directory, directory.parent)] == [0, 0]


def test_the_cache_is_for_its_owner_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path / "mine"))
    assert jit_cache.cache_directory(SOURCES).stat().st_mode & 0o077 == 0


WAITER = """
import sys, time
from pathlib import Path
from memtile.jit.cache import made_once

with made_once(Path(sys.argv[1]), lambda: print("waiting", flush=True)):
    print("in", flush=True)
    sys.stdin.readline()
print("out", flush=True)
"""


def test_one_process_compiles_and_the_others_wait_and_say_so(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAITER, str(tmp_path)]

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    with begin() as first, begin() as second:
        out = {}
        for process in (first, second):
            assert process.stdout is not None
            out[process] = process.stdout.readline()
        ahead, behind = (first, second) if out[first] == "in\n" else (second, first)
        assert (out[ahead], out[behind]) == ("in\n", "waiting\n")
        assert ahead.communicate("\n", timeout=60)[0] == "out\n"
        assert behind.communicate("\n", timeout=60)[0] == "in\nout\n"
    with begin() as third:  # what is complete needs nobody alone
        with begin() as fourth:
            assert fourth.communicate("\n", timeout=60)[0] == "in\nout\n"
        third.communicate("\n", timeout=60)


def test_a_process_that_dies_lets_the_next_one_compile(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WAITER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in\n"
        process.kill()
    done = subprocess.run(command, input="\n", capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "in\nout\n"


def test_the_progress_of_the_compiler_goes_from_nothing_to_nearly_all() -> None:
    progress = Progress()
    progress.parts, begun = 400, time.monotonic()
    seen = []
    for progress.translated in (0, 100, 400, 500):
        seen.append(progress.fraction(begun + 10))
    progress.linking = begun + 20
    seen += [progress.fraction(begun + seconds) for seconds in (20, 22, 60)]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 0.99)
    progress.linking, progress.translated = None, 200
    line = progress.line(begun + 10)
    assert line.startswith("  [##########..............]  44% translating functions, about 13 s left")


class Terminal(io.StringIO):
    """A terminal that keeps what it gets."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_a_command_shows_the_progress_and_no_escapes_of_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The streams of a command make escapes printable; the line goes past them, and its names do not."""
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(build, "_QUIET_SECONDS", 0)
    file = Terminal()
    monkeypatch.setattr("sys.stderr", file)
    with printable_streams(), progress.shown(build.line_for(["a\x1b[2J.cc"])):
        time.sleep(0.2)
    assert file.getvalue().startswith("\r  compiling a\\x1b[2J.cc (0 s)\x1b[K")
    assert file.getvalue().endswith("\r\x1b[K")


def test_a_bar_of_a_command_moves_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its escapes are obeyed, also while what the design prints is sent elsewhere."""
    monkeypatch.setattr("memtile.cli.progress.QUIET_SECONDS", 0)
    monkeypatch.setenv("TERM", "xterm")
    file, out = Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr("sys.stdout", out)
    with printable_streams(), run_progress() as show:
        with redirect_stdout(io.StringIO()):
            show(5)
        time.sleep(0.2)
        show(7)
        print("a result")
    assert "7 cycles" in file.getvalue()
    assert "\\x1b" not in file.getvalue()
    assert out.getvalue() == "a result\n"


def test_a_terminal_shows_the_progress_and_a_pipe_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.01)
    for file, shows in ((Terminal(), True), (io.StringIO(), False)):
        with progress.shown(file=file):
            time.sleep(0.2)
        assert ("\r  [" in file.getvalue()) == shows
        assert file.getvalue().endswith("\r\x1b[K" if shows else "")


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("sim/loop/clock.py", True),
        ("model/locks.py", True),
        ("jit/parts.py", True),
        ("sim/loop/engine.py", False),
    ],
)
def test_another_source_is_another_directory(
    installed: Path, monkeypatch: pytest.MonkeyPatch, name: str, counts: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(installed / "user"))
    before = jit_cache.cache_directory(SOURCES)
    forget_what_was_found()
    (installed / "lib" / "site-packages" / "memtile" / name).write_text("x = 1", "utf-8")
    assert (jit_cache.cache_directory(SOURCES) != before) == counts


def test_another_numba_is_another_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path))
    before = jit_cache.cache_directory(SOURCES)
    forget_what_was_found()
    monkeypatch.setattr(numba, "__version__", "0.61.0")
    assert jit_cache.cache_directory(SOURCES) != before


def test_everything_compiled_counts_as_a_source() -> None:
    """Each module with a compiled function, and ``arch``, whose numbers are constants in the code."""
    package = Path(jit.__file__).parents[1]
    marked = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"^@(jit|inlined|entry)\b", path.read_text("utf-8"), re.MULTILINE)
    }
    entries = (compiled_model.COMPILED, note_reading.COMPILED)
    files = (path for sources in entries for path in jit_cache.files_of(sources))
    counted = {path.relative_to(package).as_posix() for path in files}
    source = "".join(map(Path.read_text, package.rglob("*.py")))
    assert len(re.findall(r"^@entry\b", source, re.MULTILINE)) == len(entries)
    assert "arch/tiles.py" in counted
    assert len(marked) > 30
    assert marked - counted == set()


def test_machine_code_is_found_as_it_was_kept_or_not_at_all(tmp_path: Path) -> None:
    code = native.MachineCode("engine", "these structs", bytes(range(256)))
    assert native.kept(tmp_path, "engine", "these structs") is None
    native.keep(tmp_path, "engine", code)
    assert native.kept(tmp_path, "engine", "these structs") == code
    assert native.kept(tmp_path, "engine", "other structs") is None
    assert native.kept(tmp_path, "other", "these structs") is None
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (whole[:-1], whole[:-1] + b"x", whole[5:], b"", whole.partition(b"\n")[0], b"[1]\n"):
        file.write_bytes(damaged)
        assert native.kept(tmp_path, "engine", "these structs") is None


def test_the_version_of_numba_is_known_without_importing_it() -> None:
    code = "import sys; from memtile.jit.cache import numba_version as v; print(v(), 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f"{numba.__version__} False\n"


def test_only_the_last_engines_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path))
    mine = jit_cache.cache_directory(SOURCES)
    for age in range(12):
        other = mine.parent / f"other{age}"
        (other / "sim").mkdir(parents=True)
        os.utime(other, (1e9 - age, 1e9 - age))
    jit_cache.forget_old(mine)
    kept = {mine.name, *(f"other{age}" for age in range(7))}
    assert {directory.name for directory in mine.parent.iterdir()} == kept


def test_who_loads_an_engine_uses_it(tmp_path: Path) -> None:
    native.keep(tmp_path, "engine", native.MachineCode("engine", "these structs", b"code"))
    for about, uses in (("other structs", False), ("these structs", True)):
        os.utime(tmp_path, (1e9, 1e9))
        native.kept(tmp_path, "engine", about)
        assert (tmp_path.stat().st_mtime > 1e9) == uses


def test_an_engine_that_only_others_can_write_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = native.MachineCode("engine", "these structs", b"code")
    native.keep(tmp_path, "engine", code)

    def refuse(_path: object) -> None:
        raise OSError(errno.EROFS, "a file system that is only read")

    monkeypatch.setattr(os, "utime", refuse)
    assert native.kept(tmp_path, "engine", "these structs") == code


def test_one_notice_when_and_only_when_it_compiles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMTILE_CACHE", str(tmp_path))
    forgotten: list[bool] = []
    monkeypatch.setattr(jit, "forget_old", lambda _directory: forgotten.append(True))
    one, two = numba.njit(lambda x: x + 1), numba.njit(lambda x: x + 2)
    said: list[str] = []
    with jit.compiling(said.append, SOURCES):
        one(1), two(1)
    assert said == [
        "memtile: compiling the engine (once, 20 to 60 seconds; it is kept for the next time) ..."
    ]
    with jit.compiling(said.append, SOURCES):
        one(1), two(1)
    assert (len(said), forgotten) == (1, [True])


class Ring:
    """Something that only a search for garbage finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.parametrize(("parts_before", "stays"), [(99, False), (100, True)])
def test_garbage_is_looked_for_after_some_parts(
    parts_before: int, stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PROGRESS, "translated", parts_before)
    gc.collect()
    gc.disable()
    try:
        left = ref(Ring())
        PartLibrary.finalize(SimpleNamespace())  # type: ignore[arg-type]
        assert (left() is not None) == stays
    finally:
        gc.enable()
        gc.unfreeze()


def test_who_makes_a_model_is_told_of_the_compiler_before_the_first_access(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = list[str]()
    monkeypatch.setattr(new_state, "warm_up", lambda _state: done.append("announced"))
    monkeypatch.setattr(new_state, "open_partition", lambda *_: done.append("accessed"))
    new_state._made.__wrapped__((Placed("memory"),), timing_in_force(None, ""), switched=True, booted=True)
    assert done == ["announced", "accessed"]


def warm_up(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memtile", "warmup"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )


@pytest.mark.slow
def test_what_is_compiled_is_found_again() -> None:
    Rig()  # now it is compiled
    run = warm_up(MEMTILE_JIT="1")
    if jit.ENABLED:
        assert run.stderr == ""
    assert run.stdout.startswith("engine ready after ")


def test_without_the_jit_there_is_nothing_to_warm_up() -> None:
    run = warm_up(MEMTILE_JIT="0")
    assert run.stdout == "MEMTILE_JIT=0: the engine runs in the interpreter, nothing to compile\n"


def test_memory_does_not_grow_with_the_cycles() -> None:
    """Channels that loop for ever, a port that takes a word now and then: only those words are kept."""
    rig = Rig()
    first, later = (1 << 18, 1 << 23) if jit.ENABLED else (1 << 10, 1 << 12)
    for ch, bd in ((rig.s2mm(0), 0), (rig.mm2s(0), 1), (rig.mm2s(1), 24)):
        rig.write_bd(bd, Descriptor("memory", 256, OWN.address(1024 * bd), next=bd))
        rig.issue(ch, bd)
    rig.feed(rig.s2mm(0), 1000)
    rig.catch(rig.mm2s(0), [1, *[0] * 63])
    rig.engine.run(first)
    tracemalloc.start()
    try:
        before, words = tracemalloc.get_traced_memory()[0], len(rig.engine.caught(rig.mm2s(0)))
        rig.engine.run(later)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    taken = len(rig.engine.caught(rig.mm2s(0))) - words
    assert taken > (later - first) // 80
    kept = 5 * taken * np.dtype(np.uint32).itemsize  # a block that begins is four times as long as the last
    slices = (later - first) // 1000 + 2
    assert grown < kept + 50 * slices + 200_000


def test_ctrl_c_keeps_what_is_done() -> None:
    """The engine looks up between slices; what it did before is there, and it can go on."""
    rig = Rig()
    rig.engine.forward.on = False  # or all cycles are over in the first slice
    rig.write_bd(1, Descriptor("memory", 256, OWN.address(0), next=1))
    rig.issue(rig.mm2s(0), 1)
    rig.catch(rig.mm2s(0))

    def interrupt(_now: int) -> None:
        raise KeyboardInterrupt

    cycles = 1 << 30 if jit.ENABLED else 1 << 10  # more than anybody would wait for
    with pytest.raises(KeyboardInterrupt):
        rig.engine.run(cycles, interrupt)
    done, words = rig.now, len(rig.sent(rig.mm2s(0)))
    assert 0 < done < 1 << 20
    assert words == pytest.approx(done * 256 / 257, abs=20)
    rig.engine.run(done + 257)
    assert len(rig.sent(rig.mm2s(0))) == words + 256


def test_an_engine_is_made_ready_once_and_says_how_long_that_took(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[object] = []

    def settle(state: object) -> None:
        time.sleep(0.01)
        settled.append(state)

    monkeypatch.setattr(engine_warmup, "_ready", [])
    monkeypatch.setattr(engine_warmup, "place_of", lambda _: 0)
    monkeypatch.setattr(jit, "ENABLED", True)
    monkeypatch.setattr(jit, "compiling", lambda *_: nullcontext())
    monkeypatch.setattr(compiled_model, "settle", settle)
    begun, state = time.perf_counter(), cast(Any, object())
    seconds = [engine_warmup.warm_up(state) for _ in range(2)]
    assert 0.01 <= seconds[0] == seconds[1] <= time.perf_counter() - begun
    assert settled == [state]
