"""A command again, in a process that may write below one folder alone: what ``--sandbox`` does.

It works on the words of the command line, before the parser is loaded: to load that twice would take longer
than all else.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from memtile.errors import InputFileError, MemtileError, Problem
from memtile.sandbox.policy import GIGABYTE, MEMORY, Policy, folders_of, installation, is_broad

COMMANDS = ("run", "check", "survey", "test")
SWITCH, ROOT, LIMIT = "--sandbox", "--root", "--sandbox-memory"
OUTPUTS = ("--coredump", "--out", "--out-folder", "--perfetto", "--picture", "--record", "--report", "--vcd")
"""Options of the commands that name a file which is written; ``--out`` has it behind an equals sign."""
OF_TESTS = (*OUTPUTS, "--junit", "--sarif", "--markdown")
"""Likewise of ``memtile test``, where these name files."""
LEAST_MEMORY = 0.5
"""Gigabytes."""
_OFF, _END_OF_OPTIONS = "--no-sandbox", "--"
_MEMTILE = (sys.executable, "-P", "-m", "memtile")
_PREPARE = "\n".join(
    (
        "from memtile.sim.loop.engine_warmup import ready",
        "from memtile.sim.races.race_watch import prepare",
        "ready(); prepare()",
    )
)


def is_wanted(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for a sandbox, and its command has one."""
    switches = [each for each in _options(arguments) if each in (SWITCH, _OFF)]
    return bool(switches) and switches[-1] == SWITCH and arguments[0] in COMMANDS


def _options(arguments: Sequence[str]) -> Sequence[str]:
    """The words that may be options: those before ``--``."""
    return arguments[: arguments.index(_END_OF_OPTIONS)] if _END_OF_OPTIONS in arguments else arguments


def enter(arguments: Sequence[str]) -> NoReturn:
    """Run a command line in a sandbox instead of this process, which ends as it does.

    What is named on the command line may be read, with the folder that it is in.

    Args:
        arguments: all behind the name of the program.

    Raises:
        InputFileError: this system has no sandbox, or an output is not below its root.
    """
    from memtile.sandbox.start import confined, require

    require(f"memtile {arguments[0]} {SWITCH}")
    values = dict(_values(arguments))
    root = root_of(values.get(ROOT))
    outputs = OF_TESTS if arguments[0] == "test" else OUTPUTS
    _check_outputs(root, [(name, value) for name, value in _values(arguments) if name in outputs])
    named = [
        each for word in arguments[1:] for each in (word, word.rpartition("=")[2]) if os.path.exists(each)
    ]
    policy = sandbox_policy(root, _gigabytes(values.get(LIMIT)), named)
    start = confined(policy, (*_MEMTILE, *_without(arguments)))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(start.command[0], start.command, start.environment or {})


def _values(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Long options that have values, or seem to."""
    words = _options(arguments)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name.startswith("--"):
            yield name, value if equals else following


def _gigabytes(text: str | None) -> float:
    try:
        found = MEMORY if text is None else float(text)
    except ValueError:
        found = 0.0
    if LEAST_MEMORY <= found < float("inf"):
        return found
    raise InputFileError.of(
        LIMIT,
        str(text),
        f"a number of gigabytes, at least {LEAST_MEMORY:g}",
        reason="sandbox_memory",
        where="sandbox",
        source="the engine alone needs that much",
    )


def root_of(given: str | None) -> Path:
    """Return the folder that may be written, resolved.

    Raises:
        InputFileError: it is no folder; or it is the working folder, which holds all files of the user.
    """
    root = Path(given or Path.cwd()).resolve()
    if given is None and is_broad(root):
        says = f"the working folder {root} holds the home folder, and all of it could be written"
    elif not root.is_dir():
        says = f"{given} is no folder"
    else:
        return root
    raise InputFileError.of(
        "--root",
        str(root),
        "a folder for the files of one project",
        says,
        "Name a folder: --root DIR.",
        reason="sandbox_root",
        where="sandbox",
        source="what runs inside may write below its root",
    )


def sandbox_policy(root: Path, memory: float, inputs: Sequence[object]) -> Policy:
    """Return what a command in a sandbox may do; compiles the engine first where the cache has none.

    The cache itself is never writable for what runs inside: later runs load machine code from it. It gets a
    copy.

    Args:
        root: folder that may be written.
        memory: gigabytes for each process.
        inputs: files and folders that it reads beside those below the root.
    """
    engines = _engines()
    return Policy(
        root=str(root),
        reads=folders_of([str(each) for each in inputs], root),
        protected=(*installation(), *(str(each.parents[1]) for each in engines)),
        copies=tuple(_copies(engines)),
        memory=int(memory * GIGABYTE),
    )


def _engines() -> list[Path]:
    """Folders of the cache with compiled engines, which are compiled if they are not there."""
    from memtile.jit.bundled_engine import FOLDER, WANTED
    from memtile.jit.cache import cache_directory
    from memtile.sim.loop.compiled_sources import ENGINE, RACES

    interpreted = os.environ.get("MEMTILE_JIT") == "0"
    try:
        folders = [cache_directory(sources) for sources in (ENGINE, RACES)]
    except MemtileError:
        if interpreted:
            return []
        raise
    there = (
        interpreted
        or (WANTED and any(FOLDER.glob("*.object")))
        or all(any(each.glob("*.*")) for each in folders)
    )
    if not there:
        _compile(folders[0].parents[1])
    return folders


def _compile(cache: Path) -> None:
    """Compile the engine into the cache, in a sandbox in which no design runs."""
    from memtile.sandbox.start import confined

    policy = Policy(root=str(cache), variables=())
    variables = {**os.environ, "MEMTILE_CACHE": str(cache)}
    start = confined(policy, (sys.executable, "-P", "-c", _PREPARE), variables)
    # what goes wrong here goes wrong again inside, and is said there
    quiet = subprocess.DEVNULL
    subprocess.run(start.command, env=start.environment, stdin=quiet, stdout=quiet, check=False)


def _copies(engines: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """What a command in a sandbox gets copies of: compiled engines, and what matplotlib knows of fonts."""
    for folder in engines:
        yield str(folder), f"cache/jit/{folder.name}"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    for file in Path(os.environ.get("MPLCONFIGDIR") or caches / "matplotlib").glob("fontlist-*.json"):
        yield str(file), f"matplotlib/{file.name}"


def _check_outputs(root: Path, options: Sequence[tuple[str, str]]) -> None:
    files = [(name, value.rpartition("=")[2]) for name, value in options]
    problems = [
        Problem(
            name,
            file,
            f"below {root}",
            next_step=f"Name a folder that holds all files of the command: {ROOT} DIR.",
            reason="sandbox_root",
            where="sandbox",
            source="a command in a sandbox writes below its root alone",
        )
        for name, file in files
        if not Path(file).resolve().is_relative_to(root)
    ]
    if problems:
        raise InputFileError(problems)


def _without(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments without those of the sandbox; what follows ``--`` are no options."""
    left = iter(arguments)
    for each in left:
        if each == _END_OF_OPTIONS:
            yield from (each, *left)
        elif each in (ROOT, LIMIT):
            next(left, None)
        elif each not in (SWITCH, _OFF) and each.partition("=")[0] not in (ROOT, LIMIT):
            yield each
