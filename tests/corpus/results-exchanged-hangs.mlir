// The host gives each of two results the transfer of the other one.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    %c = aie.tile(0, 4)
    %d = aie.tile(0, 5)
    aie.objectfifo @in(%shim, {%a}, 2) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @big(%a, {%shim}, 2) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @small(%a, {%shim}, 2) : !aie.objectfifo<memref<4xi32>>
    aie.core(%a) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 16 : index
      %turns = arith.constant 4 : index
      %one = arith.constant 1 : i32
      %four = arith.constant 4 : index
      scf.for %t = %c0 to %turns step %c1 {
        %sp = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %p = aie.objectfifo.subview.access %sp[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %sq = aie.objectfifo.acquire @big(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %q = aie.objectfifo.subview.access %sq[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %sr = aie.objectfifo.acquire @small(Produce, 1) : !aie.objectfifosubview<memref<4xi32>>
        %r = aie.objectfifo.subview.access %sr[0] : !aie.objectfifosubview<memref<4xi32>> -> memref<4xi32>
        scf.for %i = %c0 to %n step %c1 {
          %vp = memref.load %p[%i] : memref<16xi32>
          %xp = arith.addi %vp, %one : i32
          memref.store %xp, %q[%i] : memref<16xi32>
        }
        scf.for %j = %c0 to %four step %c1 {
          %g = memref.load %p[%j] : memref<16xi32>
          memref.store %g, %r[%j] : memref<4xi32>
        }
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @big(Produce, 1)
        aie.objectfifo.release @small(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%x : memref<64xi32>, %y : memref<64xi32>, %z : memref<16xi32>) {
      aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @small, issue_token = true} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%z[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 2 : i64, metadata = @big, issue_token = true} : memref<16xi32>
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @big}
      aiex.npu.dma_wait {symbol = @small}
    }
  }
}
