// One sender has packets for three cores, and the third has the id of the second.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %t0 = aie.tile(0, 2)
    %t1 = aie.tile(0, 3)
    %t2 = aie.tile(0, 4)
    %stage = aie.buffer(%mem) {sym_name = "stage"} : memref<96xi32>
    %room = aie.lock(%mem, 0) {init = 3 : i32, sym_name = "room"}
    %full = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "full"}
    %back = aie.buffer(%mem) {sym_name = "back"} : memref<96xi32>
    %broom = aie.lock(%mem, 2) {init = 3 : i32, sym_name = "broom"}
    %bfull = aie.lock(%mem, 3) {init = 0 : i32, sym_name = "bfull"}
    aie.flow(%shim, DMA : 0, %mem, DMA : 0)
    aie.flow(%mem, DMA : 1, %shim, DMA : 0)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.packet_flow(4) {
      aie.packet_source<%mem, DMA : 0>
      aie.packet_dest<%t0, DMA : 0>
    }
    aie.flow(%t0, DMA : 0, %mem, DMA : 1)
    %x0 = aie.buffer(%t0) {sym_name = "x0"} : memref<32xi32>
    %y0 = aie.buffer(%t0) {sym_name = "y0"} : memref<32xi32>
    %xf0 = aie.lock(%t0, 0) {init = 1 : i32, sym_name = "x0_free"}
    %xa0 = aie.lock(%t0, 1) {init = 0 : i32, sym_name = "x0_full"}
    %yf0 = aie.lock(%t0, 2) {init = 1 : i32, sym_name = "y0_free"}
    %ya0 = aie.lock(%t0, 3) {init = 0 : i32, sym_name = "y0_full"}
    aie.mem(%t0) {
      %0 = aie.dma_start(S2MM, 0, ^w, ^n)
    ^w:
      aie.use_lock(%xf0, AcquireGreaterEqual, 1)
      aie.dma_bd(%x0 : memref<32xi32>, 0, 32)
      aie.use_lock(%xa0, Release, 1)
      aie.next_bd ^w
    ^n:
      %1 = aie.dma_start(MM2S, 0, ^r, ^e)
    ^r:
      aie.use_lock(%ya0, AcquireGreaterEqual, 1)
      aie.dma_bd(%y0 : memref<32xi32>, 0, 32)
      aie.use_lock(%yf0, Release, 1)
      aie.next_bd ^r
    ^e:
      aie.end
    }
    aie.core(%t0) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %max = arith.constant 9223372036854775807 : index
      %k = arith.constant 10 : i32
      scf.for %t = %c0 to %max step %c1 {
        aie.use_lock(%xa0, AcquireGreaterEqual, 1)
        aie.use_lock(%yf0, AcquireGreaterEqual, 1)
        scf.for %j = %c0 to %c32 step %c1 {
          %v = memref.load %x0[%j] : memref<32xi32>
          %w = arith.muli %v, %k : i32
          memref.store %w, %y0[%j] : memref<32xi32>
        }
        aie.use_lock(%xf0, Release, 1)
        aie.use_lock(%ya0, Release, 1)
      }
      aie.end
    }
    aie.packet_flow(5) {
      aie.packet_source<%mem, DMA : 0>
      aie.packet_dest<%t1, DMA : 0>
    }
    aie.flow(%t1, DMA : 0, %mem, DMA : 2)
    %x1 = aie.buffer(%t1) {sym_name = "x1"} : memref<32xi32>
    %y1 = aie.buffer(%t1) {sym_name = "y1"} : memref<32xi32>
    %xf1 = aie.lock(%t1, 0) {init = 1 : i32, sym_name = "x1_free"}
    %xa1 = aie.lock(%t1, 1) {init = 0 : i32, sym_name = "x1_full"}
    %yf1 = aie.lock(%t1, 2) {init = 1 : i32, sym_name = "y1_free"}
    %ya1 = aie.lock(%t1, 3) {init = 0 : i32, sym_name = "y1_full"}
    aie.mem(%t1) {
      %0 = aie.dma_start(S2MM, 0, ^w, ^n)
    ^w:
      aie.use_lock(%xf1, AcquireGreaterEqual, 1)
      aie.dma_bd(%x1 : memref<32xi32>, 0, 32)
      aie.use_lock(%xa1, Release, 1)
      aie.next_bd ^w
    ^n:
      %1 = aie.dma_start(MM2S, 0, ^r, ^e)
    ^r:
      aie.use_lock(%ya1, AcquireGreaterEqual, 1)
      aie.dma_bd(%y1 : memref<32xi32>, 0, 32)
      aie.use_lock(%yf1, Release, 1)
      aie.next_bd ^r
    ^e:
      aie.end
    }
    aie.core(%t1) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %max = arith.constant 9223372036854775807 : index
      %k = arith.constant 20 : i32
      scf.for %t = %c0 to %max step %c1 {
        aie.use_lock(%xa1, AcquireGreaterEqual, 1)
        aie.use_lock(%yf1, AcquireGreaterEqual, 1)
        scf.for %j = %c0 to %c32 step %c1 {
          %v = memref.load %x1[%j] : memref<32xi32>
          %w = arith.muli %v, %k : i32
          memref.store %w, %y1[%j] : memref<32xi32>
        }
        aie.use_lock(%xf1, Release, 1)
        aie.use_lock(%ya1, Release, 1)
      }
      aie.end
    }
    aie.packet_flow(6) {
      aie.packet_source<%mem, DMA : 0>
      aie.packet_dest<%t2, DMA : 0>
    }
    aie.flow(%t2, DMA : 0, %mem, DMA : 3)
    %x2 = aie.buffer(%t2) {sym_name = "x2"} : memref<32xi32>
    %y2 = aie.buffer(%t2) {sym_name = "y2"} : memref<32xi32>
    %xf2 = aie.lock(%t2, 0) {init = 1 : i32, sym_name = "x2_free"}
    %xa2 = aie.lock(%t2, 1) {init = 0 : i32, sym_name = "x2_full"}
    %yf2 = aie.lock(%t2, 2) {init = 1 : i32, sym_name = "y2_free"}
    %ya2 = aie.lock(%t2, 3) {init = 0 : i32, sym_name = "y2_full"}
    aie.mem(%t2) {
      %0 = aie.dma_start(S2MM, 0, ^w, ^n)
    ^w:
      aie.use_lock(%xf2, AcquireGreaterEqual, 1)
      aie.dma_bd(%x2 : memref<32xi32>, 0, 32)
      aie.use_lock(%xa2, Release, 1)
      aie.next_bd ^w
    ^n:
      %1 = aie.dma_start(MM2S, 0, ^r, ^e)
    ^r:
      aie.use_lock(%ya2, AcquireGreaterEqual, 1)
      aie.dma_bd(%y2 : memref<32xi32>, 0, 32)
      aie.use_lock(%yf2, Release, 1)
      aie.next_bd ^r
    ^e:
      aie.end
    }
    aie.core(%t2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %max = arith.constant 9223372036854775807 : index
      %k = arith.constant 30 : i32
      scf.for %t = %c0 to %max step %c1 {
        aie.use_lock(%xa2, AcquireGreaterEqual, 1)
        aie.use_lock(%yf2, AcquireGreaterEqual, 1)
        scf.for %j = %c0 to %c32 step %c1 {
          %v = memref.load %x2[%j] : memref<32xi32>
          %w = arith.muli %v, %k : i32
          memref.store %w, %y2[%j] : memref<32xi32>
        }
        aie.use_lock(%xf2, Release, 1)
        aie.use_lock(%ya2, Release, 1)
      }
      aie.end
    }
    aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^n0)
    ^in:
      aie.use_lock(%room, AcquireGreaterEqual, 3)
      aie.dma_bd(%stage : memref<96xi32>, 0, 96)
      aie.use_lock(%full, Release, 3)
      aie.next_bd ^in
    ^n0:
      %1 = aie.dma_start(MM2S, 0, ^p0, ^n1)
    ^p0:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%stage : memref<96xi32>, 0, 32) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 4>}
      aie.use_lock(%room, Release, 1)
      aie.next_bd ^p1
    ^p1:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%stage : memref<96xi32>, 32, 32) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 5>}
      aie.use_lock(%room, Release, 1)
      aie.next_bd ^p2
    ^p2:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%stage : memref<96xi32>, 64, 32) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 5>}
      aie.use_lock(%room, Release, 1)
      aie.next_bd ^p0
    ^n1:
      %2 = aie.dma_start(S2MM, 1, ^b0, ^n2)
    ^b0:
      aie.use_lock(%broom, AcquireGreaterEqual, 1)
      aie.dma_bd(%back : memref<96xi32>, 0, 32)
      aie.use_lock(%bfull, Release, 1)
      aie.next_bd ^b0
    ^n2:
      %3 = aie.dma_start(S2MM, 2, ^b1, ^n3)
    ^b1:
      aie.use_lock(%broom, AcquireGreaterEqual, 1)
      aie.dma_bd(%back : memref<96xi32>, 32, 32)
      aie.use_lock(%bfull, Release, 1)
      aie.next_bd ^b1
    ^n3:
      %4 = aie.dma_start(S2MM, 3, ^b2, ^n4)
    ^b2:
      aie.use_lock(%broom, AcquireGreaterEqual, 1)
      aie.dma_bd(%back : memref<96xi32>, 64, 32)
      aie.use_lock(%bfull, Release, 1)
      aie.next_bd ^b2
    ^n4:
      %9 = aie.dma_start(MM2S, 1, ^out, ^end)
    ^out:
      aie.use_lock(%bfull, AcquireGreaterEqual, 3)
      aie.dma_bd(%back : memref<96xi32>, 0, 96)
      aie.use_lock(%broom, Release, 3)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    aie.runtime_sequence(%a: memref<96xi32>, %b: memref<96xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 1 : i64, metadata = @out, issue_token = true} : memref<96xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 96][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<96xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
