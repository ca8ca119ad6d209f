"""``--sandbox``: the same command again, in a process that may write below one folder alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from memtile.errors import InputFileError, Problem
from memtile.sandbox.policy import GIGABYTE, MEMORY, Policy, folders_of, installation, is_broad

Sandbox = Annotated[
    bool,
    typer.Option(
        "--sandbox/--no-sandbox", help="Confine the command: files below --root, no network, limits; Linux."
    ),
]
Root = Annotated[
    Path | None,
    typer.Option("--root", metavar="DIR", help="Folder that a sandbox may write; else the working folder."),
]
Memory = Annotated[
    float | None,
    typer.Option("--sandbox-memory", min=0.5, metavar="GB", help="Memory of each process of a sandbox, 4 GB."),
]
ARGUMENTS = "memtile.arguments"
"""Where the context has the arguments of the command line."""
_SWITCHES, _WITH_VALUE = ("--sandbox",), ("--root", "--sandbox-memory")
_PREPARE = (
    "from memtile.sim.warmup import ready; from memtile.sim.races.watch import prepare; ready(); prepare()"
)


class SandboxOptions:
    """What the command line says of a sandbox.

    Args:
        wanted: ``--sandbox``.
        root: ``--root``.
        memory: ``--sandbox-memory``.
    """

    def __init__(self, wanted: bool, root: Path | None, memory: float | None) -> None:
        if not wanted and (root is not None or memory is not None):
            raise typer.BadParameter("--root and --sandbox-memory are for --sandbox. Give it too.")
        self._wanted, self._root, self._memory = wanted, root, memory

    def enter(
        self, context: typer.Context, inputs: Sequence[object], outputs: Mapping[str, object | None]
    ) -> None:
        """Run the command of the context in a sandbox, and end as it does; without ``--sandbox`` do nothing.

        Args:
            context: of the command.
            inputs: files and folders that it reads.
            outputs: files that it writes, by option; None = not given.

        Raises:
            InputFileError: this system has no sandbox, or an output is not below its root.
        """
        if not self._wanted:
            return
        from memtile.sandbox.start import PYTHON, confined, require

        require(f"{context.command_path} --sandbox")
        policy = sandbox_policy(root_of(self._root), self._memory or MEMORY, inputs)
        _check_below(Path(policy.root), outputs)
        start = confined(policy, (*PYTHON, "memtile", *_without(context.meta[ARGUMENTS])))
        _replace(start.command, start.environment)


def root_of(given: Path | None) -> Path:
    """Return the folder that may be written, resolved.

    Raises:
        InputFileError: it is no folder; or it was not given, and the working folder has all files of the user in it.
    """
    root = (given or Path.cwd()).resolve()
    if given is None and is_broad(root):
        says = f"the working folder {root} holds the home folder, and all of it could be written"
    elif not root.is_dir():
        says = f"{given} is no folder"
    else:
        return root
    raise InputFileError(
        Problem(
            reason="sandbox_root",
            where="sandbox",
            field="--root",
            given=str(root),
            allowed="a folder for the files of one project",
            source="what runs inside may write below its root",
            next_step="Name a folder: --root DIR.",
            says=says,
        )
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
    compiled = _compiled()
    return Policy(
        root=str(root),
        reads=folders_of([str(each) for each in inputs]),
        protected=(*installation(), *(str(each.parents[1]) for each in compiled[:1])),
        copies=tuple(_copies(compiled)),
        memory=int(memory * GIGABYTE),
    )


def _compiled() -> list[Path]:
    """Folders of the cache with the engine, which is compiled if it is not there."""
    if os.environ.get("MEMTILE_JIT") == "0":
        return []
    from memtile.jit.cache import cache_directory
    from memtile.jit.carried import FOLDER, WANTED
    from memtile.sim.sources import ENGINE, RACES

    folders = [cache_directory(sources) for sources in (ENGINE, RACES)]
    if not (FOLDER.is_dir() and WANTED) and not all(any(each.glob("*.*")) for each in folders):
        _compile(folders[0].parents[1])
    return folders


def _compile(cache: Path) -> None:
    """Compile the engine into the cache, in a sandbox in which no design runs."""
    from memtile.sandbox.start import confined

    policy = Policy(root=str(cache), variables=())
    variables = {**os.environ, "MEMTILE_CACHE": str(cache)}
    start = confined(policy, (sys.executable, "-P", "-c", _PREPARE), variables)
    # what goes wrong here goes wrong again inside, and is said there
    subprocess.run(start.command, env=start.environment, stdin=subprocess.DEVNULL, check=False)


def _copies(compiled: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """What a command in a sandbox gets copies of: compiled engines, and what matplotlib knows of fonts."""
    for folder in compiled:
        yield str(folder), f"cache/jit/{folder.name}"
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    for file in Path(os.environ.get("MPLCONFIGDIR") or caches / "matplotlib").glob("fontlist-*.json"):
        yield str(file), f"matplotlib/{file.name}"


def _check_below(root: Path, outputs: Mapping[str, object | None]) -> None:
    outside = [(name, file) for name, file in outputs.items() if file is not None]
    problems = [
        Problem(
            reason="sandbox_root",
            where="sandbox",
            field=name,
            given=str(file),
            allowed=f"below {root}",
            source="a command in a sandbox writes below its root alone",
            next_step="Name a folder that holds all files of the command: --root DIR.",
        )
        for name, file in outside
        if not Path(str(file)).resolve().is_relative_to(root)
    ]
    if problems:
        raise InputFileError(problems)


def _without(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments without those of the sandbox; what follows ``--`` are no options."""
    left = iter(arguments)
    for each in left:
        if each == "--":
            yield from (each, *left)
        elif each in _WITH_VALUE:
            next(left, None)
        elif each not in _SWITCHES and each.partition("=")[0] not in _WITH_VALUE:
            yield each


def _replace(command: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Become another program."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(command[0], command, variables)
