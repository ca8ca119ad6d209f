"""The section ``[aie]`` of a configuration file of ``v++``: options of the compiler, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from memtile.cli.amd_tools.command_line import CommandLine, Option, Table, Takes, read_command_line
from memtile.input_files import read_text

_FALSE = ("false", "0", "no", "off")


def with_config(line: CommandLine, files: Sequence[str], table: Table) -> CommandLine:
    """A command line with the options of its configuration files, which come before its own.

    Args:
        line: as it was given.
        files: configuration files in their order.
        table: options that may stand in them.

    Raises:
        InputFileError: a file cannot be read.
        DesignError: it has options that are not known.
    """
    if not files:
        return line
    words = [word for name in files for word in _words(Path(name), table)]
    found = read_command_line(words, table)
    for key, values in line.values.items():
        found.values.setdefault(key, []).extend(values)
    found.files = line.files
    found.without_effect += [each for each in line.without_effect if each not in found.without_effect]
    return found


def _words(file: Path, table: Table) -> Iterator[str]:
    """The options of a file as words of a command line."""
    section = ""
    for text in read_text(file).splitlines():
        text = text.strip()
        if text.startswith("[") and "]" in text:
            section = text[1 : text.index("]")].strip()
        elif text and not text.startswith(("#", ";")) and section in ("", "aie"):
            yield from _option(text, section, table)


def _option(text: str, section: str, table: Table) -> Iterator[str]:
    """One line: ``pl-freq=312.5``, ``verbose=true``; outside of the section it has the prefix ``aie.``."""
    name, equals, value = (part.strip() for part in text.partition("="))
    option: Option | None = table.find(name.removeprefix("aie.") if not section else name)
    is_switch = option is not None and option.takes in (Takes.NOTHING, Takes.OPTIONAL)
    if is_switch and value.lower() in _FALSE:
        return
    value = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
    name = name.removeprefix("aie.") if not section else name
    yield f"--{name}={value}" if equals else f"--{name}"
