// Two flows share a route, and their packets come in the order in which the core takes them.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %t = aie.tile(0, 2)
    aie.packet_flow(1) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%t, DMA : 0>
    }
    aie.packet_flow(2) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%t, DMA : 1>
    }
    aie.flow(%t, DMA : 0, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    %p = aie.buffer(%t) {sym_name = "p"} : memref<64xi32>
    %q = aie.buffer(%t) {sym_name = "q"} : memref<64xi32>
    %pfree = aie.lock(%t, 0) {init = 1 : i32, sym_name = "p_free"}
    %pfull = aie.lock(%t, 1) {init = 0 : i32, sym_name = "p_full"}
    %qfree = aie.lock(%t, 2) {init = 1 : i32, sym_name = "q_free"}
    %qfull = aie.lock(%t, 3) {init = 0 : i32, sym_name = "q_full"}
    %done = aie.lock(%t, 4) {init = 0 : i32, sym_name = "done"}
    aie.mem(%t) {
      %0 = aie.dma_start(S2MM, 0, ^p, ^n0)
    ^p:
      aie.use_lock(%pfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%p : memref<64xi32>, 0, 64)
      aie.use_lock(%pfull, Release, 1)
      aie.next_bd ^p
    ^n0:
      %1 = aie.dma_start(S2MM, 1, ^q, ^n1)
    ^q:
      aie.use_lock(%qfree, AcquireGreaterEqual, 1)
      aie.dma_bd(%q : memref<64xi32>, 0, 64)
      aie.use_lock(%qfull, Release, 1)
      aie.next_bd ^q
    ^n1:
      %2 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%done, AcquireGreaterEqual, 1)
      aie.dma_bd(%q : memref<64xi32>, 0, 64)
      aie.next_bd ^end
    ^end:
      aie.end
    }
    aie.core(%t) {
      aie.use_lock(%pfull, AcquireGreaterEqual, 1)
      aie.use_lock(%qfull, AcquireGreaterEqual, 1)
      aie.use_lock(%pfree, Release, 1)
      aie.use_lock(%pfull, AcquireGreaterEqual, 1)
      aie.use_lock(%done, Release, 1)
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 3 : i64, metadata = @out} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1], packet = <pkt_id = 2, pkt_type = 0>) {id = 1 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>) {id = 2 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
