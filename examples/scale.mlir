// Two object FIFOs through a memory tile and one core, as IRON prints such a design.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %core = aie.tile(0, 2)
    func.func private @scale(memref<256xi32>, memref<256xi32>, i32, index)
    aie.objectfifo @in(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
    aie.objectfifo @block(%mem, {%core}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.objectfifo.link [@in] -> [@block] ([] [])
    aie.objectfifo @out(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<256xi32>>
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %forever = arith.constant 9223372036854775807 : index
      %c1 = arith.constant 1 : index
      %factor = arith.constant 3 : i32
      %size = arith.constant 256 : index
      scf.for %turn = %c0 to %forever step %c1 {
        %s0 = aie.objectfifo.acquire @block(Consume, 1) : !aie.objectfifosubview<memref<256xi32>>
        %a = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<256xi32>> -> memref<256xi32>
        %s1 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<256xi32>>
        %b = aie.objectfifo.subview.access %s1[0] : !aie.objectfifosubview<memref<256xi32>> -> memref<256xi32>
        func.call @scale(%a, %b, %factor, %size) : (memref<256xi32>, memref<256xi32>, i32, index) -> ()
        aie.objectfifo.release @block(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<4096xi32>, %b: memref<4096xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 4096][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<4096xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 4096][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<4096xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
