"""What the search of the built site finds first, asked in a real browser.

``PYTHONPATH=tests python tests/support/pages/search_rank.py SITE`` prints a line for each query.
"""

from __future__ import annotations

import functools
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from support.pages.browser import Page, opened

RIGHT: Mapping[str, tuple[str, ...]] = {
    "stuck": ("findings", "explain"),
    "deadlock": ("findings", "explain"),
    "packet id": ("array",),
    "bank conflict": ("allocation", "timing"),
    "padding": ("tilings",),
    "lock values": ("allocation", "array"),
    "notebook": ("notebooks",),
    "gemm": ("plan",),
    "coredump": ("explain", "board"),
    "how fast": ("speed",),
    "dead board": ("board",),
    "board": ("board",),
    "cite": ("design_space",),
}
"""What people search for, and the pages that answer it."""


def first_page(page: Page, address: str, query: str) -> str:
    """The name of the page that the search of a site lists first; empty = it finds none."""
    page.go(f"{address}/search.html?q={quote(query)}")
    page.wait(
        "/found|did not match/.test(document.querySelector('#search-results p.search-summary')?.textContent)"
    )
    link = page.evaluate("document.querySelector('#search-results li a')?.getAttribute('href') ?? ''")
    return str(link).partition(".html")[0]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def _served(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def main(site: Path) -> None:
    """Print for each query what is found first."""
    right = 0
    with _served(site) as address, tempfile.TemporaryDirectory() as profile:
        ready = "document.readyState === 'complete'"
        with opened(f"{address}/search.html", Path(profile), ready=ready) as page:
            for query, pages in RIGHT.items():
                found = first_page(page, address, query)
                right += found in pages
                print(f"{'right' if found in pages else 'WRONG':<6}{query:<15}{found}")
    print(f"{right} of {len(RIGHT)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
