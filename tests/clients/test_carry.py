"""Are the wheels that carry an engine wheels, for all platforms and for this, with all their files?"""

from __future__ import annotations

import ast
import base64
import csv
import hashlib
import subprocess
import sys
import zipfile
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

import memtile
from memtile.jit.decorators import ENTRIES

SCRIPT = Path(__file__).parents[2] / ".ci" / "carry"
SOURCES = Path(memtile.__file__).parent
INFO = "memtile-0.1.0.dist-info"
FILES = {
    "memtile/__init__.py": b"",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n\n",
    f"{INFO}/RECORD": b"",
}
ENGINE = {"memtile/engines/operate.object": bytes(range(256))}
BITCODE = {"memtile/engines/operate.bitcode": bytes(range(255, -1, -1))}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = SourceFileLoader("carry", str(SCRIPT))
    spec = spec_from_loader("carry", loader)
    assert spec is not None
    found = module_from_spec(spec)
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        loader.exec_module(found)
    finally:
        sys.dont_write_bytecode = before
    return found


@pytest.fixture
def pure(tmp_path: Path) -> Path:
    path = tmp_path / "memtile-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in FILES.items():
            archive.writestr(name, content)
    return path


def repacked(script: ModuleType, pure: Path) -> Path:
    """The wheel for this platform."""
    tag = f"py3-none-{script.platform_tag()}"
    new = pure.with_name(pure.name.replace(script.PURE, tag))
    script.repack(pure, new, tag, ENGINE)
    return new


def test_a_wheel_for_all_platforms_gets_bitcode_and_stays_one(script: ModuleType, pure: Path) -> None:
    script.repack(pure, pure, script.PURE, BITCODE)
    with zipfile.ZipFile(pure) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files.pop(f"{INFO}/RECORD").startswith(b"memtile/__init__.py,sha256=")
    assert files == {name: content for name, content in (FILES | BITCODE).items() if name in files}
    assert files.keys() >= BITCODE.keys()
    with zipfile.ZipFile(repacked(script, pure)) as archive:
        assert {*BITCODE, *ENGINE} <= {*archive.namelist()}


def test_a_wheel_with_an_engine_is_for_this_platform_alone(script: ModuleType, pure: Path) -> None:
    before = pure.read_bytes()
    new = repacked(script, pure)
    assert pure.read_bytes() == before
    *_, tags = parse_wheel_filename(new.name)
    assert all(tag.platform != "any" for tag in tags)
    assert set(sys_tags()) & tags
    with zipfile.ZipFile(new) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    about = files.pop(f"{INFO}/WHEEL").decode().splitlines()
    assert {line.removeprefix("Tag: ") for line in about if line.startswith("Tag:")} == {*map(str, tags)}
    assert "Root-Is-Purelib: false" in about
    assert "Root-Is-Purelib: true" not in about
    assert about[:2] == ["Wheel-Version: 1.0", "Generator: us"]
    del files[f"{INFO}/RECORD"]
    assert files == {name: content for name, content in (FILES | ENGINE).items() if name in files}
    assert files.keys() >= ENGINE.keys()


def test_the_record_has_all_files_with_their_hashes(script: ModuleType, pure: Path) -> None:
    with zipfile.ZipFile(repacked(script, pure)) as archive:
        rows = list(csv.reader(archive.read(f"{INFO}/RECORD").decode().splitlines()))
        assert sorted(row[0] for row in rows) == sorted(archive.namelist())
        for name, digest, length in rows:
            content = archive.read(name)
            hashed = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            expected = ("", "") if name.endswith("RECORD") else (f"sha256={hashed}", str(len(content)))
            assert (digest, length) == expected


def carry(wheel: Path) -> str:
    run = subprocess.run([sys.executable, SCRIPT, wheel], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    return run.stderr


def test_another_package_than_that_of_the_wheel_is_refused(pure: Path) -> None:
    assert "memtile/__init__.py in " in (said := carry(pure))
    assert said.endswith("is another one than in memtile-0.1.0-py3-none-any.whl. Install that wheel.\n")


def test_a_wheel_for_a_platform_is_refused(tmp_path: Path) -> None:
    name = "memtile-0.1.0-py3-none-win_amd64.whl"
    assert carry(tmp_path / name) == (
        f"{name} is not for all platforms; its name must end with py3-none-any.whl.\n"
    )


def entries_in(text: str) -> list[str]:
    """Names of the functions of a module that Python calls compiled."""
    return [
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "entry"
    ]


def test_every_entry_is_carried() -> None:
    modules = [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")]
    known = {name for text in modules if "@entry(" in text for name in entries_in(text)}
    assert known == {"operate", "read_through"}
    for module in ("memtile.sim.loop.engine_warmup", "memtile.sim.races.race_watch"):  # as it imports them
        import_module(module)
    assert {entry.__name__ for entry in ENTRIES} >= known  # what .ci/carry goes through
