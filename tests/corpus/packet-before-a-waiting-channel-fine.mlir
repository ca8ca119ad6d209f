// The block, which the core wants first, is sent first.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    %word = aie.buffer(%core) {sym_name = "word"} : memref<1xi32>
    %block = aie.buffer(%core) {sym_name = "block"} : memref<4xi32>
    %sum = aie.buffer(%core) {sym_name = "sum"} : memref<1xi32>
    %word_free = aie.lock(%core, 0) {init = 1 : i32}
    %word_full = aie.lock(%core, 1) {init = 0 : i32}
    %block_free = aie.lock(%core, 2) {init = 1 : i32}
    %block_full = aie.lock(%core, 3) {init = 0 : i32}
    %sum_free = aie.lock(%core, 4) {init = 1 : i32}
    %sum_full = aie.lock(%core, 5) {init = 0 : i32}
    aie.shim_dma_allocation @words(%shim, MM2S, 0)
    aie.shim_dma_allocation @blocks(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.packet_flow(0) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%core, DMA : 0>
    }
    aie.packet_flow(1) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%core, DMA : 1>
    }
    aie.flow(%core, DMA : 0, %shim, DMA : 0)
    aie.mem(%core) {
      %0 = aie.dma_start(S2MM, 0, ^words, ^second)
    ^words:
      aie.use_lock(%word_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%word : memref<1xi32>, 0, 1)
      aie.use_lock(%word_full, Release, 1)
      aie.next_bd ^words
    ^second:
      %1 = aie.dma_start(S2MM, 1, ^blocks, ^third)
    ^blocks:
      aie.use_lock(%block_free, AcquireGreaterEqual, 1)
      aie.dma_bd(%block : memref<4xi32>, 0, 4)
      aie.use_lock(%block_full, Release, 1)
      aie.next_bd ^blocks
    ^third:
      %2 = aie.dma_start(MM2S, 0, ^sums, ^end)
    ^sums:
      aie.use_lock(%sum_full, AcquireGreaterEqual, 1)
      aie.dma_bd(%sum : memref<1xi32>, 0, 1)
      aie.use_lock(%sum_free, Release, 1)
      aie.next_bd ^sums
    ^end:
      aie.end
    }
    aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %many = arith.constant 10 : index
      %zero = arith.constant 0 : i32
      aie.use_lock(%block_full, AcquireGreaterEqual, 1)
      aie.use_lock(%block_free, Release, 1)
      %all = scf.for %i = %c0 to %many step %c1 iter_args(%so_far = %zero) -> (i32) {
        aie.use_lock(%word_full, AcquireGreaterEqual, 1)
        %one = memref.load %word[%c0] : memref<1xi32>
        %more = arith.addi %so_far, %one : i32
        aie.use_lock(%word_free, Release, 1)
        scf.yield %more : i32
      }
      aie.use_lock(%sum_free, AcquireGreaterEqual, 1)
      memref.store %all, %sum[%c0] : memref<1xi32>
      aie.use_lock(%sum_full, Release, 1)
      aie.end
    }
    aie.runtime_sequence(%given : memref<10xi32>, %first : memref<4xi32>, %result : memref<1xi32>) {
      aiex.npu.dma_memcpy_nd(%result[0, 0, 0, 0][1, 1, 1, 1][0, 0, 0, 1]) {id = 0 : i64, metadata = @out, issue_token = true} : memref<1xi32>
      aiex.npu.dma_memcpy_nd(%first[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>) {id = 2 : i64, metadata = @blocks} : memref<4xi32>
      aiex.npu.dma_memcpy_nd(%given[0, 0, 0, 0][1, 1, 1, 10][0, 0, 0, 1], packet = <pkt_id = 0, pkt_type = 0>) {id = 1 : i64, metadata = @words} : memref<10xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
