// A core that waits for words of a stream inside its function, and sends words back.
module { aie.device(npu1_1col) {
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  %seen = aie.buffer(%t02) : memref<40xi32>
  aie.flow(%t00, DMA : 0, %t02, Core : 0)
  aie.flow(%t02, Core : 0, %t00, DMA : 0)
  aie.shim_dma_allocation @to(%t00, MM2S, 0)
  aie.shim_dma_allocation @from(%t00, S2MM, 0)
  func.func private @running_sums(memref<40xi32>, i32)
  aie.core(%t02) {
    %n = arith.constant 40 : i32
    func.call @running_sums(%seen, %n) : (memref<40xi32>, i32) -> ()
    aie.end
  }
  aie.runtime_sequence(%x : memref<40xi32>, %y : memref<40xi32>) {
    aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 40][0, 0, 0, 1]) {metadata = @from, id = 1 : i64} : memref<40xi32>
    aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 40][0, 0, 0, 1]) {metadata = @to, id = 0 : i64} : memref<40xi32>
    aiex.npu.dma_wait {symbol = @from}
  }
} }
