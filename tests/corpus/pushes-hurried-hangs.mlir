// Fourteen input tasks come faster than they are passed on; the queue holds four.
module {
  aie.device(npu1_1col) {
    %t0 = aie.tile(0, 0) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 3>}
    %t2 = aie.tile(0, 2)
    %held = aie.buffer(%t2) {sym_name = "held"} : memref<256xi32>
    %free = aie.lock(%t2, 0) {init = 1 : i32, sym_name = "free"}
    %full = aie.lock(%t2, 1) {init = 0 : i32, sym_name = "full"}
    aie.flow(%t0, DMA : 0, %t2, DMA : 0)
    aie.flow(%t2, DMA : 0, %t0, DMA : 0)
    %m = aie.mem(%t2) {
      %0 = aie.dma_start(S2MM, 0, ^in, ^start)
    ^in:
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%held : memref<256xi32>, 0, 256)
      aie.use_lock(%full, Release, 1)
      aie.next_bd ^in
    ^start:
      %1 = aie.dma_start(MM2S, 0, ^out, ^end)
    ^out:
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%held : memref<256xi32>, 0, 256)
      aie.use_lock(%free, Release, 1)
      aie.next_bd ^out
    ^end:
      aie.end
    }
    aie.packet_flow(0x3) {
      aie.packet_source<%t0, "TileControl" : 0>
      aie.packet_dest<%t0, "South" : 0>
    }
    aie.runtime_sequence(%a: memref<2048xi32>, %out: memref<28672xi32>) {
      %all = aiex.dma_configure_task(%t0, S2MM, 0) {
        aie.dma_bd(%out : memref<28672xi32>, 0, 28672)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%all)
      %task0 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task0)
      %task1 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task1)
      %task2 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task2)
      %task3 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task3)
      %task4 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task4)
      %task5 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task5)
      %task6 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task6)
      %task7 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task7)
      %task8 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task8)
      %task9 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task9)
      %task10 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task10)
      %task11 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task11)
      %task12 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task12)
      %task13 = aiex.dma_configure_task(%t0, MM2S, 0) {
        aie.dma_bd(%a : memref<2048xi32>, 0, 2048)
        aie.end
      }
      aiex.dma_start_task(%task13)
      aiex.dma_await_task(%all)
    }
  }
}
