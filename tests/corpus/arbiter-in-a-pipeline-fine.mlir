// The packets up and those down have an arbiter each.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %t2 = aie.tile(0, 2)
    %t3 = aie.tile(0, 3)
    %t4 = aie.tile(0, 4)
    %t5 = aie.tile(0, 5)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out(%shim, S2MM, 0)
    aie.shim_mux(%shim) {
      aie.connect<DMA : 0, North : 3>
      aie.connect<North : 2, DMA : 0>
    }
    aie.switchbox(%shim) {
      aie.connect<South : 3, North : 0>
      aie.connect<North : 0, South : 2>
      aie.connect<TileControl : 0, South : 0>
    }
    aie.switchbox(%mem) {
      %up = aie.amsel<5> (0)
      %down = aie.amsel<4> (1)
      aie.masterset(North : 0, %up)
      aie.masterset(South : 0, %down)
      aie.packet_rules(South : 0) {
        aie.rule(31, 0, %up)
      }
      aie.packet_rules(North : 0) {
        aie.rule(31, 2, %down)
      }
    }
    aie.switchbox(%t2) {
      aie.connect<South : 0, North : 0>
      aie.connect<North : 0, South : 0>
    }
    aie.switchbox(%t3) {
      aie.connect<South : 0, North : 0>
      aie.connect<North : 0, South : 0>
    }
    aie.switchbox(%t4) {
      %come = aie.amsel<0> (0)
      aie.masterset(DMA : 0, %come)
      aie.packet_rules(South : 0) {
        aie.rule(31, 0, %come)
      }
      aie.connect<DMA : 0, North : 0>
      aie.connect<North : 0, South : 0>
    }
    aie.switchbox(%t5) {
      aie.connect<South : 0, DMA : 0>
      aie.connect<DMA : 0, South : 0>
    }
    %x4 = aie.buffer(%t4) {sym_name = "x4"} : memref<16xi32>
    %y4 = aie.buffer(%t4) {sym_name = "y4"} : memref<16xi32>
    %xfree4 = aie.lock(%t4, 0) {init = 1 : i32, sym_name = "x4_free"}
    %xfull4 = aie.lock(%t4, 1) {init = 0 : i32, sym_name = "x4_full"}
    %yfree4 = aie.lock(%t4, 2) {init = 1 : i32, sym_name = "y4_free"}
    %yfull4 = aie.lock(%t4, 3) {init = 0 : i32, sym_name = "y4_full"}
    aie.mem(%t4) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%xfree4, AcquireGreaterEqual, 1)
      aie.dma_bd(%x4 : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull4, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull4, AcquireGreaterEqual, 1)
      aie.dma_bd(%y4 : memref<16xi32>, 0, 16)
      aie.use_lock(%yfree4, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t4) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 16 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%xfull4, AcquireGreaterEqual, 1)
        aie.use_lock(%yfree4, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x4[%i] : memref<16xi32>
          memref.store %v, %y4[%i] : memref<16xi32>
        }
        aie.use_lock(%xfree4, Release, 1)
        aie.use_lock(%yfull4, Release, 1)
      }
      aie.end
    }
    %x5 = aie.buffer(%t5) {sym_name = "x5"} : memref<16xi32>
    %y5 = aie.buffer(%t5) {sym_name = "y5"} : memref<16xi32>
    %xfree5 = aie.lock(%t5, 0) {init = 1 : i32, sym_name = "x5_free"}
    %xfull5 = aie.lock(%t5, 1) {init = 0 : i32, sym_name = "x5_full"}
    %yfree5 = aie.lock(%t5, 2) {init = 1 : i32, sym_name = "y5_free"}
    %yfull5 = aie.lock(%t5, 3) {init = 0 : i32, sym_name = "y5_full"}
    aie.mem(%t5) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%xfree5, AcquireGreaterEqual, 1)
      aie.dma_bd(%x5 : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull5, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull5, AcquireGreaterEqual, 1)
      aie.dma_bd(%y5 : memref<16xi32>, 0, 16) {packet = #aie.packet_info<pkt_type = 0, pkt_id = 2>}
      aie.use_lock(%yfree5, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t5) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 16 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%xfull5, AcquireGreaterEqual, 1)
        aie.use_lock(%yfree5, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x5[%i] : memref<16xi32>
          memref.store %v, %y5[%i] : memref<16xi32>
        }
        aie.use_lock(%xfree5, Release, 1)
        aie.use_lock(%yfull5, Release, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<256xi32>, %b: memref<272xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 272][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<272xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 256][0, 0, 0, 1], packet = <pkt_id = 0, pkt_type = 0>) {id = 0 : i64, metadata = @in} : memref<256xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}
