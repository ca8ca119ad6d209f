module {
  aie.device(npu2) @square_0 {
    %shim = aie.tile(0, 0)
    %tile = aie.tile(0, 2)
    %free = aie.lock(%tile, 0) {init = 1 : i32}
    %full = aie.lock(%tile, 1) {init = 0 : i32}
    %empty = aie.lock(%tile, 2) {init = 1 : i32}
    %done = aie.lock(%tile, 3) {init = 0 : i32}
    %x = aie.buffer(%tile) {sym_name = "x"} : memref<64xi16, 2>
    %y = aie.buffer(%tile) {sym_name = "y"} : memref<64xi16, 2>
    aie.flow(%shim, DMA : 0, %tile, DMA : 0)
    aie.flow(%tile, DMA : 0, %shim, DMA : 0)
    aie.mem(%tile) {
      %0 = aie.dma_start(S2MM, 0, ^bb1, ^bb2)
    ^bb1:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%x : memref<64xi16, 2>, 0, 64) {task_id = 0 : i32}
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^bb1
    ^bb2:
      %1 = aie.dma_start(MM2S, 0, ^bb3, ^bb4)
    ^bb3:
      aie.use_lock(%done, AcquireGreaterEqual, 1)
      aie.dma_bd(%y : memref<64xi16, 2>, 0, 64) {task_id = 0 : i32}
      aie.use_lock(%empty, Release, 1)
      aie.next_bd ^bb3
    ^bb4:
      aie.end
    }
    aie.core(%tile) {
      %c0_i32 = arith.constant 0 : i32
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      cf.br ^bb1
    ^bb1:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.use_lock(%empty, AcquireGreaterEqual, 1)
      scf.for %i = %c0 to %c64 step %c32 {
        %v = vector.load %x[%i] : memref<64xi16, 2>, vector<32xi16>
        %p = aievec.mul_elem %v, %v : vector<32xi16>, vector<32xi16>, vector<32xi32>
        %r = aievec.srs %p, %c0_i32 : vector<32xi32>, i32, vector<32xi16>
        vector.store %r, %y[%i] : memref<64xi16, 2>, vector<32xi16>
      }
      aie.use_lock(%free, Release, 1)
      aie.use_lock(%done, Release, 1)
      cf.br ^bb1
    }
    aie.shim_dma_allocation @from_host(%shim, MM2S, 0)
    aie.shim_dma_allocation @to_host(%shim, S2MM, 0)
    aie.runtime_sequence @square_0_sequence(%a: memref<*xi16>, %b: memref<*xi16>, %n: i32, %g: i32) {
      %0 = aiex.dma_configure_task_for @from_host {
        aie.dma_bd(%a : memref<*xi16>, 0, 64, [<size = 2, stride = 32>, <size = 32, stride = 1>])
        aie.end
      }
      aiex.dma_start_task(%0)
      %1 = aiex.dma_configure_task_for @to_host {
        aie.dma_bd(%b : memref<*xi16>, 0, 64, [<size = 2, stride = 32>, <size = 32, stride = 1>])
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%1)
      aiex.dma_free_task(%0)
      aiex.dma_await_task(%1)
    }
  }
  aie.device(npu2) {
    aie.runtime_sequence @square(%a: memref<*xi16>, %b: memref<*xi16>, %n: i32, %g: i32) {
      aiex.configure @square_0 {
        aiex.run @square_0_sequence(%a, %b, %n, %g) : (memref<*xi16>, memref<*xi16>, i32, i32)
      }
    }
  }
}
