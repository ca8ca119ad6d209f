// Two writers of one buffer share a lock pair; one of them takes the only free slot, and the reader waits for both.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %both = aie.buffer(%mem) {sym_name = "both"} : memref<32xi32>
    %free0 = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "free_0"}
    %free1 = aie.lock(%mem, 2) {init = 1 : i32, sym_name = "free_1"}
    %full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%shim, DMA : 1, %mem, DMA : 1)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in0(%shim, MM2S, 0)
    aie.shim_dma_allocation @in1(%shim, MM2S, 1)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^first, ^n0)
    ^first:
      aie.use_lock(%free0, AcquireGreaterEqual, 1)
      aie.dma_bd(%both : memref<32xi32>, 0, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^first
    ^n0:
      %1 = aie.dma_start(S2MM, 1, ^second, ^n1)
    ^second:
      aie.use_lock(%free0, AcquireGreaterEqual, 1)
      aie.dma_bd(%both : memref<32xi32>, 16, 16)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^second
    ^n1:
      %2 = aie.dma_start(MM2S, 0, ^read, ^end)
    ^read:
      aie.use_lock(%full, AcquireGreaterEqual, 2)
      aie.dma_bd(%both : memref<32xi32>, 0, 16)
      aie.use_lock(%free0, Release, 1)
      aie.next_bd ^rest
    ^rest:
      aie.dma_bd(%both : memref<32xi32>, 16, 16)
      aie.use_lock(%free0, Release, 1)
      aie.next_bd ^read
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 0 : i64, metadata = @in0} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 32][1, 1, 1, 32][0, 0, 0, 1]) {id = 2 : i64, metadata = @in1} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
