// A core doubles four blocks of a FIFO into another one.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    aie.objectfifo @x(%shim, {%tile}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @y(%tile, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 4 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        %xs = aie.objectfifo.acquire @x(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %xs[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %ys = aie.objectfifo.acquire @y(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %ys[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x[%i] : memref<16xi32>
          %twice = arith.addi %v, %v : i32
          memref.store %twice, %y[%i] : memref<16xi32>
        }
        aie.objectfifo.release @x(Consume, 1)
        aie.objectfifo.release @y(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @y} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @x} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @y}
    }
  }
}
