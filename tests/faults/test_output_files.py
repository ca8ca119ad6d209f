"""Is every file that memtile writes the old one or the new one, whatever happens while it is written?"""

from __future__ import annotations

import ast
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from memtile import Array, InputFileError
from memtile.cli.main import app
from memtile.jit.native import MachineCode, keep, kept
from memtile.output_files import check_writable, discard_parts, output_file, output_text, write_output
from support.commands.file_faults import CASES, DESIGN, OLD, campaign

SOURCE = Path(__file__).parents[2] / "src" / "memtile"
NOBODY = 65534
root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# What a file is afterwards.


def test_the_new_content_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    for content in ("one", "two is longer", "3"):
        write_output(path, content)
        assert path.read_text() == content
    write_output(path, iter([b"in ", b"pieces"]))
    assert path.read_bytes() == b"in pieces"
    with output_text(path, "ascii") as text:
        text.write("lines\n")
    assert path.read_bytes() == b"lines\n"
    assert files(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("opens", [output_file, output_text])
def test_the_old_file_stays_whatever_ends_the_writing(
    tmp_path: Path, error: type[BaseException], opens: Any
) -> None:
    (path := tmp_path / "a.txt").write_bytes(OLD)

    def half() -> None:
        with opens(path) as file:
            file.write(b"half" if opens is output_file else "half")
            file.flush()
            assert len(files(tmp_path)) == 2
            raise error

    with pytest.raises(InputFileError if error is OSError else error):
        half()
    assert path.read_bytes() == OLD
    assert files(tmp_path) == ["a.txt"]


def test_nothing_is_there_where_nothing_was(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        write_output(tmp_path / "a.txt", (b"%d" % (1 // each) for each in (1, 0)))
    assert files(tmp_path) == []


def test_a_file_is_complete_as_soon_as_it_is_there(tmp_path: Path) -> None:
    """Whoever reads meanwhile has the old file, which stays open as it was."""
    (path := tmp_path / "a.txt").write_bytes(OLD)
    with path.open("rb") as before, output_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == OLD
    assert path.read_bytes() == b"new"
    assert before.closed


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_permissions_stay(tmp_path: Path, mode: int) -> None:
    (path := tmp_path / "a.txt").write_bytes(OLD)
    path.chmod(mode)
    write_output(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_permissions_of_the_user(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_output(tmp_path / "a.txt", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640


@root
def test_root_leaves_a_file_to_its_owner(tmp_path: Path) -> None:
    (path := tmp_path / "a.txt").write_bytes(OLD)
    os.chown(path, NOBODY, NOBODY)
    write_output(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)


def test_of_a_link_the_file_behind_it_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "far"
    folder.mkdir()
    (folder / "a.txt").write_bytes(OLD)
    (tmp_path / "link").symlink_to("far/a.txt")
    (tmp_path / "none").symlink_to(folder / "b.txt")
    (tmp_path / "circle").symlink_to("circle")
    for name in ("link", "none"):
        check_writable(tmp_path / name)
        write_output(tmp_path / name, name)
        assert (tmp_path / name).is_symlink()
    assert (folder / "a.txt").read_text() == "link"
    assert (folder / "b.txt").read_text() == "none"
    with pytest.raises(InputFileError, match="circle: the file cannot be written: Too many levels"):
        write_output(tmp_path / "circle", "new")
    with pytest.raises(InputFileError, match="circle: the file cannot be written: Too many levels"):
        check_writable(tmp_path / "circle")
    assert files(folder) == ["a.txt", "b.txt"]


# What cannot be replaced.


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "pipe")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    check_writable(path)
    write_output(path, "through it")
    reader.join()
    assert found == [b"through it"]
    assert files(tmp_path) == ["pipe"]


WRITES = """
from memtile.output_files import write_output
print("before")
write_output({!r}, "content\\n")
print("after")
"""


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"])
def test_standard_output_is_written_behind_what_was_printed(tmp_path: Path, name: str) -> None:
    """Into the file of a shell too, which keeps its place."""
    with (tmp_path / "out").open("w") as out:
        out.write("earlier\n")
        out.flush()
        subprocess.run([sys.executable, "-c", WRITES.format(name)], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "earlier\nbefore\ncontent\nafter\n"
    assert files(tmp_path) == ["out"]


def test_a_full_device_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="/dev/full: the file cannot be written: No space left"):
        write_output("/dev/full", "x")
    write_output("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert files(tmp_path) == []


@pytest.mark.parametrize("write", [lambda path: write_output(path, "new"), check_writable])
def test_what_is_no_place_for_a_file(tmp_path: Path, write: Any) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(OLD)
    for name in ("folder", "none/a.txt", "file/a.txt", "\udcff\0"):
        with pytest.raises(InputFileError, match="cannot be written"):
            write(tmp_path / name)
    assert files(tmp_path) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == OLD


@root
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(
    ("owner", "mode", "folder_mode", "text"),
    [
        (0, 0o644, 0o777, "it is read-only for this user"),
        (NOBODY, 0o444, 0o777, "it is read-only for this user"),
        (NOBODY, 0o644, 0o755, "its folder takes no new file from this user"),
        (None, 0, 0o755, "its folder takes no new file from this user"),
    ],
)
def test_files_of_others_are_refused(
    tmp_path: Path, owner: int | None, mode: int, folder_mode: int, text: str, check: bool
) -> None:
    """A rename needs rights of the folder alone; a read-only file is not replaced for all that."""
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    (path := tmp_path / "a.txt").write_bytes(OLD)
    if owner is None:
        path.unlink()
    else:
        os.chown(path, owner, owner)
        path.chmod(mode)
    tmp_path.chmod(folder_mode)
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        try:
            check_writable(path) if check else write_output(path, "new")
        except InputFileError as error:
            os._exit(int(str(error) != f"{path}: the file cannot be written: {text}."))
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert files(tmp_path) == ([] if owner is None else ["a.txt"])
    assert owner is None or path.read_bytes() == OLD


def test_a_process_that_ends_at_once_leaves_no_temporary_file(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            with output_file(tmp_path / "a.txt") as file:
                file.write(b"half")
                discard_parts()
                os._exit(len(files(tmp_path)))
        finally:
            os._exit(100)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert files(tmp_path) == []


def test_the_temporary_file_of_a_killed_process_goes_with_the_next_writing(tmp_path: Path) -> None:
    """That of a process that still writes stays."""
    child = os.fork()
    if child == 0:
        try:
            with output_file(tmp_path / "a.txt"):
                os._exit(len(files(tmp_path)))
        finally:
            os._exit(100)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert len(files(tmp_path)) == 1
    with output_file(tmp_path / "a.txt") as file:
        write_output(tmp_path / "a.txt", "other")
        file.write(b"last")
    assert files(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"last"


# Larger writers.


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file may be larger than 4 KB."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("durable", [True, False])
def test_a_limit_of_size_leaves_the_old_file(tmp_path: Path, durable: bool) -> None:
    (path := tmp_path / "a.txt").write_bytes(OLD)
    with pytest.raises(InputFileError, match="File too large"):
        write_output(path, 10_000 * "x", durable=durable)
    assert path.read_bytes() == OLD
    with pytest.raises(InputFileError, match="File too large"), output_text(path) as text:
        text.write(10_000 * "x")
    assert path.read_bytes() == OLD
    assert files(tmp_path) == ["a.txt"]


@pytest.mark.usefixtures("small_files")
def test_a_saved_array_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    (path := tmp_path / "a.npz").write_bytes(OLD)
    array = Array("npu1", columns=1)
    array.memory_tile(0).buffer("a", 4096, data=np.random.default_rng(0).integers(1 << 30, size=4096))
    with pytest.raises(InputFileError, match="File too large"):
        array.save(path)
    assert path.read_bytes() == OLD
    assert files(tmp_path) == ["a.npz"]


@pytest.mark.usefixtures("small_files")
def test_compiled_code_without_room_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The process has the code; the next one compiles it again."""
    keep(tmp_path, "f", MachineCode("f", "about", 10_000 * b"x"))
    assert capsys.readouterr().err.startswith("note: compiled code is not cached: ")
    assert kept(tmp_path, "f", "about") is None
    assert files(tmp_path) == []
    keep(tmp_path, "f", MachineCode("f", "about", b"x"))
    assert kept(tmp_path, "f", "about") == MachineCode("f", "about", b"x")


def run(folder: Path, *args: str, **how: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memtile", *args], cwd=folder, capture_output=True, text=True, **how
    )


def no_large_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))


def test_a_command_on_a_full_disk_keeps_the_old_report(tmp_path: Path) -> None:
    (tmp_path / "d.py").write_text(DESIGN)
    (tmp_path / "r.html").write_bytes(OLD)
    no_bytecode = os.environ | {
        "PYTHONDONTWRITEBYTECODE": "1"
    }  # of which Python itself would keep half a file
    done = run(tmp_path, "run", "d.py", "--report", "r.html", preexec_fn=no_large_files, env=no_bytecode)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: r.html: the file cannot be written: File too large.\n"
    assert (tmp_path / "r.html").read_bytes() == OLD
    assert files(tmp_path) == ["d.py", "r.html"]


# No other way.

WRITERS = {"write_text", "write_bytes", "touch", "tofile", "to_parquet", "NamedTemporaryFile"}
WRITERS |= {"mkstemp", "rename", "renames", "symlink_to", "hardlink_to", "copyfile", "copy", "copy2", "move"}
WRITERS |= {"savetxt", "to_csv", "write_image", "make_archive"}
OF_FILES = {"shutil", "os", "np", "tempfile"}
EXCEPTIONS = {
    "system.py: open mode": "what all of these go through",
    "system.py: os.replace": "the same",
    "system.py: path.touch": "the same",
    "system.py: system().open 'ab'": "a lock; a journal, of which half a line is read as none",
    "output_files.py: system().open 'x+b'": "the temporary file",
    "output_files.py: system().open 'r+b'": "the same, to lock it",
    "output_files.py: system().replace": "the temporary file takes the place of the old one",
    "explore/sweep/sources.py: system().replace": "a folder that several workers make",
    "hosts/own_files.py: system().replace": "a draft that takes its place whole, gone with its server",
    "hosts/own_files.py: system().open 'xb'": "the draft, which nobody else may read",
    "cpp/build.py: system().open 'xb'": "a file of a folder that appears complete",
    "cpp/build.py: system().replace": "the folder, now that it is complete",
    "cpp/trial.py: system().touch": "an empty file beside a library: it has been loaded once",
    "jit/cache.py: system().touch": "a mark, which has no content",
    "output_files.py: open 'wb'": "a pipe or a device, which cannot be replaced",
    "output_files.py: fdopen 'wb'": "a descriptor that is open already",
    "explore/line_process.py: os.open os.O_WRONLY": "the null device",
    "testing/pytest_plugin.py: np.save": "an array that a test gives, in a folder of its own",
    "adf/host_program.py: open 'r+b'": "memory of the graph's program, to map it",
    "adf/host_program.py: fdopen 'wb'": "a pipe",
    "hosts/external_memory.py: open 'r+b'": "memory of this process, to map it",
    "sandbox/launch.py: shutil.copyfile": "a file of the temporary folder of a sandbox",
    "sandbox/namespaces.py: Path('/proc/self/gid_map').write_text": "the kernel",
    "sandbox/namespaces.py: Path('/proc/self/setgroups').write_text": "the kernel",
    "sandbox/namespaces.py: Path('/proc/self/uid_map').write_text": "the kernel",
    "cpp/compilers.py: source.write_text": "a file of a temporary folder",
    "cpp/image.py: tempfile.NamedTemporaryFile": "a copy of a library, to load it once more",
    "cli/terminal_streams.py: os.open os.O_WRONLY": "the null device",
    "sim/ports/collected.py: memmap 'w+'": "memory of this process; its file has no name",
    "sim/ports/external_buffers.py: memmap 'r+' if writable else 'r'": "a file named as memory of the host",
    "cli/terminal_streams.py: fdopen 'w' if number else 'r'": "a standard stream that was closed",
    "cli/agents/server.py: open 'wb'": "a pipe to the part that answers",
    "explore/line_answers.py: fdopen 'w'": "a pipe to the process that asks",
}


def mode_of(call: ast.Call, first: int) -> str | None:
    """The mode in a call of some ``open``, as it is written; None if it is for reading."""
    given = [each.value for each in call.keywords if each.arg == "mode"] + call.args[first : first + 1]
    if not given:
        return None
    if isinstance(given[0], ast.Constant) and isinstance(given[0].value, str):
        mode = given[0].value
        return repr(mode) if set(mode) & set("wax+") else None
    return ast.unparse(given[0])


MODULES_THAT_OPEN = {"io", "os", "gzip", "bz2", "zipfile"}
FLAGS = ("O_WRONLY", "O_RDWR", "O_CREAT")
MAY_WRITE = re.compile(
    rf"open\(|ZipFile|TarFile|memmap|\.replace\(|save|\.dump\(|{'|'.join(sorted(WRITERS))}"
)
"""What a text must have for a module to write: most of them need not be parsed."""
SAVES = {("np", "save"): 0, ("np", "savez"): 0, ("np", "savez_compressed"): 0, ("json", "dump"): 1}


def writes(text: str) -> Iterator[str]:
    """What in a module writes files past ``output_files``."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call):
            is_method = isinstance(node.func, ast.Attribute)
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            owner = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            yield from _opens(node, owner, name, is_path=is_method and owner not in MODULES_THAT_OPEN)
            if _moves(node, owner, name) or _saves(node, owner, name):
                yield f"{owner}.{name}"


def _opens(node: ast.Call, owner: str, name: str, *, is_path: bool) -> Iterator[str]:
    if (owner, name) == ("system()", "open"):
        if (mode := ast.unparse(node.args[1])) != "'rb'":
            yield f"system().open {mode}"
    elif (owner, name) == ("os", "open"):
        if any(flag in (flags := ast.unparse(node.args[1])) for flag in FLAGS):
            yield f"os.open {flags}"
    elif name in ("open", "fdopen", "ZipFile", "TarFile", "memmap"):
        mode = mode_of(node, 2 if name == "memmap" else 0 if is_path else 1)
        if mode is not None and _is_mode(mode):
            yield f"{name} {mode}"


def _moves(node: ast.Call, owner: str, name: str) -> bool:
    if name == "replace":
        return owner in ("os", "system()") or (owner != "" and len(node.args) == 1 and not node.keywords)
    if name == "write_bytes" and "door" in owner:
        return False  # into the memory of the array
    return name in WRITERS and (name not in ("copy", "move") or owner in OF_FILES)


def _saves(node: ast.Call, owner: str, name: str) -> bool:
    """Whether a function that takes paths and open files is not given an open one."""
    place = 0 if name == "savefig" else SAVES.get((owner, name))
    return place is not None and "file" not in ast.unparse(node.args[place])


def _is_mode(text: str) -> bool:
    """A mode that is not written out is one too; what other methods named ``open`` take is none."""
    return text.startswith(("'", '"')) or "'w'" in text or "mode" in text


@pytest.mark.parametrize(
    "text",
    [
        "open(path, 'w')",
        "open(path, mode='r+b')",
        "path.open('wb')",
        "path.open(mode='a')",
        "gzip.open(path, 'wt')",
        "io.open(path, mode)",
        "os.open(path, os.O_WRONLY | os.O_CREAT)",
        "os.fdopen(descriptor, 'w')",
        "path.write_text('x')",
        "figure.savefig(path)",
        "np.save(path, array)",
        "np.savez_compressed(path, a=1)",
        "json.dump(data, out)",
        "array.tofile(path)",
        "shutil.copy(a, b)",
        "os.replace(a, b)",
        "path.replace(other)",
        "path.rename(other)",
        "system().replace(a, b)",
        "system().open(path, 'xb', buffered=True)",
        "zipfile.ZipFile(path, 'w')",
        "tempfile.NamedTemporaryFile()",
        "frame.to_parquet(path)",
        "np.memmap(path, np.uint8, 'w+')",
    ],
)
def test_other_ways_to_write_are_found(text: str) -> None:
    assert len(list(writes(text))) == 1
    assert MAY_WRITE.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "open(path)",
        "system().open(path, 'rb', buffered=False)",
        "path.open('rb')",
        "os.open(os.devnull, os.O_RDONLY)",
        "text.replace('a', 'b')",
        "np.save(file, array)",
        "figure.savefig(file, format='png')",
        "np.memmap(path, np.uint8, 'r')",
        "door.write_bytes(0, data)",
        "array.copy()",
        "game.let_open(locks)",
        "found.open(hosts)",
        "log.open(self.head)",
    ],
)
def test_what_writes_no_file_passes(text: str) -> None:
    assert list(writes(text)) == []


def test_files_are_written_by_one_module_alone() -> None:
    found = {
        f"{path.relative_to(SOURCE)}: {what}"
        for path in SOURCE.rglob("*.py")
        if MAY_WRITE.search(text := path.read_text("utf-8"))
        for what in writes(text)
    }
    assert sorted(found - set(EXCEPTIONS)) == []
    assert sorted(set(EXCEPTIONS) - found) == []


# Faults at each file operation: a sample; all of them by tests/support/commands/file_faults.py.

READ = {
    *(
        "files",
        "file",
        "designs",
        "design",
        "dump",
        "given",
        "kernels",
        "costs",
        "against",
        "against_kernels",
        "first",
        "second",
    ),
    *("words", "program", "functions", "trace", "name", "energy", "server", "root"),
}
"""Parameters of files, folders or texts that a command reads."""
READ_BY = {
    *("survey folder", "measure read folder", "sweep show log", "sweep replay log", "schema name"),
    *(
        "explain in_folder",
        "run in_folder",
        "run expect",
        "diff in_folder",
        "test config",
        "sweep run in_folder",
    ),
    *("test inputs", "test expect", "test in_folder", "test cost"),
}
OWN_PLACE = {"tools folder"}
"""Folders whose files name the folder itself, so that two runs never write the same ones."""
OF_GRAPHS = {"run out_folder", "export function_folder"}
"""Folders whose files a graph names; a case for each operation would compile it each time."""
KINDS = ("FILE", "DIR", "DESIGN", "BUILD", "LOG", "DUMP", "TABLE", ".npy")


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from commands(each, (*path, name))
        else:
            yield " ".join((*path, name)), each


def test_each_command_that_writes_has_a_case() -> None:
    """A parameter of a file is one that is read, or a case tries what is written to it."""
    root_command: Any = typer.main.get_command(app)
    tried = {
        f"{name} {option}"
        for name, _ in commands(root_command)
        for case in CASES
        if f"{case.line} ".startswith(f"{name} ")
        for option in case.options.split()
    }
    of_files = {
        f"{name} {parameter.name}"
        for name, command in commands(root_command)
        for parameter in command.params
        if parameter.type_descriptor.annotation is Path
        or any(kind in (parameter.metavar or "") for kind in KINDS)
    }
    read = {each for each in of_files if each.rpartition(" ")[2] in READ} | READ_BY | OWN_PLACE | OF_GRAPHS
    assert sorted(of_files - read - tried) == []
    assert sorted(tried - of_files - {"serve memory"}) == []


@pytest.mark.chance
@pytest.mark.parametrize("fault", ["disk full in the middle of a write", "input/output error"])
def test_faults_of_files_leave_the_old_file_or_the_new_one(fault: str) -> None:
    found = campaign(8, ["run, the other forms", "lower to html", "host-source"], [fault])
    assert found["wrong"] == {}
    assert found["faults"] >= 20
