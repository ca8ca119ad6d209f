// Locks order three writers of one buffer; the last of them comes first and holds the arbiter that the first one needs.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %t2 = aie.tile(0, 2)
    %t3 = aie.tile(0, 3)
    %t4 = aie.tile(0, 4)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.shim_mux(%shim) {
      aie.connect<North : 2, DMA : 0>
    }
    aie.switchbox(%shim) {
      aie.connect<North : 0, South : 2>
      aie.connect<TileControl : 0, South : 0>
    }
    aie.switchbox(%mem) {
      aie.connect<DMA : 0, South : 0>
      %w0 = aie.amsel<1> (0)
      %w1 = aie.amsel<2> (0)
      %w2 = aie.amsel<1> (1)
      aie.masterset(DMA : 0, %w0)
      aie.masterset(DMA : 1, %w1)
      aie.masterset(DMA : 2, %w2)
      aie.packet_rules(North : 0) {
        aie.rule(31, 0, %w0)
      }
      aie.packet_rules(North : 1) {
        aie.rule(31, 1, %w1)
      }
      aie.packet_rules(North : 2) {
        aie.rule(31, 2, %w2)
      }
    }
    aie.switchbox(%t2) {
      aie.connect<DMA : 0, South : 0>
      aie.connect<North : 1, South : 1>
      aie.connect<North : 2, South : 2>
    }
    aie.switchbox(%t3) {
      aie.connect<DMA : 0, South : 1>
      aie.connect<North : 2, South : 2>
    }
    aie.switchbox(%t4) {
      aie.connect<DMA : 0, South : 2>
    }
    %all = aie.buffer(%mem) {sym_name = "all"} : memref<384xi32>
    %cap = aie.lock(%mem, 0) {init = 1 : i32, sym_name = "cap"}
    %w1_lock = aie.lock(%mem, 1) {init = 0 : i32, sym_name = "after_w0"}
    %w2_lock = aie.lock(%mem, 2) {init = 0 : i32, sym_name = "after_w1"}
    %w3_lock = aie.lock(%mem, 3) {init = 0 : i32, sym_name = "after_w2"}
    aie.memtile_dma(%mem) {
      %0 = aie.dma_start(S2MM, 0, ^w0, ^n0)
    ^w0:
      aie.use_lock(%cap, AcquireGreaterEqual, 1)
      aie.dma_bd(%all : memref<384xi32>, 0, 128)
      aie.use_lock(%w1_lock, Release, 1)
      aie.next_bd ^w0
    ^n0:
      %1 = aie.dma_start(S2MM, 1, ^w1, ^n1)
    ^w1:
      aie.use_lock(%w1_lock, AcquireGreaterEqual, 1)
      aie.dma_bd(%all : memref<384xi32>, 128, 128)
      aie.use_lock(%w2_lock, Release, 1)
      aie.next_bd ^w1
    ^n1:
      %2 = aie.dma_start(S2MM, 2, ^w2, ^n2)
    ^w2:
      aie.use_lock(%w2_lock, AcquireGreaterEqual, 1)
      aie.dma_bd(%all : memref<384xi32>, 256, 128)
      aie.use_lock(%w3_lock, Release, 1)
      aie.next_bd ^w2
    ^n2:
      %3 = aie.dma_start(MM2S, 0, ^r, ^end)
    ^r:
      aie.use_lock(%w3_lock, AcquireGreaterEqual, 1)
      aie.dma_bd(%all : memref<384xi32>, 0, 384)
      aie.use_lock(%cap, Release, 1)
      aie.next_bd ^r
    ^end:
      aie.end
    }
    %y2 = aie.buffer(%t2) {sym_name = "part0"} : memref<128xi32>
    %yfull2 = aie.lock(%t2, 0) {init = 0 : i32, sym_name = "part0_full"}
    %yfree2 = aie.lock(%t2, 1) {init = 1 : i32, sym_name = "part0_free"}
    aie.mem(%t2) {
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull2, AcquireGreaterEqual, 1)
      aie.dma_bd(%y2 : memref<128xi32>, 0, 128) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 0>}
      aie.use_lock(%yfree2, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %work = arith.constant 4 : index
      %words = arith.constant 128 : index
      %v = arith.constant 0 : i32
      aie.use_lock(%yfree2, AcquireGreaterEqual, 1)
      scf.for %turn = %c0 to %work step %c1 {
        scf.for %i = %c0 to %words step %c1 {
          memref.store %v, %y2[%i] : memref<128xi32>
        }
      }
      aie.use_lock(%yfull2, Release, 1)
      aie.end
    }
    %y3 = aie.buffer(%t3) {sym_name = "part1"} : memref<128xi32>
    %yfull3 = aie.lock(%t3, 0) {init = 0 : i32, sym_name = "part1_full"}
    %yfree3 = aie.lock(%t3, 1) {init = 1 : i32, sym_name = "part1_free"}
    aie.mem(%t3) {
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull3, AcquireGreaterEqual, 1)
      aie.dma_bd(%y3 : memref<128xi32>, 0, 128) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
      aie.use_lock(%yfree3, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %work = arith.constant 1 : index
      %words = arith.constant 128 : index
      %v = arith.constant 1 : i32
      aie.use_lock(%yfree3, AcquireGreaterEqual, 1)
      scf.for %turn = %c0 to %work step %c1 {
        scf.for %i = %c0 to %words step %c1 {
          memref.store %v, %y3[%i] : memref<128xi32>
        }
      }
      aie.use_lock(%yfull3, Release, 1)
      aie.end
    }
    %y4 = aie.buffer(%t4) {sym_name = "part2"} : memref<128xi32>
    %yfull4 = aie.lock(%t4, 0) {init = 0 : i32, sym_name = "part2_full"}
    %yfree4 = aie.lock(%t4, 1) {init = 1 : i32, sym_name = "part2_free"}
    aie.mem(%t4) {
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull4, AcquireGreaterEqual, 1)
      aie.dma_bd(%y4 : memref<128xi32>, 0, 128) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}
      aie.use_lock(%yfree4, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %work = arith.constant 1 : index
      %words = arith.constant 128 : index
      %v = arith.constant 2 : i32
      aie.use_lock(%yfree4, AcquireGreaterEqual, 1)
      scf.for %turn = %c0 to %work step %c1 {
        scf.for %i = %c0 to %words step %c1 {
          memref.store %v, %y4[%i] : memref<128xi32>
        }
      }
      aie.use_lock(%yfull4, Release, 1)
      aie.end
    }
    aie.runtime_sequence(%b: memref<384xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 384][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<384xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
