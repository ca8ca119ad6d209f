// A vector passes through the memory tile with a double buffer, locks and descriptors by hand.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mt = aie.tile(0, 1)
    aie.flow(%shim, DMA : 0, %mt, DMA : 0)
    aie.flow(%mt, DMA : 0, %shim, DMA : 0)

    %ping = aie.buffer(%mt) {sym_name = "ping"} : memref<16xi32>
    %pong = aie.buffer(%mt) {sym_name = "pong"} : memref<16xi32>
    %empty = aie.lock(%mt, 0) {init = 2 : i32, sym_name = "empty"}
    %full = aie.lock(%mt, 1) {init = 0 : i32, sym_name = "full"}

    %dma = aie.memtile_dma(%mt) {
      %0 = aie.dma_start(S2MM, 0, ^in0, ^out)
    ^in0:
      aie.use_lock(%empty, AcquireGreaterEqual, 1)
      aie.dma_bd(%ping : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^in1
    ^in1:
      aie.use_lock(%empty, AcquireGreaterEqual, 1)
      aie.dma_bd(%pong : memref<16xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^end
    ^out:
      %1 = aie.dma_start(MM2S, 0, ^out0, ^end)
    ^out0:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%ping : memref<16xi32>, 0, 16)
      aie.use_lock(%empty, Release, 1)
      aie.next_bd ^out1
    ^out1:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%pong : memref<16xi32>, 0, 16)
      aie.use_lock(%empty, Release, 1)
      aie.next_bd ^out0
    ^end:
      aie.end
    }

    aie.shim_dma_allocation @in (%shim, MM2S, 0)
    aie.shim_dma_allocation @out (%shim, S2MM, 0)
    aie.runtime_sequence(%a : memref<64xi32>, %b : memref<64xi32>) {
      aiex.npu.dma_memcpy_nd (%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {metadata = @in, id = 0 : i64} : memref<64xi32>
      aiex.npu.dma_memcpy_nd (%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {metadata = @out, id = 1 : i64, issue_token = true} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
