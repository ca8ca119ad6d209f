// One descriptor guards its buffer with the lock pair of another ring.
module {
  aie.device(npu1) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %a = aie.tile(0, 2)
    %b = aie.tile(0, 3)
    %c = aie.tile(0, 4)
    %d = aie.tile(0, 5)
    %p0 = aie.buffer(%mem) {sym_name = "p0"} : memref<16xi32>
    %q0 = aie.buffer(%mem) {sym_name = "q0"} : memref<16xi32>
    %free0 = aie.lock(%mem, 0) {init = 2 : i32, sym_name = "free0"}
    %full0 = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full0"}
    %p1 = aie.buffer(%mem) {sym_name = "p1"} : memref<16xi32>
    %q1 = aie.buffer(%mem) {sym_name = "q1"} : memref<16xi32>
    %free1 = aie.lock(%mem, 2) {init = 2 : i32, sym_name = "free1"}
    %full1 = aie.lock(%mem, 3) {init = 0 : i32, sym_name = "full1"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in0(%shim, MM2S, 0)
    aie.shim_dma_allocation @out0(%shim, S2MM, 0)
    aie.flow(%shim, DMA : 1, %mem, DMA : 1)
    aie.flow(%mem, DMA : 1, %shim, DMA : 1)
    aie.shim_dma_allocation @in1(%shim, MM2S, 1)
    aie.shim_dma_allocation @out1(%shim, S2MM, 1)
    aie.memtile_dma(%mem) {
      %kw0 = aie.dma_start(S2MM, 0, ^w0a, ^s0)
    ^w0a:
      aie.use_lock(%free0, AcquireGreaterEqual, 1)
      aie.dma_bd(%p0 : memref<16xi32>, 0, 16)
      aie.use_lock(%full0, Release, 1)
      aie.next_bd ^w0b
    ^w0b:
      aie.use_lock(%free0, AcquireGreaterEqual, 1)
      aie.dma_bd(%q0 : memref<16xi32>, 0, 16)
      aie.use_lock(%full0, Release, 1)
      aie.next_bd ^w0a
    ^s0:
      %kr0 = aie.dma_start(MM2S, 0, ^r0a, ^t0)
    ^r0a:
      aie.use_lock(%full0, AcquireGreaterEqual, 1)
      aie.dma_bd(%p0 : memref<16xi32>, 0, 16)
      aie.use_lock(%free0, Release, 1)
      aie.next_bd ^r0b
    ^r0b:
      aie.use_lock(%full0, AcquireGreaterEqual, 1)
      aie.dma_bd(%q0 : memref<16xi32>, 0, 16)
      aie.use_lock(%free0, Release, 1)
      aie.next_bd ^r0a
    ^t0:
      %kw1 = aie.dma_start(S2MM, 1, ^w1a, ^s1)
    ^w1a:
      aie.use_lock(%free1, AcquireGreaterEqual, 1)
      aie.dma_bd(%p1 : memref<16xi32>, 0, 16)
      aie.use_lock(%full1, Release, 1)
      aie.next_bd ^w1b
    ^w1b:
      aie.use_lock(%free1, AcquireGreaterEqual, 1)
      aie.dma_bd(%q1 : memref<16xi32>, 0, 16)
      aie.use_lock(%full1, Release, 1)
      aie.next_bd ^w1a
    ^s1:
      %kr1 = aie.dma_start(MM2S, 1, ^r1a, ^t1)
    ^r1a:
      aie.use_lock(%full1, AcquireGreaterEqual, 1)
      aie.dma_bd(%p1 : memref<16xi32>, 0, 16)
      aie.use_lock(%free1, Release, 1)
      aie.next_bd ^r1b
    ^r1b:
      aie.use_lock(%full0, AcquireGreaterEqual, 1)
      aie.dma_bd(%q1 : memref<16xi32>, 0, 16)
      aie.use_lock(%free0, Release, 1)
      aie.next_bd ^r1a
    ^t1:
      aie.end
    }
    aie.runtime_sequence(%x : memref<96xi32>, %z : memref<96xi32>, %y : memref<96xi32>, %w : memref<96xi32>) {
      aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 2 : i64, metadata = @out0, issue_token = true} : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%w[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 3 : i64, metadata = @out1, issue_token = true} : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 0 : i64, metadata = @in0} : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%z[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 1 : i64, metadata = @in1} : memref<96xi32>
      aiex.npu.dma_wait {symbol = @out0}
      aiex.npu.dma_wait {symbol = @out1}
    }
  }
}
