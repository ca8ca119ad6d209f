"""Settings of Sphinx for the site; ``build.py`` runs it over the pages that ``stage.py`` lays out."""

from __future__ import annotations

from memtile import __version__

project = "memtile"
author = "the authors of memtile"
release = version = __version__
extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_links_external_new_tab = False
html_theme = "furo"
html_favicon = "favicon.ico"
html_title = f"memtile {__version__}"
html_copy_source = False  # llms.txt names the pages as they are written
html_show_sphinx = False
suppress_warnings = ["myst.header"]  # the text of agents begins two levels lower
