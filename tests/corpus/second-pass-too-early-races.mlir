// A second pass reads what the first one is to write, and the host does not wait between the two.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 5)
    aie.objectfifo @src(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.objectfifo @dst(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<32xi32>>
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %max = arith.constant 9223372036854775807 : index
      %k = arith.constant 2 : i32
      scf.for %t = %c0 to %max step %c1 {
        %si = aie.objectfifo.acquire @src(Consume, 1) : !aie.objectfifosubview<memref<32xi32>>
        %ei = aie.objectfifo.subview.access %si[0] : !aie.objectfifosubview<memref<32xi32>> -> memref<32xi32>
        %so = aie.objectfifo.acquire @dst(Produce, 1) : !aie.objectfifosubview<memref<32xi32>>
        %eo = aie.objectfifo.subview.access %so[0] : !aie.objectfifosubview<memref<32xi32>> -> memref<32xi32>
        scf.for %j = %c0 to %c32 step %c1 {
          %v = memref.load %ei[%j] : memref<32xi32>
          %w = arith.muli %v, %k : i32
          memref.store %w, %eo[%j] : memref<32xi32>
        }
        aie.objectfifo.release @src(Consume, 1)
        aie.objectfifo.release @dst(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%x: memref<256xi32>, %tmp: memref<256xi32>, %y: memref<256xi32>) {
      %t0 = aiex.dma_configure_task_for @src {
        aie.dma_bd(%x : memref<256xi32>, 0, 256)
        aie.end
      }
      %t1 = aiex.dma_configure_task_for @dst {
        aie.dma_bd(%tmp : memref<256xi32>, 0, 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t0)
      aiex.dma_start_task(%t1)
      %t2 = aiex.dma_configure_task_for @src {
        aie.dma_bd(%tmp : memref<256xi32>, 0, 256)
        aie.end
      }
      %t3 = aiex.dma_configure_task_for @dst {
        aie.dma_bd(%y : memref<256xi32>, 0, 256)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t2)
      aiex.dma_start_task(%t3)
      aiex.dma_await_task(%t3)
      aiex.dma_free_task(%t1)
      aiex.dma_free_task(%t0)
      aiex.dma_free_task(%t2)
    }
  }
}
