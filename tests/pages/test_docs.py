"""Does every page do what it says: do its examples run, print what is shown, and its links lead somewhere?"""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from memtile.model.build.model import build
from memtile.model.state.tile_columns import Placed
from memtile.sim.loop.engine_warmup import warm_up
from support.pages import command_table, pages

ROOT = pages.ROOT
PAGES = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")))
}
RUNNING = [name for name, text in PAGES.items() if any(pages.blocks(text))]


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNNING)
def test_blocks_of_a_page_run_and_print_what_it_shows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the constants of each device's board, as whoever reads the page has them."""
    monkeypatch.delenv("MEMTILE_TIMING")
    warm_up(build([Placed("memory")]))  # a command would say on stderr that it compiles
    differences = [
        f"{name}:{block.line} shows\n{block.shown}but prints\n{output}"
        for block, output in pages.outputs(name, PAGES[name])
        if not pages.same(block, output)
    ]
    assert not differences, "\n".join(differences)


def test_the_pages_that_teach_have_blocks() -> None:
    assert {"README.md", "docs/tutorial.md"} <= set(RUNNING)


PAGE = """
```python
a = 5
print("b")
a
```

```text
{shown}
```

<!-- not run: it never ends -->
```python
raise SystemExit
```

```console
$ echo one
one
$ echo two >&2
two
```
"""


def test_a_wrong_output_is_seen_and_put_right_and_a_block_left_out_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    wrong, right = PAGE.format(shown="b\n6"), PAGE.format(shown="b\n5")
    assert [pages.same(*ran) for ran in pages.outputs("page", wrong)] == [False, True]
    assert [pages.same(*ran) for ran in pages.outputs("page", right)] == [True, True]
    assert "page:15: not run: it never ends\n" in capsys.readouterr().out
    assert pages.rewritten("page", wrong) == right


def test_output_that_a_page_does_not_show_is_a_difference() -> None:
    ((block, output),) = pages.outputs("page", "```python\nprint(1)\n```\n")
    assert output == "1\n"
    assert not pages.same(block, output)


def test_commands_between_outputs_are_not_written_over() -> None:
    with pytest.raises(ValueError, match="page:2: write the new output by hand"):
        pages.rewritten("page", "```console\n$ echo one\nnone\n$ echo two\ntwo\n```\n")


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{name}: {link}"
        for name, text in PAGES.items()
        for link in re.findall(
            r"\]\(([^)#]+)(?:#[^)]*)?\)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        )
        if "://" not in link and not ((ROOT / name).parent / link).exists()
    ]
    assert broken == []


def test_every_page_is_in_the_table_of_pages() -> None:
    listed = set(re.findall(r"^\| \[(.+?)\]\(\1\)", PAGES["docs/README.md"], re.MULTILINE))
    assert listed == {Path(name).name for name in PAGES if name.startswith("docs/")} - {"README.md"}


def test_what_the_glossary_points_at_is_there() -> None:
    named = re.findall(r"`([a-z_0-9]+(?:/[a-z_0-9]+)*(?:/|\.py))`", PAGES["docs/glossary.md"])
    assert len(named) > 30
    assert [path for path in named if not (ROOT / "src/memtile" / path).exists()] == ["src/memtile/"]


def test_readme_lists_every_command_as_its_help_has_it() -> None:
    assert PAGES["README.md"].count(command_table.TABLE.mark) == 1
    assert command_table.TABLE.in_page(PAGES["README.md"]) == PAGES["README.md"], "make docs writes it anew"


@pytest.mark.slow
def test_the_pictures_of_the_pages_can_be_drawn_again(tmp_path: Path) -> None:
    """Of tilings one, and the report of a smaller run."""
    draw = runpy.run_path(str(ROOT / "docs" / "pictures.py"))["draw"]
    drawn = draw(tmp_path, tilings=["halo"], run=["examples/transpose.py"])
    assert len(drawn) >= 4
    for path in drawn:
        new, kept = imread(path), imread(ROOT / "docs" / "pictures" / path.name)
        assert new.shape == kept.shape
        weights = 256 ** np.arange(new.shape[-1])
        assert len(np.unique((new * 255).astype(np.int64) @ weights)) > 20  # not an empty page
