// The channel that sends the output does not give its buffer back.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    %x = aie.buffer(%tile) {sym_name = "x"} : memref<16xi32>
    %y = aie.buffer(%tile) {sym_name = "y"} : memref<16xi32>
    %xfree = aie.lock(%tile, 0) {init = 1 : i32, sym_name = "x_free"}
    %xfull = aie.lock(%tile, 1) {init = 0 : i32, sym_name = "x_full"}
    %yfree = aie.lock(%tile, 2) {init = 1 : i32, sym_name = "y_free"}
    %yfull = aie.lock(%tile, 3) {init = 0 : i32, sym_name = "y_full"}
    aie.flow(%shim, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.mem(%tile) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%xfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<16xi32>, 0, 16)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%tile) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 4 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%xfull, AcquireGreaterEqual, 1)
        aie.use_lock(%yfree, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x[%i] : memref<16xi32>
          memref.store %v, %y[%i] : memref<16xi32>
        }
        aie.use_lock(%xfree, Release, 1)
        aie.use_lock(%yfull, Release, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
