"""Is the map of the source true: does all that CONTRIBUTING.md and docs/architecture.md name exist?"""

from __future__ import annotations

import importlib
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.pages.prose_names import Source

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "memtile"
CONTRIBUTING, ARCHITECTURE = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "docs/architecture.md")
)
MAP = runpy.run_path(str(ROOT / "docs" / "rooms.py"))
HOMES = (ROOT, SOURCE, ROOT / "tests")  # where a path of the pages may begin
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*(?:/|\.(?:py|md|json|txt|toml|lock|html|c))|[\w.-]+(?:/[\w.*-]+)+")
THINGS = (
    "a register; a column of the state; a class of column; a guard of fast-forward; an event; "
    "a finding; an option of a run; a timing constant; a stall cause; a device; "
    "an operation in bodies of cores; "
    "another operation of MLIR; a front end; a rule of `memtile check`; a public name; "
    "a command; a page; a room"
)
"""What somebody may want to add."""
MADE = (".cache", ".venv", "dist")  # what commands make


def code_of(page: str) -> list[str]:
    """What a page has between backticks, without the blocks of code."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", page, flags=re.M | re.S))


def paths_in(page: str) -> Iterator[str]:
    """The paths that a page names."""
    for words in code_of(page):
        for word in words.split():
            if PATH.fullmatch(word) and not word.startswith(MADE) and "NAME" not in word:
                yield word


def is_there(path: str) -> bool:
    """Whether something is at a path that is not empty."""
    found = [place for home in HOMES for place in home.glob(path.rstrip("/"))]
    return any(any(place.iterdir()) if place.is_dir() else place.stat().st_size > 0 for place in found)


def named(name: str) -> Any:
    """What a dotted name stands for.

    Raises:
        LookupError: it stands for nothing.
    """
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            if not hasattr(found, part):
                raise LookupError(name)
            found = getattr(found, part)
        return found
    raise LookupError(name)


def wrong_homes(page: str) -> Iterator[str]:
    """Names that a page puts into a file which does not have them."""
    plain = re.sub(r"\s+", " ", page)
    for words, path in re.findall(r"((?:`\w+`(?:, | and | or )?)+) (?:in|of) `([\w/*.]+\.py)`", plain):
        texts = "".join(place.read_text("utf-8") for home in HOMES for place in home.glob(path))
        for name in re.findall(r"`(\w+)`", words):
            if not re.search(rf"\b{name}\b", texts):
                yield f"{name} of {path}"


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("`model/axi.py` and `tests/words`", []),
        ("`model/gone.py`, `tests/nowhere`, `arch/*_registers.py`", ["model/gone.py", "tests/nowhere"]),
        ("```\n`model/gone.py`\n```\n`python tests/gone.py --cases 7`", ["tests/gone.py"]),
    ],
)
def test_a_path_that_leads_nowhere_is_found(page: str, found: list[str]) -> None:
    assert [path for path in paths_in(page) if not is_there(path)] == found


def test_an_empty_folder_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "HOMES", (tmp_path,))
    (tmp_path / "room").mkdir()
    assert not is_there("room/")
    (tmp_path / "room" / "idea.py").write_text("1\n", encoding="utf-8")
    assert is_there("room/")


TEXTS = {
    "of a class": ("``Walk.steps`` and ``parts.Walk.steps``", []),
    "a module": ("``room.parts``, ``parts`` and ``attic.parts``", ["attic.parts"]),
    "what a module lacks": ("``parts.Walk``, ``parts.gone``", ["parts.gone"]),
    "what a class lacks": ("``Walk.gone`` and ``parts.Walk.gone``", ["Walk.gone", "parts.Walk.gone"]),
    "roles": (":class:`Walk`, :func:`near`, :func:`far`", ["far"]),
    "from elsewhere": ("``numpy.pad``, ``scf.for``, ``mm.cc``, ``room/parts.py``, ``gone.py``", ["gone.py"]),
    "of the code around": ("``near.given`` and ``other.given``", ["other.given"]),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_name_in_a_docstring_that_stands_for_nothing_is_found(tmp_path: Path, case: str) -> None:
    text, found = TEXTS[case]
    folder = tmp_path / "src" / "pack" / "room"
    folder.mkdir(parents=True)
    (folder / "parts.py").write_text(
        "class Base:\n    steps: int\n\n\nclass Walk(Base):\n    pass\n", "utf-8"
    )
    (folder / "user.py").write_text(f'"""{text}"""\n\ndef near(given): ...  # {text}\n', "utf-8")
    source = Source(tmp_path / "src" / "pack")
    assert [*source.strange("pack.room.user")] == [*found, *found]


def test_what_docstrings_and_comments_name_exists() -> None:
    source = Source(SOURCE)
    assert [f"{module}: {name}" for module in source.paths for name in source.strange(module)] == []


@pytest.mark.parametrize("page", [CONTRIBUTING, ARCHITECTURE], ids=["CONTRIBUTING.md", "architecture.md"])
def test_every_path_leads_somewhere(page: str) -> None:
    assert sorted({path for path in paths_in(page) if not is_there(path)}) == []


def test_names_are_where_the_pages_say() -> None:
    assert list(wrong_homes("`act_on_write` or `gone` of `model/axi.py`")) == ["gone of model/axi.py"]
    assert [*wrong_homes(CONTRIBUTING), *wrong_homes(ARCHITECTURE)] == []


def test_every_function_of_the_walks_exists() -> None:
    walks = set(re.findall(r"`(memtile(?:\.\w+)+)`", ARCHITECTURE))
    assert len(walks) > 40
    missing = []
    for name in sorted({*walks, "memtile.model.axi.gone"}):
        try:
            named(name)
        except LookupError as error:
            missing += error.args
    assert missing == ["memtile.model.axi.gone"]


def test_every_room_is_on_the_map() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", CONTRIBUTING, re.MULTILINE)
    told = [room for row in rows for room in re.findall(r"`(\w+)`", row)]
    assert sorted(told) == MAP["rooms"]()
    layers = re.findall(r"^\| (\w[\w ]*) \| [^|]+\? \| (.+) \|$", ARCHITECTURE, re.MULTILINE)
    drawn = {layer: sorted(set(re.findall(r"`(\w+)`", text))) for layer, text in layers}
    assert drawn == {
        layer: sorted({*members} & {*MAP["rooms"]()}) for layer, (_, members) in MAP["LAYERS"].items()
    }


def test_a_room_without_a_layer_is_told() -> None:
    with pytest.raises(LookupError, match=r"room attic: name it in a layer of docs/rooms.py"):
        MAP["layer_of"]("attic")


def test_arrows_that_others_imply_are_left_out() -> None:
    graph = {name: frozenset(below) for name, below in {"cli": "", "sim": "", "bd": ""}.items()}
    graph |= {"cli": frozenset({"sim", "bd"}), "sim": frozenset({"bd"})}
    assert MAP["arrows"](graph) == {"cli": {"sim"}, "sim": {"bd"}, "bd": set()}
    assert MAP["order"](graph) == ["cli", "sim", "bd"]


def test_the_picture_of_the_rooms_is_the_present_one() -> None:
    assert MAP["draw"]() == MAP["PICTURE"].read_text(encoding="utf-8"), "make docs draws it anew"


def test_each_thing_that_can_be_added_has_its_entry_once() -> None:
    heads = re.findall(r"^- \*\*(.+?)\*\*", CONTRIBUTING.split("## How to add")[1], re.MULTILINE)
    assert set(THINGS.split("; ")) <= set(heads)
    assert len(heads) == len(set(heads))
