"""Draws the pictures of the pages: ``make docs`` runs it.

What is drawn from tables of the hardware, from descriptors and from short runs is in
``tests/support/drawings``; the rest shows what examples and benchmarks do.
"""

from __future__ import annotations

import importlib
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memtile import save_cycles, tiles_figure

HERE = Path(__file__).parent
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--virtual-time-budget=9000")
LOOK = "track=memory(0,1)%20MM2S%201&cycle=66500&from=52000&to=80000&top"
TILINGS = ("halo", "t1", "border")
GEMM = ("examples/gemm.py", "--set", "columns=4")


def draw(directory: Path, *, tilings: Sequence[str] = TILINGS, run: Sequence[str] = GEMM) -> list[Path]:
    """Draw all pictures; the files that are photographs of an output.

    Args:
        directory: where they go.
        tilings: the examples of tilings that are drawn.
        run: the design whose report is shown, with its options.
    """
    draw_all(directory)
    shown = [draw_tiling(name, directory) for name in tilings]
    return [*draw_run(directory), *shown, *draw_report(directory, run), draw_speed(directory)]


def draw_all(directory: Path) -> None:
    """The drawn pictures, as SVG."""
    sys.path.insert(0, str(HERE.parent / "tests"))
    for name, text in importlib.import_module("support.drawings.drawings").drawn().items():
        (directory / name).write_text(text, encoding="utf-8")


def draw_speed(directory: Path) -> Path:
    """What the records of the benchmarks say of growth and of rates."""
    history = runpy.run_path(str(HERE.parent / "benchmarks" / "history.py"))
    picture: Path = history["draw"](history["records"](), directory / "speed.png")
    return picture


def draw_tiling(name: str, directory: Path) -> Path:
    """What ``memtile lower --picture`` makes of an example tiling."""
    memtile, picture = Path(sys.executable).with_name("memtile"), directory / f"tiling_{name}.png"
    example = HERE.parent / "examples" / "tilings" / f"{name}.json"
    subprocess.run([memtile, "lower", example, "--picture", picture], check=True, stdout=subprocess.DEVNULL)
    return picture


def draw_report(directory: Path, design: Sequence[str]) -> list[Path]:
    """The report of a run as a browser shows it; none without Chromium."""
    browser, memtile = shutil.which("chromium"), Path(sys.executable).with_name("memtile")
    if browser is None:
        return []
    picture = directory / "report.png"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        run: list[str | Path] = [memtile, "run", *design, "--report", page]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL, cwd=HERE.parent)
        shot = [f"--screenshot={picture}", "--window-size=1280,1330", f"--user-data-dir={folder}/profile"]
        place = f"{page.as_uri()}#{LOOK}"
        subprocess.run([browser, *FLAGS, *shot, place], check=True, stderr=subprocess.DEVNULL)
    return [picture]


def draw_run(directory: Path) -> list[Path]:
    """Run the halo example once and draw its cycles and its tiles; the files written."""
    example = runpy.run_path(str(HERE.parent / "examples" / "halo_tiling.py"))
    result = example["design"]().run()
    cycles, tiles = directory / "halo_cycles.png", directory / "halo_tiles.png"
    save_cycles(result, cycles)

    halo, rows, columns = example["HALO"], example["ROWS"], example["COLUMNS"]
    tile = (rows + 2 * halo, columns + 2 * halo)
    shape = (example["FRAMES"], example["BANDS"], *tile, example["CHANNELS"])
    lanes = [result.outputs[f"MM2S {lane}"].reshape(shape) for lane in range(example["LANES"])]
    tiles_of_first_frame = np.stack([lane[0, ..., 0] for lane in lanes], axis=1)
    figure = tiles_figure(
        example["feature_map"](example["SIZE"], example["CHANNELS"])[:, :, 0],
        tiles_of_first_frame,
        first=(-halo, -halo),
        stride=(rows, columns),
        marked=((0, 0), (2, 2), (2, 3), (6, 4)),
    )
    figure.savefig(tiles, dpi=110)
    return [cycles, tiles]


if __name__ == "__main__":
    draw(HERE / "pictures")
