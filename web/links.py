"""Links between files of the repository as links between pages of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_NONE: Mapping[str, str] = {}
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
_OUTSIDE = re.compile(r"[a-z]+:")


def linked(
    text: str, file: str, page: str, pages: Mapping[str, str], titles: Mapping[str, str] = _NONE
) -> str:
    """The text of a page with its links as they are on the site; code is left alone.

    Args:
        text: as it is in the repository.
        file: its path there.
        page: its path on the site.
        pages: path on the site of every file that is there, by its path in the repository.
        titles: heading of a page by its path in the repository; a link whose words are the name of the file
            has this instead.

    Returns:
        The text. A link to a file that is not on the site is the words of the link.
    """

    def change(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        path, mark, anchor = target.partition("#")
        if not path or _OUTSIDE.match(target):
            return match[0]
        there = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if there in titles and words.strip("`").endswith(posixpath.basename(there)):
            words = titles[there]
        if there not in pages:
            return words
        to = posixpath.relpath(pages[there], posixpath.dirname(page) or ".")
        return f"{picture}[{words}]({to}{mark}{anchor})"

    return _outside_code(text, lambda part: _LINK.sub(change, part))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    done, at = [], 0
    for block in _CODE.finditer(text):
        done += [change(text[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*done, change(text[at:])])
