"""Does what runs in a sandbox reach nothing outside, and is it otherwise the same command?"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from left_out import need_program
from memtile.cli import check, run, sandboxed, survey
from memtile.cli import test as designs_test
from memtile.errors import InputFileError
from memtile.sandbox import landlock, policy, seccomp, start
from support.sandbox.sandbox_rig import DESIGN, NoUserError, Rig, has_namespaces, rig, why_not

USERS = ("", "nobody")
WHY_NOT = why_not()
pytestmark = [
    pytest.mark.skipif(bool(WHY_NOT) and not os.environ.get("CI"), reason=f"no sandbox here: {WHY_NOT}"),
    pytest.mark.slow,  # each test starts processes
]
SLEEPER = f"import time; time.sleep({900_000 + os.getpid()})"
"""Of this process of tests alone: others may run beside it."""
ENDLESS = "import time\nopen('begun', 'w').close()\nwhile True:\n    time.sleep(0.01)\n"
SPOILED = """
from memtile import Result

def fail(_):
    raise ValueError("ours")

Result.as_json = fail
"""
DEAF = "import signal\nfor each in (2, 15, 1, 3):\n    signal.signal(each, signal.SIG_IGN)\n" + ENDLESS
DAEMONS = f"""
import os, subprocess, sys
for _ in range(3):
    subprocess.Popen([sys.executable, "-c", {SLEEPER!r}], start_new_session=True)
"""


@pytest.fixture(params=USERS, ids=lambda user: user or "present_user")
def mine(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """Folders of the present user, and of one without rights."""
    try:
        with rig(request.param) as made:
            yield made
    except NoUserError as error:
        pytest.skip(str(error))


@pytest.fixture
def own() -> Iterator[Rig]:
    """Folders of the present user."""
    with rig() as made:
        yield made


def sleepers() -> list[str]:
    """Processes that :data:`DAEMONS` has left behind."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if SLEEPER in process.joinpath("cmdline").read_text("utf-8", "replace"):
                found.append(process.name)
        except OSError:
            continue
    return found


def until(what: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("nested", [False, True], ids=["namespaces", "landlock_and_seccomp_alone"])
def test_no_attack_of_a_design_succeeds(mine: Rig, nested: bool) -> None:
    if nested and landlock.version() < landlock.SCOPES:
        pytest.skip("Landlock of this kernel lets signals out")
    before = (mine.outside / "secret.txt").stat()
    done = mine.attack("run", "--sandbox", "hostile.py", nested=nested)
    assert done.returncode == 0, done.stderr
    found = json.loads((mine.project / "found.json").read_text())
    assert len(found) > 70
    assert [name for name, why in found.items() if not why] == []
    assert (mine.outside / "secret.txt").read_text() == "a secret"
    after = (mine.outside / "secret.txt").stat()
    assert (after.st_mode, after.st_uid, after.st_mtime) == (before.st_mode, before.st_uid, before.st_mtime)
    assert {each.name for each in mine.outside.iterdir()} <= {"secret.txt", "socket"}


def test_the_attacks_succeed_without_a_sandbox(own: Rig) -> None:
    """Otherwise the test above would show nothing."""
    hostile = own.project / "hostile.py"
    text = hostile.read_text()
    harmless = "write_file read_secret read_by_link list_home socket_inet socket_unix kill_0 change_mode"
    hostile.write_text(text.replace("ATTACKS.items()}", f"ATTACKS.items() if name in {harmless.split()}}}"))
    assert own.attack("run", "hostile.py").returncode == 0
    found = json.loads((own.project / "found.json").read_text())
    assert found == dict.fromkeys(harmless.split(), "")


def test_a_text_in_mlir_reaches_nothing_outside_either(mine: Rig) -> None:
    (mine.project / "link.mlir").symlink_to("/etc/passwd")
    payload = '__import__("os").system("touch ../outside/pwned")'
    text = (
        "module { aie.device(npu1_1col) { %c = aie.tile(0, 2) aie.core(%c) {"
        " %v = arith.constant dense<1> : vector<16xi32>"
        f" %x = vector.extract %v[{payload}] : i32 from vector<16xi32> aie.end }} "
        "aie.runtime_sequence(%h: memref<64xi32>) { } } }"
    )
    mine.write("hostile.mlir", text)
    secret = str(mine.outside / "secret.txt")
    for file, command in (
        ("hostile.mlir", ("check",)),
        ("hostile.mlir", ("run", "--kernels", secret)),
        ("link.mlir", ("check",)),
        ("link.mlir", ("run",)),
    ):
        done = mine.run(*command, "--sandbox", file)
        assert "root:" not in done.stdout + done.stderr
        assert mine.user or "Traceback" not in done.stderr  # the Python of others may be older
    assert "link.mlir: the file cannot be read: Permission denied" in done.stderr
    mine.run("survey", "--sandbox", ".")
    assert not (mine.outside / "pwned").exists()


CASES = {
    "good": (("run", "--set", "words=16", "design.py"), 0),
    "race check": (("run", "--check", "--json", "design.py"), 0),
    "mismatch": (("run", "--json", "wrong.py"), 1),
    "no file": (("run", "--json", "missing.py"), 2),
    "usage": (("run", "--nonsense", "design.py"), 2),
    "broken": (("run", "broken.py"), 2),
    "check": (("check", "--sarif", "design.py"), 0),
    "survey": (("survey", "--json", "."), None),
    "behind dashes": (("run", "--", "--sandbox"), 2),
}


@pytest.mark.parametrize("case", CASES)
def test_results_and_exit_codes_are_the_same(own: Rig, case: str) -> None:
    own.write("design.py", DESIGN)
    own.write("wrong.py", DESIGN.replace("expect(np.arange(words", "expect(np.arange(1, words + 1"))
    own.write("broken.py", "def design(:\n")
    shutil.copy(Path(__file__).parents[2] / "examples" / "scale.mlir", own.project)
    shutil.rmtree(own.project / "hostile.py", ignore_errors=True)
    (own.project / "hostile.py").unlink()
    (command, *arguments), code = CASES[case]
    plain = own.run(command, *arguments)
    inside = own.run(command, "--sandbox", *arguments)
    assert plain.returncode == inside.returncode
    assert code in (None, plain.returncode)
    seconds = re.compile(r'"seconds": [\d.e-]+|\d+\.\d s\b')
    assert seconds.sub("", plain.stdout) == seconds.sub("", inside.stdout)
    assert plain.stderr == inside.stderr


def test_outputs_below_the_root_are_written_and_others_refused_by_name(own: Rig) -> None:
    own.write("design.py", DESIGN)
    files = ("report.html", "record.json", "run.vcd")
    options = (
        part
        for file, name in zip(files, ("--report", "--record", "--vcd"), strict=True)
        for part in (name, file)
    )
    assert own.run("run", "--sandbox", *options, "design.py").returncode == 0
    assert all((own.project / file).stat().st_size > 100 for file in files)
    away = own.folder / "home" / "report.html"
    done = own.run("run", "--sandbox", f"--report={away}", "--record", "../r.json", "--json", "design.py")
    assert done.returncode == 2
    assert f"--report is {away}; it must be below {own.project}" in done.stderr
    assert "--record is ../r.json" in done.stderr
    assert json.loads(done.stdout)["error"]["reason"] == "sandbox_root"
    assert own.run("run", "--sandbox", "--root", "..", f"--report={away}", "design.py").returncode == 0
    assert away.exists()


def test_a_design_elsewhere_is_read_with_what_is_beside_it(own: Rig) -> None:
    folder = own.folder / "elsewhere"
    folder.mkdir()
    (folder / "beside.py").write_text(DESIGN)
    (folder / "other.py").write_text("from beside import design\nopen('/dev/null', 'w').write('x')\n")
    assert own.run("run", "--sandbox", "../elsewhere/other.py").returncode == 0
    (folder / "writes.py").write_text(f"open({str(folder / 'x')!r}, 'w')\n" + DESIGN)
    assert own.run("run", "--sandbox", "../elsewhere/writes.py").returncode != 0
    assert not (folder / "x").exists()


def test_the_engine_is_compiled_and_stored_and_no_design_can_change_it(own: Rig) -> None:
    from memtile.jit.cache import cache_directory
    from memtile.sim.loop.compiled_sources import ENGINE, RACES

    own.write(
        "design.py", "import os\ncache = os.environ['MEMTILE_CACHE']\nopen(cache + '/x', 'w')\n" + DESIGN
    )
    clock = cache_directory(
        ENGINE
    )  # takes ten times as long: brought, so that the reader of notes is compiled
    shutil.copytree(clock, own.folder / "cache" / "jit" / clock.name)
    first = own.run("run", "--sandbox", "--check", "design.py", jit=True, seconds=600)
    assert first.returncode == 0, first.stderr
    assert "compiling the engine" in first.stderr
    (stored,) = own.folder.glob(f"cache/jit/{cache_directory(RACES).name}/*.object")
    before = stored.read_bytes()
    second = own.run("run", "--sandbox", "--check", "design.py", jit=True)
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == first.stdout
    assert not list(own.folder.glob("cache/x"))
    own.write("spoil.py", f"open({str(stored)!r}, 'w')\n" + DESIGN)
    assert own.run("run", "--sandbox", "spoil.py", jit=True).returncode == 2
    assert stored.read_bytes() == before


def test_a_compiler_and_what_it_makes_run_inside(own: Rig) -> None:
    need_program("cc")
    code = """
import ctypes, subprocess
open("f.c", "w").write("int twice(int x) { return 2 * x; }")
subprocess.run(["cc", "-O2", "-shared", "-fPIC", "f.c", "-o", "f.so"], check=True)
assert ctypes.CDLL("./f.so").twice(21) == 42
"""
    own.write("compiled.py", code + DESIGN)
    done = own.run("run", "--sandbox", "compiled.py")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", ["run", "survey"])
def test_interrupt_ends_all_within_a_second_and_leaves_nothing(mine: Rig, command: str) -> None:
    mine.write("endless.py", DAEMONS + ENDLESS)
    (mine.project / "hostile.py").unlink()
    (mine.project / "sandbox_design.py").unlink()
    process = mine.start(command, "--sandbox", "endless.py" if command == "run" else ".")
    if command == "survey":
        until(lambda: process.poll() is not None)
        assert process.returncode == 2  # nothing to try: designs in Python are no part of a survey
        process.communicate()
        return
    until((mine.project / "begun").exists)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert time.monotonic() - begun < 3  # the machine of tests may be busy
    until(lambda: not sleepers(), 2)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1), (signal.SIGKILL, -9)],
)
def test_a_design_that_ignores_signals_ends_too(own: Rig, number: int, code: int) -> None:
    own.write("deaf.py", DAEMONS + DEAF)
    process = own.start("run", "--sandbox", "deaf.py")
    until((own.project / "begun").exists)
    assert len(sleepers()) == 3
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert ("interrupted" in err) == (number == signal.SIGINT)
    until(lambda: not sleepers(), 3)


def test_processes_that_a_design_leaves_behind_end_with_the_command(mine: Rig) -> None:
    mine.write("leaves.py", DAEMONS + DESIGN)
    assert mine.run("run", "--sandbox", "leaves.py").returncode == 0
    until(lambda: not sleepers(), 2)


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGSEGV, -11), (signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
)
def test_a_crash_is_the_same_signal(own: Rig, number: int, code: int) -> None:
    own.write("crash.py", f"import os\nos.kill(os.getpid(), {int(number)})\n")
    assert own.run("run", "--sandbox", "crash.py").returncode == own.run("run", "crash.py").returncode == code


@pytest.mark.parametrize("command", [("run", "design.py"), ("check", "design.py"), ("info", "--json")])
def test_a_pipe_that_nobody_reads_ends_it_silently(own: Rig, command: tuple[str, ...]) -> None:
    own.write("design.py", DESIGN)
    reading, writing = os.pipe()
    os.close(reading)
    words = (own.python, "-m", "memtile", *command, "--sandbox")
    done = subprocess.run(
        words, cwd=own.project, env=own.environment, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_ctrl_c_before_the_command_has_begun_is_a_sentence(tmp_path: Path) -> None:
    """While the process loads what makes the sandbox."""
    (package := tmp_path / "memtile" / "sandbox").mkdir(parents=True)
    (package / "launch.py").write_text("raise KeyboardInterrupt\n")
    words = (sys.executable, "-I", "-S", "-c", start._LAUNCH.format(str(tmp_path)))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    said = "memtile: interrupted before the command began\n"
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


def test_a_mistake_in_memtile_says_how_to_see_where(own: Rig) -> None:
    """A file of the sandbox would not outlive it."""
    own.write("design.py", DESIGN + SPOILED)
    done = own.run("run", "--sandbox", "--json", "design.py")
    assert done.returncode == 70
    assert "memtile failed: ValueError: ours" in done.stderr
    assert done.stderr.endswith("and the traceback, which MEMTILE_TRACEBACK=1 shows.\n")
    assert json.loads(done.stdout)["error"]["reason"] == "internal"
    own.environment["MEMTILE_TRACEBACK"] = "1"
    assert "in fail\n" in own.run("run", "--sandbox", "--json", "design.py").stderr


def test_processes_without_end_are_ended(mine: Rig) -> None:
    bomb = """
import os, time
for _ in range(2000):
    try:
        os.fork() or time.sleep(987654)
    except OSError:
        time.sleep(0.01)
"""
    if not has_namespaces() and not mine.user:
        pytest.skip("without namespaces the kernel does not limit the processes of root")
    mine.write("bomb.py", bomb + DESIGN)
    done = mine.run("run", "--sandbox", "bomb.py")
    assert done.returncode != 0
    assert "more than 64 processes at a time" in done.stderr or "Resource temporarily" in done.stderr


def test_memory_is_limited_and_the_limit_can_be_moved(own: Rig) -> None:
    own.write("large.py", "block = bytearray(1 << 30)\n" + DESIGN)
    assert own.run("run", "--sandbox", "large.py").returncode == 0
    done = own.run("run", "--sandbox", "--sandbox-memory", "1", "large.py")
    assert done.returncode == 2
    assert done.stderr.startswith("error: large.py: more memory is needed than is allowed.")
    assert "--sandbox-memory" in done.stderr
    refused = own.run("run", "--sandbox", "--sandbox-memory=lots", "large.py")
    assert "--sandbox-memory is lots; it must be a number of gigabytes, at least 0.5" in refused.stderr


def test_what_python_loads_stays_as_it_is_even_below_the_root(own: Rig) -> None:
    if not has_namespaces():
        pytest.skip("without namespaces all below the root may be written")
    package = own.project / "lib"
    package.mkdir()
    (package / "later.py").write_text("")
    own.environment["PYTHONPATH"] += f"{os.pathsep}{package}"
    own.write("poison.py", f"open({str(package / 'later.py')!r}, 'w').write('x')\n" + DESIGN)
    assert "Read-only file system" in own.run("run", "--sandbox", "poison.py").stderr
    assert (package / "later.py").read_text() == ""


def test_the_home_folder_is_no_root_unless_it_is_asked_for(own: Rig) -> None:
    own.environment["HOME"] = str(own.project)
    own.write("design.py", DESIGN)
    done = own.run("run", "--sandbox", "design.py")
    assert done.returncode == 2
    assert f"the working folder {own.project} holds the home folder" in done.stderr
    assert own.run("run", "--sandbox", "--root", ".", "design.py").returncode == 0
    gone = own.run("run", "--sandbox", "--root", "nowhere", "design.py")
    assert "nowhere is no folder" in gone.stderr


def test_options_of_the_sandbox_need_it(own: Rig) -> None:
    for options in (("--root", "."), ("--sandbox-memory", "1"), ("--sandbox", "--no-sandbox", "--root", ".")):
        done = own.run("check", *options, "sandbox_design.py")
        assert (done.returncode, "are for --sandbox" in done.stderr) == (2, True)


def test_where_there_is_no_sandbox_it_is_an_error_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value, says in (
        (landlock, "version", lambda: 0, "the kernel has no Landlock"),
        (seccomp, "is_available", lambda: False, "the kernel has no seccomp filters"),
        (sys, "platform", "darwin", "darwin has no sandbox"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            start.missing.cache_clear()
            with pytest.raises(InputFileError, match=says):
                sandboxed.enter(["run", "--sandbox", "design.py"])
            assert start.sentences(start.layers())[0].startswith("sandbox: not available here: ")
    start.missing.cache_clear()


def test_info_says_what_works_here(own: Rig) -> None:
    done = own.run("info", "--sandbox", "--json")
    found = json.loads(done.stdout)["sandbox"]
    assert found["landlock"] == landlock.version() > 0
    lines = own.run("info", "--sandbox").stdout
    assert lines.startswith("sandbox: available\n")
    assert ("not available here" in lines) != found["namespaces"]
    nested = json.loads(own.attack("info", "--sandbox", "--json", nested=True).stdout)["sandbox"]
    assert nested == {"landlock": landlock.version(), "seccomp": True, "namespaces": False}


def test_variables_with_secrets_are_left_out() -> None:
    secret = (
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "SSH_AUTH_SOCK",
        "MEMTILE_SERVE_TOKEN",
        "DATABASE_URL",
        "PYTHON_PASSWORD",
    )
    kept = {"PATH": "/bin", "LC_ALL": "C", "MEMTILE_JIT": "0", "PYTHONPATH": "x", "OMP_NUM_THREADS": "2"}
    assert policy.environment(dict.fromkeys(secret, "hunter2") | kept) == kept


def test_outputs_are_the_files_that_the_commands_write() -> None:
    inputs = {"--root", "--against", "--cost", "--functions", "--in-folder", "--config", "--baseline"}
    named = {path for command in (run.run, check.check, survey.survey) for path in paths_of(command)}
    assert named - inputs | {"--out"} == {*sandboxed.OUTPUTS}
    assert paths_of(designs_test.run_tests) - inputs | {*sandboxed.OUTPUTS} == {*sandboxed.OF_TESTS}


def paths_of(command: Callable[..., None]) -> set[str]:
    """The options of a command that name a path."""
    named = set()
    for name, hint in get_type_hints(command, include_extras=True).items():
        if Path in (get_args(hint) and get_args(get_args(hint)[0])):
            (about,) = hint.__metadata__
            declared = (about.default, *(about.param_decls or ()))
            named.add(
                next((each for each in declared if str(each)[:2] == "--"), f"--{name.replace('_', '-')}")
            )
    return named


def filtered(
    steps: list[tuple[int, int, int, int]], number: int, arguments: tuple[int, ...] = (0,) * 6
) -> int:
    """What a filter answers to a system call: a machine for the instructions that it uses."""
    data = [number, seccomp._AUDIT[seccomp.MACHINE], 0, 0]
    for each in arguments:
        data += [each & 0xFFFF_FFFF, each >> 32]
    at = value = 0
    while True:
        operation, if_true, if_false, constant = steps[at]
        at += 1
        if operation == 32:
            value = data[constant // 4]
        elif operation == 84:
            value &= constant
        elif operation == 6:
            return constant
        else:
            compared = {21: value == constant, 37: value > constant, 69: bool(value & constant)}[operation]
            at += if_true if compared else if_false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_by_number_and_argument_on_both_machines(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seccomp, "MACHINE", machine)
    which = machine == "aarch64"
    alone, isolated = ([*seccomp.program(isolated=each)] for each in (False, True))
    allowed, refused, absent = 32_767 << 16, 5 << 16 | 1, 5 << 16 | 38
    for number in [(0, 63)[which], (1, 64)[which], (59, 221)[which], (9, 222)[which], (61, 260)[which]]:
        assert filtered(alone, number) == filtered(isolated, number) == allowed
    for pair in ((41, 198), (165, 40), (101, 117), (272, 97), (425, 425), (76, 45)):
        assert filtered(alone, pair[which]) == filtered(isolated, pair[which]) == refused
    for number in (463, 500, 1 << 30, (1 << 32) - 1, 435, 437):
        assert filtered(alone, number) == absent
    assert (filtered(alone, (268, 53)[which]), filtered(isolated, (268, 53)[which])) == (refused, allowed)
    pair, opening, terminal, clone = (53, 199)[which], (257, 56)[which], (16, 29)[which], (56, 220)[which]
    for family, kind, answer in (
        (1, 1, allowed),
        (1, 1 | 1 << 19, allowed),
        (1, 2, refused),
        (2, 1, refused),
    ):
        assert filtered(alone, pair, (family, kind, 0, 0, 0, 0)) == answer
    for flags, answer in ((0, allowed), (0o1000, refused), (0o1001, allowed), (0o1002 | 0o100, allowed)):
        assert filtered(alone, opening, (0, 0, flags, 0, 0, 0)) == answer
    for request, answer in ((21505, allowed), (21522, refused), (21532, refused), (21522 | 1 << 32, refused)):
        assert filtered(alone, terminal, (0, request, 0, 0, 0, 0)) == answer
    for flags, answer in ((17, allowed), (17 | 1 << 28, refused), (1 << 29, refused), (0x3D0F00, allowed)):
        assert filtered(alone, clone, (flags, 0, 0, 0, 0, 0)) == answer
    limits = (302, 261)[which]
    assert (filtered(alone, limits, (7, 0, 0, 0, 0, 0)), filtered(isolated, limits, (7, 0, 0, 0, 0, 0))) == (
        refused,
        allowed,
    )
    assert filtered([(32, 0, 0, 4), (21, 1, 0, 0), (6, 0, 0, 1), (6, 0, 0, 2)], 0) == 1  # the machine above


def test_the_sandbox_costs_less_than_the_start_of_a_command(own: Rig) -> None:
    own.write("design.py", DESIGN)

    def spent(*options: str) -> float:
        before = os.times()
        assert own.run("run", *options, "design.py").returncode == 0
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    costs = [(spent("--sandbox"), spent()) for _ in range(3)]  # in turn: other programs slow both
    boxed, plain = map(min, zip(*costs, strict=True))
    assert boxed < 2 * plain, costs
