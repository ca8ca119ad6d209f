// The core releases its input on both ways of a branch.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    %c = aie.tile(0, 4)
    %d = aie.tile(0, 5)
    aie.objectfifo @in(%shim, {%a}, 2) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%a, {%shim}, 2) : !aie.objectfifo<memref<16xi32>>
    aie.core(%a) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 16 : index
      %turns = arith.constant 6 : index
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : index
      scf.for %t = %c0 to %turns step %c1 {
        %sp = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %p = aie.objectfifo.subview.access %sp[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %sq = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %q = aie.objectfifo.subview.access %sq[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %c0 to %n step %c1 {
          %vp = memref.load %p[%i] : memref<16xi32>
          %xp = arith.addi %vp, %one : i32
          memref.store %xp, %q[%i] : memref<16xi32>
        }
        %m = arith.remui %t, %two : index
        %even = arith.cmpi eq, %m, %c0 : index
        scf.if %even {
        scf.for %i = %c0 to %n step %c1 {
          memref.store %one, %q[%i] : memref<16xi32>
        }
            aie.objectfifo.release @in(Consume, 1)
        } else {
            aie.objectfifo.release @in(Consume, 1)
        }
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%x : memref<96xi32>, %y : memref<96xi32>) {
      aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<96xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
