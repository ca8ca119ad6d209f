"""Do operations of a program of IRON have the line where the program asks for them?"""

import numpy as np

from memtile.iron.dataflow import ObjectFifo
from memtile.iron.device import NPU1Col1
from memtile.iron.ops.printing import text_with_places
from memtile.iron.ops.program_lines import is_of_a_program
from memtile.iron.program import Program
from memtile.iron.runtime import Runtime

_TILE = np.ndarray[(16,), np.dtype[np.int32]]  # type: ignore[misc, valid-type]


def test_an_object_fifo_and_a_link_have_the_line_that_makes_them() -> None:
    first = ObjectFifo(_TILE, name="first")
    again = first.cons().forward(name="again")
    host = Runtime(lambda *_: None, [_TILE, first.prod(), again.cons()])
    module = Program(NPU1Col1(), host).resolve_program()
    text, places = text_with_places(module.operation)
    lines = {
        line.split("(")[0].split("[")[0].strip(): int(place.rpartition(":")[2])
        for line, place in zip(text.splitlines(), places, strict=True)
        if "aie.objectfifo" in line
    }
    begins = test_an_object_fifo_and_a_link_have_the_line_that_makes_them.__code__.co_firstlineno
    assert lines == {
        "aie.objectfifo @first": begins + 1,
        "aie.objectfifo @again": begins + 2,
        "aie.objectfifo.link": begins + 2,
    }


def test_an_installed_memtile_is_no_program_and_a_package_beside_it_is() -> None:
    library = "/usr/lib/python3.14"
    installed = f"{library}/site-packages/memtile"
    files = {
        f"{installed}/iron/dataflow/objectfifo.py": False,
        f"{library}/functools.py": False,
        "<frozen importlib._bootstrap>": False,
        f"{library}/site-packages/kernels/gemm.py": True,
        f"{library}/site-packages/memtile_designs/gemm.py": True,
        "/home/me/gemm.py": True,
    }
    assert {file: is_of_a_program(file, memtile=installed, library=library) for file in files} == files
