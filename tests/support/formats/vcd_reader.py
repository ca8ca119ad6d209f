"""Value change dumps, read by the library that others read them with."""

from __future__ import annotations

from pathlib import Path

from vcd.reader import TokenKind, tokenize

PERIOD = 800  # ps at 1250 MHz


def read(path: Path) -> dict[str, list[tuple[int, str]]]:
    """name -> (time in ps, value), the initial value at time 0 first."""
    names, scope, now = {}, [], 0
    found: dict[str, list[tuple[int, str]]] = {}
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.SCOPE:
                scope.append(token.scope.ident)
            elif token.kind is TokenKind.UPSCOPE:
                scope.pop()
            elif token.kind is TokenKind.VAR:
                names[token.var.id_code] = ".".join([*scope, token.var.reference])
            elif token.kind is TokenKind.CHANGE_TIME:
                now = token.time_change
            elif token.kind in (TokenKind.CHANGE_SCALAR, TokenKind.CHANGE_VECTOR, TokenKind.CHANGE_STRING):
                found.setdefault(names[token.data.id_code], []).append((now, str(token.data.value)))
    found["end"] = [(now, "")]
    return found
