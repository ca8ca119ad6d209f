// Packets of two ids go to two cores.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    %t2 = aie.tile(0, 2)
    %t3 = aie.tile(0, 3)
    aie.packet_flow(1) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%t2, DMA : 0>
    }
    aie.packet_flow(2) {
      aie.packet_source<%shim, DMA : 0>
      aie.packet_dest<%t3, DMA : 0>
    }
    aie.flow(%t2, DMA : 0, %shim, DMA : 0)
    aie.flow(%t3, DMA : 0, %shim, DMA : 1)
    aie.shim_dma_allocation @in(%shim, MM2S, 0)
    aie.shim_dma_allocation @out2(%shim, S2MM, 0)
    aie.shim_dma_allocation @out3(%shim, S2MM, 1)
    %x2 = aie.buffer(%t2) {sym_name = "x2"} : memref<16xi32>
    %y2 = aie.buffer(%t2) {sym_name = "y2"} : memref<16xi32>
    %xfree2 = aie.lock(%t2, 0) {init = 1 : i32, sym_name = "x2_free"}
    %xfull2 = aie.lock(%t2, 1) {init = 0 : i32, sym_name = "x2_full"}
    %yfree2 = aie.lock(%t2, 2) {init = 1 : i32, sym_name = "y2_free"}
    %yfull2 = aie.lock(%t2, 3) {init = 0 : i32, sym_name = "y2_full"}
    aie.mem(%t2) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%xfree2, AcquireGreaterEqual, 1)
      aie.dma_bd(%x2 : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull2, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull2, AcquireGreaterEqual, 1)
      aie.dma_bd(%y2 : memref<16xi32>, 0, 16)
      aie.use_lock(%yfree2, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t2) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 2 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%xfull2, AcquireGreaterEqual, 1)
        aie.use_lock(%yfree2, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x2[%i] : memref<16xi32>
          memref.store %v, %y2[%i] : memref<16xi32>
        }
        aie.use_lock(%xfree2, Release, 1)
        aie.use_lock(%yfull2, Release, 1)
      }
      aie.end
    }
    %x3 = aie.buffer(%t3) {sym_name = "x3"} : memref<16xi32>
    %y3 = aie.buffer(%t3) {sym_name = "y3"} : memref<16xi32>
    %xfree3 = aie.lock(%t3, 0) {init = 1 : i32, sym_name = "x3_free"}
    %xfull3 = aie.lock(%t3, 1) {init = 0 : i32, sym_name = "x3_full"}
    %yfree3 = aie.lock(%t3, 2) {init = 1 : i32, sym_name = "y3_free"}
    %yfull3 = aie.lock(%t3, 3) {init = 0 : i32, sym_name = "y3_full"}
    aie.mem(%t3) {
      %0 = aie.dma_start(S2MM, 0, ^come, ^next)
    ^come:
      aie.use_lock(%xfree3, AcquireGreaterEqual, 1)
      aie.dma_bd(%x3 : memref<16xi32>, 0, 16)
      aie.use_lock(%xfull3, Release, 1)
      aie.next_bd ^come
    ^next:
      %1 = aie.dma_start(MM2S, 0, ^go, ^end)
    ^go:
      aie.use_lock(%yfull3, AcquireGreaterEqual, 1)
      aie.dma_bd(%y3 : memref<16xi32>, 0, 16)
      aie.use_lock(%yfree3, Release, 1)
      aie.next_bd ^go
    ^end:
      aie.end
    }
    aie.core(%t3) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 2 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%xfull3, AcquireGreaterEqual, 1)
        aie.use_lock(%yfree3, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x3[%i] : memref<16xi32>
          memref.store %v, %y3[%i] : memref<16xi32>
        }
        aie.use_lock(%xfree3, Release, 1)
        aie.use_lock(%yfull3, Release, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<32xi32>, %c: memref<32xi32>) {
      aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 2 : i64, metadata = @out2} : memref<32xi32>
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1]) {id = 3 : i64, metadata = @out3} : memref<32xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 32][0, 0, 0, 1], packet = <pkt_id = 1, pkt_type = 0>) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 32][1, 1, 1, 32][0, 0, 0, 1], packet = <pkt_id = 2, pkt_type = 0>) {id = 1 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out2}
      aiex.npu.dma_wait {symbol = @out3}
    }
  }
}
