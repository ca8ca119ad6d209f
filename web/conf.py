"""Settings of Sphinx for the site; ``build.py`` runs it over the pages that ``stage.py`` lays out."""

from __future__ import annotations

from pathlib import Path

from memtile import __version__

project = "memtile"
author = "memtile"
release = version = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_links_external_new_tab = False
html_theme = "furo"
_HERE = Path(__file__).parent  # where stage.py has laid out the pages
html_static_path = ["_static"] if (_HERE / "_static").is_dir() else []
html_css_files = ["site.css"] if html_static_path else []
html_search_scorer = str(_HERE / "search_scorer.js") if (_HERE / "search_scorer.js").is_file() else ""
html_favicon = "favicon.ico"
html_title = f"memtile {__version__}"
html_copy_source = False  # llms.txt names the pages as they are written
html_show_sphinx = False
html_show_copyright = False
suppress_warnings = ["myst.header"]  # the text of agents begins two levels lower
