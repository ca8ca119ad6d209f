// Three dot products, each over two cores: the first sends its sums to the second over the cascade.
module { aie.device(npu1_1col) {
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  %t03 = aie.tile(0, 3)
  aie.objectfifo @first(%t00, {%t03}, 2 : i32) : !aie.objectfifo<memref<512xi32>>
  aie.objectfifo @second(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<512xi32>>
  aie.objectfifo @out(%t02, {%t00}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.cascade_flow(%t03, %t02)
  func.func private @dot_put(memref<512xi32>)
  func.func private @dot_get(memref<512xi32>, memref<16xi32>)
  aie.core(%t03) {
    %n0 = arith.constant 0 : index
    %n1 = arith.constant 1 : index
    %n3 = arith.constant 3 : index
    scf.for %i = %n0 to %n3 step %n1 {
    %sx = aie.objectfifo.acquire @first(Consume, 1) : !aie.objectfifosubview<memref<512xi32>>
    %x = aie.objectfifo.subview.access %sx[0] : !aie.objectfifosubview<memref<512xi32>> -> memref<512xi32>
    func.call @dot_put(%x) : (memref<512xi32>) -> ()
    aie.objectfifo.release @first(Consume, 1)
    }
    aie.end
  }
  aie.core(%t02) {
    %n0 = arith.constant 0 : index
    %n1 = arith.constant 1 : index
    %n3 = arith.constant 3 : index
    scf.for %i = %n0 to %n3 step %n1 {
    %sx = aie.objectfifo.acquire @second(Consume, 1) : !aie.objectfifosubview<memref<512xi32>>
    %x = aie.objectfifo.subview.access %sx[0] : !aie.objectfifosubview<memref<512xi32>> -> memref<512xi32>
    %sy = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
    %y = aie.objectfifo.subview.access %sy[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @dot_get(%x, %y) : (memref<512xi32>, memref<16xi32>) -> ()
    aie.objectfifo.release @second(Consume, 1)
    aie.objectfifo.release @out(Produce, 1)
    }
    aie.end
  }
  aie.runtime_sequence(%one : memref<1536xi32>, %two : memref<1536xi32>, %sums : memref<48xi32>) {
    aiex.npu.dma_memcpy_nd(%sums[0, 0, 0, 0][1, 1, 1, 48][0, 0, 0, 1]) {metadata = @out, id = 2 : i64} : memref<48xi32>
    aiex.npu.dma_memcpy_nd(%two[0, 0, 0, 0][1, 1, 1, 1536][0, 0, 0, 1]) {metadata = @second, id = 1 : i64} : memref<1536xi32>
    aiex.npu.dma_memcpy_nd(%one[0, 0, 0, 0][1, 1, 1, 1536][0, 0, 0, 1]) {metadata = @first, id = 0 : i64} : memref<1536xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
} }
