"""Does a host over the socket of AMD's driver end with what the bodies of a design's cores compute?"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtile import load
from memtile.cli.main import app
from places import TESTS
from support.driver.linked_programs import compiled
from support.driver.register_accesses import CONTROL, write_header
from support.driver.simulator_client import Client, Server, serving

HOST = TESTS / "clients" / "cores_host.c"
AREA = 0x1_0000_0000
BYTES = 0x10000  # of external memory for each argument
CORE = 2 << 20  # column 0, row 2
LOCK_0, STATUS, COUNTED = 0x1F000, 0x32004, 0x2000
ENABLE, RESET = 1, 2
GEMM = """
module {
  aie.device({chip}) {
    func.func private @zero_i32(FULL)
    func.func private @matmul_scalar_i16_i32(HALF, HALF, FULL)
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @a(%shim, {%core}, 2 : i32) : !aie.objectfifo<HALF>
    aie.objectfifo @b(%shim, {%core}, 2 : i32) : !aie.objectfifo<HALF>
    aie.objectfifo @c(%core, {%shim}, 2 : i32) : !aie.objectfifo<FULL>
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %depth = arith.constant 2 : index
      %forever = arith.constant 9223372036854775807 : index
      scf.for %turn = %c0 to %forever step %c1 {
        %s2 = aie.objectfifo.acquire @c(Produce, 1) : !VIEW<FULL>
        %c = PART %s2[0] : !VIEW<FULL> -> FULL
        func.call @zero_i32(%c) : (FULL) -> ()
        scf.for %k = %c0 to %depth step %c1 {
          %s0 = aie.objectfifo.acquire @a(Consume, 1) : !VIEW<HALF>
          %a = PART %s0[0] : !VIEW<HALF> -> HALF
          %s1 = aie.objectfifo.acquire @b(Consume, 1) : !VIEW<HALF>
          %b = PART %s1[0] : !VIEW<HALF> -> HALF
          func.call @matmul_scalar_i16_i32(%a, %b, %c) : (HALF, HALF, FULL) -> ()
          aie.objectfifo.release @a(Consume, 1)
          aie.objectfifo.release @b(Consume, 1)
        }
        aie.objectfifo.release @c(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<4096xi16>, %b: memref<4096xi16>, %c: memref<4096xi32>) {
      MOVE(%c[0, 0, 0, 0][2, 2, 32, 32][2048, 32, 64, 1]) {id = 0 : i64, metadata = @c} : memref<4096xi32>
      MOVE(%a[0, 0, 0, 0][2, 2, 32, 32][0, 32, 64, 1]) {id = 1 : i64, metadata = @a} : memref<4096xi16>
      MOVE(%b[0, 0, 0, 0][2, 2, 32, 32][32, 2048, 64, 1]) {id = 3 : i64, metadata = @b} : memref<4096xi16>
      MOVE(%a[0, 0, 0, 2048][2, 2, 32, 32][0, 32, 64, 1]) {id = 2 : i64, metadata = @a} : memref<4096xi16>
      MOVE(%b[0, 0, 0, 0][2, 2, 32, 32][32, 2048, 64, 1]) {id = 4 : i64, metadata = @b} : memref<4096xi16>
      aiex.npu.dma_wait {symbol = @c}
    }
  }
}
"""
"""64 x 64 x 64 in blocks of 32, by functions of the library."""

STREAM = """
module {
  aie.device({chip}) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.flow(%shim, DMA : 0, %core, Core : 0)
    aie.flow(%core, Core : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %forever = arith.constant 9223372036854775807 : index
      %port = arith.constant 0 : i32
      %zero = arith.constant 0 : i32
      scf.for %turn = %c0 to %forever step %c1 iter_args(%sum = %zero) -> (i32) {
        %x = aie.get_stream(%port : i32) : i32
        %more = arith.addi %sum, %x : i32
        aie.put_stream(%port : i32, %more : i32)
        scf.yield %more : i32
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<256xi32>, %b: memref<256xi32>) {
      MOVE(%b[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<256xi32>
      MOVE(%a[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<256xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
"""The sums of all words so far, from stream to stream."""


SHORT = {
    "HALF": "memref<32x32xi16>",
    "FULL": "memref<32x32xi32>",
    "PART": "aie.objectfifo.subview.access",
    "VIEW": "aie.objectfifosubview",
    "MOVE": "aiex.npu.dma_memcpy_nd",
}


def spelled(text: str, chip: str) -> str:
    """The text of a design for a chip, with its long words."""
    for short, word in {**SHORT, "{chip}": f"{chip}_1col"}.items():
        text = text.replace(short, word)
    return text


def host_of(folder: Path, text: str, chip: str, *, arguments: int, **more: int | str) -> Path:
    """The compiled host of a design that is written beside it."""
    (folder / "design.mlir").write_text(text)
    places = {n: AREA + n * BYTES for n in range(arguments)}
    write_header(folder, text, load(folder / "design.mlir"), places, chip=chip, **more)
    return compiled(folder, host=HOST)


def memories(arguments: int) -> list[str]:
    return [word for n in range(arguments) for word in ("--memory", f"{AREA + n * BYTES:#x}:64K")]


@pytest.mark.parametrize("chip", ["npu1", "npu2"])
@pytest.mark.parametrize("kind", ["gemm", "stream"])
def test_a_host_in_c_ends_with_its_results(tmp_path: Path, kind: str, chip: str) -> None:
    """It starts the core twice: a reset begins the body anew, from its first sum."""
    text = spelled(GEMM if kind == "gemm" else STREAM, chip)
    arguments = 3 if kind == "gemm" else 2
    more: dict[str, int | str] = {"GEMM": "", "SIZE": 64} if kind == "gemm" else {"SIZE": 256}
    program = host_of(tmp_path, text, chip, arguments=arguments, **more)
    options = ["--device", chip, "--design", "design.mlir", "--cycles-per-read", "2000", *memories(arguments)]
    with serving(tmp_path, *options) as server:
        done = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, timeout=240)
        assert done.stdout == "first: 0 wrong\nafter a reset: 0 wrong\n", (done.stderr, server.log)
        assert server.stop() == 0
    assert "not simulated" not in server.log
    assert "finding" not in server.log


SUMS = """
from memtile import Array

def design():
    array = Array("npu1", 1)
    tile = array.compute_tile(0, 2)
    counted = tile.buffer("counted", 1, at=0x2000)

    def count(core):
        seen = core.view(counted)
        seen[0] = 0
        while True:
            yield core.acquire(0, -1)
            if seen[0] == 5:
                raise ValueError("five is too many")
            seen[0] += 1
            yield core.release(1, 1)

    tile.run_kernel(count, endless=True)
    return array
"""


def control(client: Client, value: int) -> None:
    client.write32(CORE + CONTROL, value)


def give(client: Client, locks: int) -> tuple[int, int]:
    """Lock 1 after the core was given so many, and what it has counted."""
    client.write32(CORE + LOCK_0, locks)
    client.read32(CORE + LOCK_0)
    return client.read32(CORE + LOCK_0 + 0x10), client.read32(CORE + COUNTED)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "design.py").write_text(SUMS)
    with serving(tmp_path, "--design", "design.py") as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with closing(server.client()) as connected:
        yield connected


def test_a_kernel_of_a_python_design_waits_for_its_core_to_be_enabled(server: Server, client: Client) -> None:
    assert give(client, 1) == (0, 0)
    control(client, ENABLE)
    assert give(client, 1) == (2, 2), "the one that waited, and this one"
    assert "not simulated" not in server.log


def test_a_core_in_reset_does_not_begin_and_the_log_says_why(server: Server, client: Client) -> None:
    control(client, ENABLE | RESET)
    assert give(client, 1) == (0, 0)
    assert (
        "core (0, 2) was enabled; Core_Control holds it in reset, so its program does not begin: write "
        "Reset = 0 too, as XAie_CoreUnreset does\n" in server.log
    )
    control(client, ENABLE)
    assert give(client, 1) == (2, 2)


def test_a_disabled_core_stands_still_and_goes_on_where_it_was(client: Client) -> None:
    """DEV-CORE-9."""
    control(client, ENABLE)
    assert give(client, 2) == (2, 2)
    control(client, 0)
    assert give(client, 1) == (2, 2)
    control(client, ENABLE)
    client.read32(CORE + STATUS)
    assert client.read32(CORE + COUNTED) == 3


def test_a_reset_begins_the_body_anew(client: Client) -> None:
    control(client, ENABLE)
    assert give(client, 2) == (2, 2)
    for value in (RESET, 0, ENABLE):
        control(client, value)
    assert give(client, 1) == (3, 1)


def test_a_body_that_fails_halts_its_core_and_the_server_goes_on(server: Server, client: Client) -> None:
    control(client, ENABLE)
    assert give(client, 6) == (5, 5)
    assert client.read32(CORE + STATUS) >> 19 & 1, "Error_Halt"
    assert (
        "core (0, 2), kernel 'count': stopped by ValueError: five is too many (design.py, line 15). The core "
        "is halted (Core_Status.Error_Halt); reset and enable it to restart its kernel.\n" in server.log
    )
    for value in (RESET, 0, ENABLE):
        control(client, value)
    assert give(client, 1)[1] == 1
    assert server.stop() == 0


@pytest.mark.parametrize("access", ["tile.store(counted, [seen[0] + 1])", "array.poll(0x21F000, 1, 0)"])
def test_a_kernel_that_goes_to_the_array_of_its_design_is_halted(tmp_path: Path, access: str) -> None:
    """That array does not run: what is written there would be lost."""
    (tmp_path / "design.py").write_text(SUMS.replace("seen[0] += 1", access))
    with serving(tmp_path, "--design", "design.py") as server, closing(server.client()) as client:
        control(client, ENABLE)
        assert give(client, 1) == (0, 0)
        assert client.read32(CORE + STATUS) >> 19 & 1, "Error_Halt"
        assert "of the design is accessed, and its kernels run in the array that clients set up" in server.log
        assert "Use the core that the kernel is given, such as core.view(buffer)" in server.log
        assert "(design.py, line 16)" in server.log


def test_kernels_by_core_need_no_design(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(
        "def core_0_2(core):\n    yield core.acquire(0, -1)\n    yield core.release(1, 1)\n"
    )
    with serving(tmp_path, "--kernels", "kernels.py") as server, closing(server.client()) as client:
        control(client, ENABLE)
        assert give(client, 1)[0] == 1


def test_kernels_beside_a_design_that_has_its_own_are_refused(tmp_path: Path) -> None:
    (tmp_path / "design.py").write_text(SUMS)
    (tmp_path / "kernels.py").write_text("def core_0_2(core):\n    yield core.cycles(1)\n")
    files = ["--design", str(tmp_path / "design.py"), "--kernels", str(tmp_path / "kernels.py")]
    done = CliRunner().invoke(app, ["serve", *files])
    assert done.exit_code == 2
    assert (
        "design.py: a design in Python has its kernels itself. --kernels is for MLIR text and for files of "
        "programs.\n" in done.stderr
    )
