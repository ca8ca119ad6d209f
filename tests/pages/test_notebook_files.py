"""Do the notebooks run from the top, and show what is kept in them, pictures included?"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from support.pages import notebook_files

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore:Proactor event loop")
PICTURES = {"find_hang": 3, "first_steps": 5, "tune_gemm": 4}


def test_there_is_a_notebook_for_each_subject() -> None:
    assert [path.stem for path in notebook_files.notebooks()] == sorted(PICTURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_notebook_runs_and_shows_what_it_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMTILE_TIMING")
    path = notebook_files.FOLDER / f"{name}.ipynb"
    kept, now = nbformat.read(path, as_version=4), notebook_files.ran(path)
    assert list(notebook_files.shown(now)) == list(notebook_files.shown(kept))
    assert now == kept, "make docs writes it as it is kept"


@pytest.mark.parametrize(("name", "number"), PICTURES.items())
def test_pictures_are_inline_and_well_formed(name: str, number: int) -> None:
    kept = nbformat.read(notebook_files.FOLDER / f"{name}.ipynb", as_version=4)
    pictures = notebook_files.pictures(kept)
    assert len(pictures) == number
    for svg in pictures:
        assert len(list(ElementTree.fromstring(svg).iter())) > 10
    assert "stderr" not in {kind for _, kind, _ in notebook_files.shown(kept)}


def test_that_something_was_compiled_is_not_kept() -> None:
    output = nbformat.v4.new_output
    said = output("stream", name="stderr", text="memtile: compiling the engine (once, ...) ...\n")
    cell = nbformat.v4.new_code_cell("1", outputs=[said, output("stream", name="stderr", text="other\n")])
    book = notebook_files.bare(nbformat.v4.new_notebook(cells=[cell]))
    assert list(notebook_files.shown(book)) == [(0, "stderr", "other\n")]


def test_keys_of_variants_are_kept_as_numbers() -> None:
    first, second = "data-variant='00112233445566aa'", "data-variant='ff112233445566bb'"
    data = {"image/svg+xml": f"<a {second}/><a {first}/><b {second}/>"}
    cell = nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("display_data", data)])
    book = notebook_files.bare(nbformat.v4.new_notebook(cells=[cell]))
    assert [text for _, _, text in notebook_files.shown(book)] == [
        "<a data-variant='0'/><a data-variant='1'/><b data-variant='0'/>"
    ]


def test_a_cell_that_fails_is_told(tmp_path: Path) -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 / 0")])
    nbformat.write(book, tmp_path / "bad.ipynb")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        notebook_files.ran(tmp_path / "bad.ipynb")
