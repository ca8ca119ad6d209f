"""The log of a sweep: a Parquet file, and beside it a journal while the sweep runs.

Every row goes into the journal, a line of JSON, as soon as it is known: whatever ends the sweep, nothing that
was done is lost. A loss of power costs the last rows, which came within one second of each other. When the
sweep ends, by itself or by Ctrl-C, all rows go into the Parquet file and the journal is gone. Reading takes
both.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from memtile.errors import InputFileError, cannot_write
from memtile.explore.sweep.data_frames import HEAD, table_in, table_of
from memtile.explore.sweep.extras import extra
from memtile.explore.sweep.row import SweepRow, VariantState, checked_head, checked_row
from memtile.io.json_text import parse_json
from memtile.output_files import output_file
from memtile.system import locked_file, remove_open, system

FORMAT, VERSION = "memtile-sweep", 1
_SYNCED_SECONDS = 1.0  # of rows, at most, that a loss of power costs


class Log:
    """Rows of a sweep in a file.

    Args:
        path: of the Parquet file, which need not be there.

    Attributes:
        rows: by key, in the order in which they came.
        head: what the sweep was, of the last one that wrote here; empty of a new log.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, SweepRow] = {}
        self.head: dict[str, Any] = {}
        self._journal: BinaryIO | None = None
        self._forgets, self._synced = False, -math.inf
        self._read()

    @property
    def journal(self) -> Path:
        """The file of rows that are not yet in the Parquet file."""
        return self.path.with_name(f"{self.path.name}.journal")

    @property
    def found(self) -> bool:
        """Whether there is anything of a sweep."""
        return bool(self.head)

    def _read(self) -> None:
        self._seen = self._stamps()
        journal = self._journal_text()  # first: it is removed when the table has its rows
        if self.path.exists():
            self._read_table()
        self._take_journal(journal)

    def _stamps(self) -> list[tuple[int, ...]]:
        """What changes with the files; an empty one, such as a journal just made, has nothing."""
        found = []
        for path in (self.path, self.journal):
            with suppress(FileNotFoundError):
                found.append(os.stat(path))
        return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found if each.st_size]

    def _read_table(self) -> None:
        head, rows = table_in(self.path)
        self._take_head(parse_json(head, f"{self.path}, head"))
        for number, text in enumerate(rows, 1):
            self._take(parse_json(text, f"{self.path}, row {number}"), number)

    def _journal_text(self) -> str:
        try:
            return self.journal.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise InputFileError(f"{self.journal}: the journal cannot be read: {error}.") from None

    def _take_journal(self, text: str) -> None:
        """Rows of a sweep that was killed; its last line may be half a line."""
        # After a loss of power some file systems have zeros where nothing was written yet.
        for number, line in enumerate(text.replace("\0", "").split("\n"), 1):
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                if line and number == 1:
                    raise InputFileError(f"{self.journal}: this is not the journal of a sweep.") from None
                continue
            if isinstance(data, dict) and "format" in data:
                self._take_head(data)
            else:
                self._take(data, number)

    def _take_head(self, head: Any) -> None:
        said = (head.get("format"), head.get("version")) if isinstance(head, dict) else None
        if said != (FORMAT, VERSION):
            raise InputFileError(f"{self.path}: the log is of another memtile. Give another --log.")
        self._know(checked_head(head, self.path))

    def _know(self, head: Mapping[str, Any]) -> None:
        known = self.head.get("sources", {})
        self.head = {**head, "sources": {**known, **head["sources"]}}

    def _take(self, data: Any, number: int) -> None:
        self._keep(SweepRow.of(checked_row(data, self.path, number)))

    def _keep(self, row: SweepRow) -> bool:
        """Have a row, unless more is known already: of one that was stopped early the last one counts."""
        known = self.rows.get(row.key)
        if known is not None and known.state is not VariantState.BEATEN:
            return False
        self.rows[row.key] = row
        return True

    def forget(self) -> None:
        """Begin anew: what the log has is replaced when the sweep ends, and only then."""
        self.rows.clear()
        self.head, self._forgets = {}, True

    def open(self, head: Mapping[str, Any]) -> Log:
        """Begin to write; the log is ours until it is closed.

        Raises:
            InputFileError: it cannot be written, or another sweep writes it.
        """
        extra("pyarrow.parquet")  # what is missing is told before the first run
        try:
            self._begin(head)
        except OSError as error:
            self._close()
            raise cannot_write(self.journal, error) from None
        except BaseException:
            self._close()
            raise
        return self

    def _begin(self, head: Mapping[str, Any]) -> None:
        self._journal = locked_file(self.journal)
        if self._journal is None:
            raise InputFileError(f"{self.path}: another sweep writes this log. Give another --log.")
        if self._forgets:
            system().truncate(self._journal)
        elif self._seen != self._stamps():  # another sweep has ended since
            self._read_again()
        self._know({"format": FORMAT, "version": VERSION, **head})
        self._line(self.head)
        system().sync_folder(self.path.parent)

    def _read_again(self) -> None:
        try:
            self._read()
        except InputFileError:
            assert self._journal is not None
            if not os.fstat(self._journal.fileno()).st_size:  # it was made just now
                remove_open(self._journal, self.journal)
            raise

    def add(self, row: SweepRow) -> None:
        """Keep a row; one that is there stays as it is."""
        if self._keep(row):
            self._line(row.as_json())

    def _line(self, data: Mapping[str, Any]) -> None:
        """Append a line, behind the end of another one: the last line may be half a line on a full disk.

        Raises:
            InputFileError: the journal cannot be written.
        """
        assert self._journal is not None
        line = memoryview(f"\n{json.dumps(data)}".encode())
        try:
            while line:
                line = line[self._journal.write(line) :]
            if (now := system().monotonic()) >= self._synced + _SYNCED_SECONDS:
                system().sync(self._journal)
                self._synced = now
        except OSError as error:
            raise cannot_write(self.journal, error) from None

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the Parquet file, then remove the journal, which stays if that fails.

        A sweep that began anew and failed leaves the old file too; its own rows are in the journal.
        """
        try:
            if error is not None and self._forgets:
                return
            with output_file(self.path) as file:
                self._write(file, self.rows.values())
            assert self._journal is not None
            remove_open(self._journal, self.journal)
        finally:
            self._close()

    def _close(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def _write(self, file: BinaryIO, rows: Iterable[SweepRow]) -> None:
        table = table_of(list(rows), keep=True)
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), HEAD: json.dumps(self.head)})
        extra("pyarrow.parquet").write_table(table, file)
