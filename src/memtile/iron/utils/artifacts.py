"""Where a compiled design goes: the paths that programs give for mlir-aie's files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from memtile.cpp.compilers import cache_folder
from memtile.iron.compiled_design import CompiledDesign
from memtile.iron.taking import stands_still

_FOLDER = "iron-designs"
_File = Path | str | None


@dataclass(frozen=True)
class Artifacts:
    """Paths of files, as ``compile`` takes them.

    Raises:
        ValueError: they exclude each other, or one of two is missing.
    """

    xclbin: _File
    insts: _File
    elf: _File
    full_elf: _File
    pdi: _File

    def __post_init__(self) -> None:
        if (self.xclbin is None) != (self.insts is None):
            raise ValueError("compile() takes xclbin_path and inst_path, or neither of them")
        if self.full_elf is not None and self.xclbin is not None:
            raise ValueError("compile() takes full_elf_path, or xclbin_path and inst_path, not both")
        if (self.elf or self.pdi) is not None and self.xclbin is None:
            raise ValueError("compile() takes elf_path and pdi_path with xclbin_path and inst_path only")

    def write(self, design: CompiledDesign, *, full_elf: bool) -> tuple[Path, Path | None]:
        """Write a design; the paths of the design and of its instructions."""
        # a design that is only looked at needs no cache, whose place depends on Numba
        folder = (Path(gettempdir()) if stands_still() else cache_folder(_FOLDER)) / design.digest()[:16]
        if self.full_elf is not None or (full_elf and self.xclbin is None):
            path = Path(self.full_elf or folder / "design.elf")
            design.write(path)
            return path, None
        xclbin, insts = Path(self.xclbin or folder / "final.xclbin"), Path(self.insts or folder / "insts.bin")
        design.write(xclbin, insts)
        for more in (self.elf, self.pdi):
            if more is not None:
                design.write(more)
        return xclbin, insts
