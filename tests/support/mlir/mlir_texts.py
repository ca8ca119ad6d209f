"""Small MLIR designs for tests, and variants of them."""

from __future__ import annotations

PASSTHROUGH = """module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    aie.objectfifo @in(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%mem, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@in] -> [@out]([] [])
    aiex.runtime_sequence(%a: memref<64xi32>, %unused: memref<64xi32>, %c: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out}
        : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
"""64 words through a memory tile, from the first argument to the third; nobody uses the second."""

CALL = """module {
  aie.device(npu1_1col) {
    func.func private @work(memref<16xi32>, memref<16xi32>)
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    %body = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %s = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %t = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %t[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        func.call @work(%x, %y) : (memref<16xi32>, memref<16xi32>) -> ()
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aiex.runtime_sequence(%a: memref<64xi32>, %c: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out}
        : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
"""64 words through a core that calls ``work``, which the text only declares."""

_IN = "      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64]"
STUCK = PASSTHROUGH.replace(_IN, _IN.replace("64]", "32]"))
"""Half of the words come, all of them are waited for."""
UNKNOWN = PASSTHROUGH.replace("aie.objectfifo.link", "aie.teleport")
"""With an operation that nobody knows."""
OPEN = PASSTHROUGH.replace("npu1_1col", "NPUDEVICE")
"""That leaves its device open."""
_BODY = PASSTHROUGH.removeprefix("module {\n").removesuffix("}\n")
TWO = "".join(
    ["module {\n", *(_BODY.replace("npu1_1col)", f"npu1_1col) @{name}") for name in ("one", "other")), "}\n"]
)
"""Two devices that have nothing to do with each other."""

EXTERNAL = """module {
  aie.device(npu1_1col) {
    %s = aie.tile(0, 0)
    %m = aie.tile(0, 1)
    %in = aie.external_buffer {sym_name = "in"} : memref<64xi32>
    %out = aie.external_buffer {sym_name = "out"} : memref<64xi32>
    aie.objectfifo @a(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @b(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@a] -> [@b]([] [])
    aie.objectfifo.register_external_buffers @a (%s, {%in}) : (memref<64xi32>)
    aie.objectfifo.register_external_buffers @b (%s, {%out}) : (memref<64xi32>)
  }
}
"""
"""64 words from one external buffer to another, without a host sequence."""

PARAMETER = """module {
  aiex.scratchpad_parameter @p : i32
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @out(%core, {%shim}, 1 : i32) : !aie.objectfifo<memref<8xi32>>
    %body = aie.core(%core) {
      %z = arith.constant 0 : index
      %v = aiex.read_scratchpad_parameter @p : i32
      %s = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
      %y = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
      memref.store %v, %y[%z] : memref<8xi32>
      aie.objectfifo.release @out(Produce, 1)
      aie.end
    }
    aiex.runtime_sequence(%a: memref<8xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @out}
        : memref<8xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
"""
"""A core writes the number that the scratchpad has for ``p`` into the first of eight words."""
