"""Builds the site: ``python web/build.py FOLDER``. Any warning ends it: links, pages in no part, code.

The site is a folder of files for any web server, and most of it can be read from disk.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

import gallery
import llms
import playground_files
from stage import descriptions, examples, stage


def build(site: Path, *, playground: bool = True) -> int:
    """Build the site into a folder, which is made anew.

    Args:
        site: the folder.
        playground: with the files that the browser runs, 17 MB of Pyodide and NumPy among them.

    Returns:
        0, or what Sphinx ends with.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, reports, work = (Path(folder, name) for name in ("source", "reports", "work"))
        for each in (source, reports, work):
            each.mkdir()
        stage(source)
        gallery.write([gallery.run(path, reports, work) for path in examples()], source / "gallery")
        shutil.rmtree(site, ignore_errors=True)
        code = pages_built(source, site, work / "trees")
        if code:
            return code
        shutil.copytree(reports, site / "reports")
        shutil.copy(source / "favicon.ico", site)  # pages without a link to it ask for it here
        llms.write(source, site, descriptions())
    if playground:
        playground_files.write(site / "playground")
    return 0


def pages_built(source: Path, site: Path, trees: Path) -> int:
    """Run Sphinx; 0 if there was nothing to warn of. What it has parsed goes to ``trees``."""
    strictly = ["-q", "-W", "--keep-going", "-n"]
    return int(build_main([*strictly, "-b", "html", "-d", str(trees), str(source), str(site)]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--without-playground", action="store_true", help="nothing is fetched")
    given = parser.parse_args()
    sys.exit(build(given.folder.resolve(), playground=not given.without_playground))
