// Devices and host sequences for tests: every operation of the importer outside of core bodies, in both forms where
// tests have both. Each text stands alone; lines of dashes separate them, as in files of mlir-opt.
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 4)

  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  aie.shim_dma_allocation @low(%s, MM2S, 0)
  aie.shim_dma_allocation @high(%s, MM2S, 1)
  %b0 = aie.buffer(%m) {address = 0 : i32} : memref<64xi32>
  %full = aie.lock(%m, 0) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(MM2S, 0) {loop = false} [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<64xi32>)
    }]
    aie.end
  }

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {

}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<8xi32>>


  func.func private @own(memref<8xi32>, i32, i32, i32)
  aie.lock(%c, 8) {init = 42 : i32, sym_name = "a"}
  aie.lock(%c, 9) {init = 17 : i32}

  %begin = aie.lock(%c, 5) {init = 0 : i32}
aie.core(%c) {
    %s0 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
    %y = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
    %go = arith.constant 1 : i32
    aie.use_lock(%begin, Acquire, %go)
    %at = arith.constant 0x1F080 : i32
    %n = arith.constant 2 : i32
    %by = arith.constant 16 : i32
    func.call @own(%y, %at, %n, %by) : (memref<8xi32>, i32, i32, i32) -> ()
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  }
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {

  %bus = arith.constant 0x32038 : i32
  %on = arith.constant 1 : i32
  aiex.npu.maskwrite32(%bus, %on, %on) {column = 0 : i32, row = 2 : i32} : i32, i32, i32

aiex.set_lock(%begin, 1)
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
aie.flow(%s, DMA : 0, %m, DMA : 0)
aie.flow(%m, DMA : 0, %s, DMA : 0)

  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)


  %b0 = aie.buffer(%m) : memref<16xi32>
  %free = aie.lock(%m) {init = 1 : i32}
  %full = aie.lock(%m) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(S2MM, 0) [{
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%full, Release, 1)
    }]
    %1 = aie.dma(MM2S, 0) [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%free, Release, 1)
    }]
    aie.end
  }

aie.trace @t(%c) {
      aie.trace.mode "Event-Time"
      aie.trace.packet id=1 type=core
      aie.trace.event<"INSTR_EVENT_0">
      aie.trace.port<0> port=DMA channel=0 direction=S2MM
      aie.trace.start broadcast=15
      aie.trace.stop broadcast=14
    }
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aie.trace.host_config {buffer_size = 8192 : i32}
aie.trace.start_config @t
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
aie.flow(%s, DMA : 0, %m, DMA : 0)
aie.flow(%m, DMA : 0, %s, DMA : 0)

  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)


  %b0 = aie.buffer(%m) : memref<16xi32>
  %free = aie.lock(%m) {init = 1 : i32}
  %full = aie.lock(%m) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(S2MM, 0) [{
      aie.use_lock(%free, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%full, Release, 1)
    }]
    %1 = aie.dma(MM2S, 0) [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<16xi32>)
      aie.use_lock(%free, Release, 1)
    }]
    aie.end
  }

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>, %n: i64, %go: i1) {

  scf.if %go {
    %one = arith.constant 1 : index
    %count = arith.index_cast %n : i64 to index
    %sixteen = arith.constant 16 : i32
    %short = arith.trunci %n : i64 to i32
    %len = arith.muli %short, %sixteen : i32
    %out = aiex.dma_configure_task_for @out {
      aie.dma_bd(%b : memref<64xi32> offset = 0 len = %len sizes = [1, 1, %n, 16] strides = [0, 0, 16, 1])
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%out)
    %first = aiex.dma_configure_task_for @in {
      aie.dma_bd(%a : memref<64xi32> offset = 0 len = 16)
      aie.end
    } {issue_token = true}
    aiex.dma_start_task(%first)
    %last = scf.for %i = %one to %count step %one iter_args(%before = %first) -> (index) {
      %t = aiex.dma_configure_task_for @in {
        aie.dma_bd(%a : memref<64xi32> offset = 0 len = 16)
        aie.end
      } {issue_token = true}
      aiex.dma_start_task(%t)
      aiex.dma_free_task(%before)
      scf.yield %t : index
    }
    aiex.dma_await_task(%last)
    aiex.dma_await_task(%out)
  }

}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
%x = aie.buffer(%c) {sym_name = "x"} : memref<4xi32>
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
%a1 = arith.constant -7 : i32
%b1 = arith.constant 2 : i32
%q = arith.divsi %a1, %b1 : i32
%r = arith.remsi %a1, %b1 : i32
aiex.npu.rtp_write(@x, 0, %q)
aiex.npu.rtp_write(@x, 1, %r)
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  %in = aie.external_buffer {sym_name = "in"} : memref<64xi32>
  %out = aie.external_buffer {sym_name = "out"} : memref<64xi32>


  aie.objectfifo @a(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @b(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo.link [@a] -> [@b]([] [])


  "aie.objectfifo.register_external_buffers"(%s, %in) <{objFifo_name = @a}> : (index, memref<64xi32>) -> ()
  "aie.objectfifo.register_external_buffers"(%s, %out) <{objFifo_name = @b}> : (index, memref<64xi32>) -> ()

}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
aie.flow(%s, DMA : 0, %m, DMA : 0)
aie.flow(%m, DMA : 0, %s, DMA : 0)

  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)


  %b0 = aie.buffer(%m) : memref<32xi32>
  %b1 = aie.buffer(%m) : memref<32xi32>
  %free = aie.lock(%m) {init = 2 : i32}
  %full = aie.lock(%m) {init = 0 : i32}


  aie.bd_chain @both(%one: memref<32xi32>, %other: memref<32xi32>, %take: index, %give: index) {
      %c1 = arith.constant 1 : i32
      aie.use_lock(%take, AcquireGreaterEqual, %c1)
      aie.dma_bd(%one : memref<32xi32> offset = 0 len = 32)
      aie.use_lock(%give, Release, %c1)
      aie.next_bd ^second
    ^second:
      %c1_0 = arith.constant 1 : i32
      aie.use_lock(%take, AcquireGreaterEqual, %c1_0)
      aie.dma_bd(%other : memref<32xi32> offset = 0 len = 32)
      aie.use_lock(%give, Release, %c1_0)
      aie.end
  }


  "aie.bd_chain"() <{sym_name = "halves"}> ({
    ^bb0(%first: memref<64xi32>, %second: memref<64xi32>):
      "aie.dma_bd"(%first) <{len = 32 : i32, offset = 0 : i32}> : (memref<64xi32>) -> ()
      "aie.next_bd"()[^bb1] : () -> ()
    ^bb1:
      "aie.dma_bd"(%second) <{len = 32 : i32, offset = 32 : i32}> : (memref<64xi32>) -> ()
      "aie.end"() : () -> ()
  }) : () -> ()

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
%0 = "aiex.dma_start_bd_chain"(%b0, %b1, %free, %full, %m) <{channel = 0 : i32, direction = 0 : i32, symbol = @both}> : (memref<32xi32>, memref<32xi32>, index, index, index) -> index
%1 = "aiex.dma_start_bd_chain"(%b0, %b1, %full, %free, %m) <{channel = 0 : i32, direction = 1 : i32, symbol = @both}> : (memref<32xi32>, memref<32xi32>, index, index, index) -> index
%2 = "aiex.dma_start_bd_chain_for"(%b, %b) <{alloc = @out, issue_token = true, symbol = @halves}> : (memref<64xi32>, memref<64xi32>) -> index
%3 = "aiex.dma_start_bd_chain"(%a, %a, %s) <{channel = 0 : i32, direction = 1 : i32, symbol = @halves}> : (memref<64xi32>, memref<64xi32>, index) -> index
aiex.dma_await_task(%2)
}
}

// -----
air.launch (%x) in (%n = %m) { air.herd tile (%x) { } }
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  %free = aie.lock(%m, 0) {init = 1 : i32}
  %full = aie.lock(%m, 1) {init = 0 : i32}
  %buf = aie.buffer(%m) {address = 0 : i32, sym_name = "buf"} : memref<64xi32>
  aie.switchbox(%s) { aie.connect<South : 3, North : 1>  aie.connect<North : 0, South : 2> }
  aie.shim_mux(%s) { aie.connect<DMA : 0, North : 3>  aie.connect<North : 2, DMA : 0> }
  aie.switchbox(%m) { aie.connect<South : 1, DMA : 0>  aie.connect<DMA : 0, South : 0> }
  aie.memtile_dma(%m) {
    %0 = aie.dma_start(S2MM, 0, ^one, ^next)
  ^one:
    aie.use_lock(%free, AcquireGreaterEqual, 1)
    aie.dma_bd(%buf : memref<64xi32>, 0, 64)
    aie.use_lock(%full, Release, 1)
    aie.next_bd ^one
  ^next:
    %1 = aie.dma_start(MM2S, 0, ^two, ^end)
  ^two:
    aie.use_lock(%full, AcquireGreaterEqual, 1)
    aie.dma_bd(%buf : memref<64xi32>, 0, 64)
    aie.use_lock(%free, Release, 1)
    aie.next_bd ^two
  ^end:
    aie.end
  }
  
  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)


aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {

}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 3>}
%c = aie.tile(0, 2) {controller_id = #aie.packet_info<pkt_type = 0, pkt_id = 1>}
%x = aie.buffer(%c) {sym_name = "x"} : memref<64xi32>
aie.flow(%s, DMA : 0, %c, DMA : 0)
aie.flow(%c, DMA : 0, %s, DMA : 0)
aie.packet_flow(1) { aie.packet_source<%c, TileControl : 0> aie.packet_dest<%s, South : 0> }
aie.packet_flow(3) { aie.packet_source<%s, TileControl : 0> aie.packet_dest<%s, South : 0> }
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
%t0 = aiex.dma_configure_task(%s, MM2S, 0) {
aie.dma_bd(%a : memref<64xi32> offset = 0 len = 64) {bd_id = 0 : i32}
aie.end
} 
aiex.dma_start_task(%t0)

%t1 = aiex.dma_configure_task(%c, S2MM, 0) {
aie.dma_bd(%x : memref<64xi32> offset = 0 len = 64) {bd_id = 0 : i32}
aie.end
} {issue_token = true}
aiex.dma_start_task(%t1)
aiex.dma_await_task(%t1)
%t2 = aiex.dma_configure_task(%c, MM2S, 0) {
aie.dma_bd(%x : memref<64xi32> offset = 0 len = 64) {bd_id = 1 : i32}
aie.end
} 
aiex.dma_start_task(%t2)

%t3 = aiex.dma_configure_task(%s, S2MM, 0) {
aie.dma_bd(%b : memref<64xi32> offset = 0 len = 64) {bd_id = 1 : i32}
aie.end
} {issue_token = true}
aiex.dma_start_task(%t3)
aiex.dma_await_task(%t3)
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
%b = aie.buffer(%c) {sym_name = "b"} : memref<16xi32>
aie.core(%c) { 
  %z = arith.constant 0 : index
  %o = arith.constant 1 : index
  %n = arith.constant 5 : index
  %m = arith.constant 16 : index
  %k = arith.constant 3 : i32
 
  %0 = arith.cmpi slt, %z, %n : index
  cf.cond_br %0, ^one, ^one
^one:
  %1 = arith.addi %z, %o : index
  cf.br ^two
^two:
  aie.end
 }
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {

}
}

// -----
module { aie.device(npu1_2col) { %s = aie.tile(0, 0)
%a = aie.tile(0, 3)
%b = aie.tile(1, 3)
%c = aie.tile(1, 2)
 aie.cascade_flow(%a, %b)
 aie.cascade_flow(%b, %c) 
func.func private @sends(memref<16xi32>)
func.func private @takes(memref<16xi32>)
func.func private @passes()
 
aie.objectfifo @in(%s, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
 
aie.core(%a) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @sends(%o) : (memref<16xi32>) -> ()
    aie.objectfifo.release @in(Consume, 1)
  }
  aie.end
}
 
aie.core(%b) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    
    %w = "aie.get_cascade"() : () -> vector<16xi32>
 "aie.put_cascade"(%w) : (vector<16xi32>) -> ()
    
  }
  aie.end
}
 
aie.core(%c) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @takes(%o) : (memref<16xi32>) -> ()
    aie.objectfifo.release @out(Produce, 1)
  }
  aie.end
}
 
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
  aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
  aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
  aiex.npu.dma_wait {symbol = @out}
}
 } }

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
aie.objectfifo @f(%c, {%d}, 2 : i32)  : !aie.objectfifo<memref<16xi32>>

aie.objectfifo.allocate @f (%d)
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.flow(%c, DMA : 0, %s, DMA : 0)
  %go = aie.lock(%c, 0) {init = 0 : i32}
  %good = aie.buffer(%c) {initial_value = dense<7> : tensor<64xi32>} : memref<64xi32>
  %bad = aie.buffer(%c) {initial_value = dense<9> : tensor<64xi32>} : memref<64xi32>
  aie.mem(%c) {
    %0 = aie.dma_start(MM2S, 0, ^bad, ^end)
  ^bad:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%bad : memref<64xi32>) {bd_id = 0 : i32}
    aie.next_bd ^good
  ^good:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%good : memref<64xi32>) {bd_id = 1 : i32}
    aie.next_bd ^end
  ^end:
    aie.end
  }


  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)

aie.shim_dma_allocation @bad(%c, MM2S, 0)
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.dma_channel_reset_for @bad

  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  aiex.npu.push_queue (0, 2, MM2S:0) bd_id %one repeat %none {issue_token = false} : i32, i32
  aiex.set_lock(%go, 1)

aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1)  {

  %s = aie.logical_tile<ShimNOCTile>(?, ?)
  %r = aie.logical_tile<ShimNOCTile>(?, ?)
  %c = aie.logical_tile<CoreTile>(2, ?)
%fixed = aie.tile(2, 2)
aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @out(%c, {%r}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
}

// -----
aie.device(npu2)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 4)

  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  aie.shim_dma_allocation @low(%s, MM2S, 0)
  aie.shim_dma_allocation @high(%s, MM2S, 1)
  %b0 = aie.buffer(%m) {address = 0 : i32} : memref<64xi32>
  %full = aie.lock(%m, 0) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma(MM2S, 0) {loop = false} [{
      aie.use_lock(%full, AcquireGreaterEqual, 1)
      aie.dma_bd(%b0 : memref<64xi32>)
    }]
    aie.end
  }

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
"aiex.control_packet"() <{address = 4195328 : ui32, data = array<i32: 77>, opcode = 0 : i32, stream_id = 0 : i32}> : () -> ()
"aiex.control_packet"() <{address = 1048576 : ui32, data = array<i32: 11, 22, 33, 44>, opcode = 0 : i32, stream_id = 0 : i32}> : () -> ()
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
"aiex.control_packet"() <{address = 1835008 : ui32, data = array<i32: 1>, opcode = 0 : i32, stream_id = 0 : i32}> : () -> ()
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
module { aie.device(npu1_2col) { %s = aie.tile(0, 0)
%a = aie.tile(0, 3)
%b = aie.tile(1, 3)
%c = aie.tile(1, 2)
 
aie.flow(%a, Core : 0, %b, Core : 0)
 
aie.objectfifo @in(%s, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @out(%b, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
 
aie.core(%a) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    scf.for %k = %n0 to %n16 step %n4 { %l = memref.load %o[%k] : memref<16xi32>
%x = arith.extui %l : i32 to i128
 aie.put_stream(%port : i32, %x : i128) }
    aie.objectfifo.release @in(Consume, 1)
  }
  aie.end
}
 
aie.core(%b) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    scf.for %k = %n0 to %n16 step %n4 { %y = aie.get_stream(%port : i32) : i128
 %t = arith.trunci %y : i128 to i32
 memref.store %t, %o[%k] : memref<16xi32> }
    aie.objectfifo.release @out(Produce, 1)
  }
  aie.end
}
 
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
  aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
  aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
  aiex.npu.dma_wait {symbol = @out}
}
 } }

// -----
AIE.device(ipu) {
        %s = AIE.tile(0, 0)
        %m = AIE.tile(0, 1)
        %buf = AIE.buffer(%m) {sym_name = "buf"} : memref<64xi32>
        %free = AIE.lock(%m, 0) {init = 1 : i32}
        %full = AIE.lock(%m, 1) {init = 0 : i32}
        AIE.flow(%s, "DMA" : 0, %m, "DMA" : 0)
        AIE.flow(%m, "DMA" : 0, %s, "DMA" : 0)
        AIE.shimDMAAllocation @in(MM2S, 0, 0)
        AIE.shimDMAAllocation @out(S2MM, 0, 0)
        %d = AIE.memTileDMA(%m) {
          %0 = AIE.dmaStart("S2MM0", ^one, ^next)
        ^one:
          AIE.useLock(%free, "AcquireGreaterEqual", 1)
          AIE.dmaBd(<%buf : memref<64xi32>, 0, 64>, 0)
          AIE.useLock(%full, "Release", 1)
          AIE.nextBd ^one
        ^next:
          %1 = AIE.dmaStart("MM2S0", ^two, ^end)
        ^two:
          AIE.useLock(%full, "AcquireGreaterEqual", 1)
          AIE.dmaBd(<%buf : memref<64xi32>, 32, 32>, 0)
          AIE.useLock(%free, "Release", 1)
          AIE.nextBd ^two
        ^end:
          AIE.end
        }
        func.func @host(%a: memref<64xi32>, %b: memref<32xi32>) {
          AIEX.ipu.dma_memcpy_nd(0, 0, %b[0,0,0,0][1,1,1,32][0,0,0]) {metadata = @out, id = 1 : i64} : memref<32xi32>
          AIEX.ipu.dma_memcpy_nd(0, 0, %a[0,0,0,0][1,1,1,64][0,0,0]) {metadata = @in, id = 0 : i64} : memref<64xi32>
          AIEX.ipu.sync {column = 0 : i32, row = 0 : i32, direction = 0 : i32, channel = 0 : i32,
                         column_num = 1 : i32, row_num = 1 : i32}
          return
        }
      }

// -----
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %mem = aie.tile(0, 1)
    aie.objectfifo @in(%shim, {%mem}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%mem, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo.link [@in] -> [@out]([] [])
    aiex.runtime_sequence(%a: memref<64xi32>, %unused: memref<64xi32>, %c: memref<64xi32>) {
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in}
        : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out}
        : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  %in = aie.external_buffer {sym_name = "in"} : memref<64xi32>
  %out = aie.external_buffer {sym_name = "out"} : memref<64xi32>


  %free = aie.lock(%s, 0) {init = 1 : i32}
  %full = aie.lock(%s, 1) {init = 0 : i32}
  aie.flow(%s, DMA : 0, %s, DMA : 1)
  aie.shim_dma(%s) {
    %0 = aie.dma_start(MM2S, 0, ^send, ^next)
  ^send:
    aie.dma_bd(%in : memref<64xi32>, 0, 64)
    aie.next_bd ^end
  ^next:
    %1 = aie.dma_start(S2MM, 1, ^take, ^end)
  ^take:
    aie.use_lock(%free, AcquireGreaterEqual, 1)
    aie.dma_bd(%out : memref<64xi32>, 0, 64)
    aie.use_lock(%full, Release, 1)
    aie.next_bd ^end
  ^end:
    aie.end
  }

}

// -----
module { aie.device(npu1_2col) { %s = aie.tile(0, 0)
%a = aie.tile(0, 3)
%b = aie.tile(1, 3)
%c = aie.tile(1, 2)
 aie.cascade_flow(%a, %b)
 aie.cascade_flow(%b, %c) 
func.func private @sends(memref<16xi32>)
func.func private @takes(memref<16xi32>)
func.func private @passes()
 
aie.objectfifo @in(%s, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
 
aie.core(%a) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @sends(%o) : (memref<16xi32>) -> ()
    aie.objectfifo.release @in(Consume, 1)
  }
  aie.end
}
 
aie.core(%b) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    
    %w = aie.getCascade() : i512
 aie.putCascade(%w : i512)
    
  }
  aie.end
}
 
aie.core(%c) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @takes(%o) : (memref<16xi32>) -> ()
    aie.objectfifo.release @out(Produce, 1)
  }
  aie.end
}
 
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
  aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
  aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
  aiex.npu.dma_wait {symbol = @out}
}
 } }

// -----
module { aie.device(npu1_2col) { %s = aie.tile(0, 0)
%a = aie.tile(0, 3)
%b = aie.tile(1, 3)
%c = aie.tile(1, 2)
 "aie.configure_cascade"(%a) <{inputDir = 5 : i32, outputDir = 6 : i32}> : (index) -> ()
"aie.configure_cascade"(%b) <{inputDir = 4 : i32, outputDir = 3 : i32}> : (index) -> () 
func.func private @sends(memref<16xi32>)
func.func private @takes(memref<16xi32>)
func.func private @passes()
 
aie.objectfifo @in(%s, {%a}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
 
aie.core(%a) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @sends(%o) : (memref<16xi32>) -> ()
    aie.objectfifo.release @in(Consume, 1)
  }
  aie.end
}
 
aie.core(%b) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    
    func.call @passes() : () -> ()
    
  }
  aie.end
}
 
aie.core(%c) {
  %n0 = arith.constant 0 : index
  %n1 = arith.constant 1 : index
  %n4 = arith.constant 4 : index
  %n16 = arith.constant 16 : index
  %port = arith.constant 0 : i32
  scf.for %i = %n0 to %n4 step %n1 {
    %v = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %o = aie.objectfifo.subview.access %v[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
    func.call @takes(%o) : (memref<16xi32>) -> ()
    aie.objectfifo.release @out(Produce, 1)
  }
  aie.end
}
 
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
  aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
  aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
  aiex.npu.dma_wait {symbol = @out}
}
 } }

// -----
aie.device(npu1_1col) @main {
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.configure @add2 {
%a0 = memref.subview %a[0] [16] [1] : memref<64xi32> to memref<16xi32>
%b0 = memref.subview %b[0] [16] [1] : memref<64xi32> to memref<16xi32>
aiex.run @part(%a0, %b0) : (memref<16xi32>, memref<16xi32>)
}
aiex.configure @add5 {
%a16 = memref.subview %a[16] [16] [1] : memref<64xi32> to memref<16xi32>
%b16 = memref.subview %b[16] [16] [1] : memref<64xi32> to memref<16xi32>
aiex.run @part(%a16, %b16) : (memref<16xi32>, memref<16xi32>)
}
}
}
aie.device(npu1_1col) @add2 {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.objectfifo @in(%s, {%c}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<16xi32>>

aie.core(%c) {
      %z = arith.constant 0 : index
      %n = arith.constant 0x7FFFFFFE : index
      %w = arith.constant 16 : index
      %o = arith.constant 1 : index
      %k = arith.constant 2 : i32
      scf.for %t = %z to %n step %o {
        %s0 = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %s1 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %s1[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %z to %w step %o {
          %v = memref.load %x[%i] : memref<16xi32>
          %r = arith.addi %v, %k : i32
          memref.store %r, %y[%i] : memref<16xi32>
        }
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
aie.runtime_sequence @part(%x: memref<16xi32>, %y: memref<16xi32>) {
  aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1, metadata = @out} : memref<16xi32>
  aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0, metadata = @in} : memref<16xi32>
  aiex.npu.dma_wait {symbol = @out}
}
}
aie.device(npu1_1col) @add5 {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.objectfifo @first(%s, {%c}, 1 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @last(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<16xi32>>

aie.core(%c) {
      %z = arith.constant 0 : index
      %n = arith.constant 0x7FFFFFFE : index
      %w = arith.constant 16 : index
      %o = arith.constant 1 : index
      %k = arith.constant 5 : i32
      scf.for %t = %z to %n step %o {
        %s0 = aie.objectfifo.acquire @first(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %s1 = aie.objectfifo.acquire @last(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %s1[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %z to %w step %o {
          %v = memref.load %x[%i] : memref<16xi32>
          %r = arith.addi %v, %k : i32
          memref.store %r, %y[%i] : memref<16xi32>
        }
        aie.objectfifo.release @first(Consume, 1)
        aie.objectfifo.release @last(Produce, 1)
      }
      aie.end
    }
aie.runtime_sequence @part(%x: memref<16xi32>, %y: memref<16xi32>) {
  aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 1, metadata = @last} : memref<16xi32>
  aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 16][0, 0, 0, 1]) {id = 0, metadata = @first} : memref<16xi32>
  aiex.npu.dma_wait {symbol = @last}
}
}

// -----
aie.device(npu1) {
  %s = aie.tile(0, 0)
  %m = aie.tile(0, 1)
  aie.flow(%s, DMA : 0, %m, DMA : 0)
  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
    aiex.npu.writebd {bd_id = 0 : i32, buffer_length = 64 : i32, buffer_offset = 0 : i32,
      column = 0 : i32, row = 1 : i32,
      valid_bd = 1 : i32, lock_rel_id = 0 : i32, lock_rel_val = 1 : i32}
    aiex.npu.writebd {bd_id = 1 : i32, buffer_length = 64 : i32, buffer_offset = 0 : i32,
      column = 0 : i32, row = 1 : i32,
      valid_bd = 1 : i32, lock_acq_enable = 1 : i32, lock_acq_id = 0 : i32,
      lock_acq_val = 127 : i32}
    aiex.npu.push_queue(0, 1, S2MM:0) bd_id 0 repeat 0 {issue_token = false}
    aiex.npu.push_queue(0, 1, MM2S:0) bd_id 1 repeat 0 {issue_token = false}
    aiex.npu.dma_memcpy_nd(%b[0,0,0,0][1,1,1,64][0,0,0,1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
    aiex.npu.dma_memcpy_nd(%a[0,0,0,0][1,1,1,64][0,0,0,1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
}

// -----
aie.device(npu1_1col) @main {
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.npu.load_pdi {device_ref = @one}
aiex.npu.load_pdi {device_ref = @two}
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}
aie.device(npu1_1col) @one {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
%w = aie.buffer(%m) {address = 0 : i32, initial_value = dense<3> : tensor<64xi32>} : memref<64xi32>
aie.flow(%m, DMA : 0, %s, DMA : 0)
      aie.memtile_dma(%m) {
        %0 = aie.dma(MM2S, 0) [{
          aie.dma_bd(%w : memref<64xi32>)
        }]
        aie.end
      }

  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)

}
aie.device(npu1_1col) @two {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
%w = aie.buffer(%m) {address = 0 : i32} : memref<64xi32>
aie.flow(%m, DMA : 0, %s, DMA : 0)
      aie.memtile_dma(%m) {
        %0 = aie.dma(MM2S, 0) [{
          aie.dma_bd(%w : memref<64xi32>)
        }]
        aie.end
      }

  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)

}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.flow(%c, DMA : 0, %s, DMA : 0)
  %go = aie.lock(%c, 0) {init = 0 : i32}
  %good = aie.buffer(%c) {initial_value = dense<7> : tensor<64xi32>} : memref<64xi32>
  %bad = aie.buffer(%c) {initial_value = dense<9> : tensor<64xi32>} : memref<64xi32>
  aie.mem(%c) {
    %0 = aie.dma_start(MM2S, 0, ^bad, ^end)
  ^bad:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%bad : memref<64xi32>) {bd_id = 0 : i32}
    aie.next_bd ^good
  ^good:
    aie.use_lock(%go, AcquireGreaterEqual, 1)
    aie.dma_bd(%good : memref<64xi32>) {bd_id = 1 : i32}
    aie.next_bd ^end
  ^end:
    aie.end
  }


  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)

aie.shim_dma_allocation @bad(%c, MM2S, 0)
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.dma_channel_reset(%c, MM2S, 0)

  %one = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  aiex.npu.push_queue (0, 2, MM2S:0) bd_id %one repeat %none {issue_token = false} : i32, i32
  aiex.set_lock(%go, 1)

aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  %taken = aie.lock(%c, 0) {init = 1 : i32}
  %made = aie.lock(%c, 1) {init = 0 : i32}
  %count = aie.buffer(%c) : memref<1xi32>
  %found = aie.buffer(%c) : memref<8xi32>
  aie.flow(%c, DMA : 0, %s, DMA : 0)
  aie.mem(%c) {
    %0 = aie.dma(MM2S, 0) [{
      aie.use_lock(%made, AcquireGreaterEqual, 1)
      aie.dma_bd(%found : memref<8xi32>)
      aie.use_lock(%taken, Release, 1)
    }]
    aie.end
  }
  aie.core(%c) {
    %z = arith.constant 0 : index
    %w = arith.constant 8 : index
    %o = arith.constant 1 : index
    %k = arith.constant 1 : i32
    aie.use_lock(%taken, AcquireGreaterEqual, 1)
    %n = memref.load %count[%z] : memref<1xi32>
    %m1 = arith.addi %n, %k : i32
    memref.store %m1, %count[%z] : memref<1xi32>
    scf.for %i = %z to %w step %o {
      memref.store %m1, %found[%i] : memref<8xi32>
    }
    aie.use_lock(%made, Release, 1)
    aie.end
  }


  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 0 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
aiex.core_reset(%c)

  %control = arith.constant 0x32000 : i32
  %on = arith.constant 1 : i32
  aiex.npu.maskwrite32(%control, %on, %on) {column = 0 : i32, row = 2 : i32} : i32, i32, i32

aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 8][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
// The core takes three objects and ends; the host sends four and waits for four.
module {
  aie.device(npu1_1col) {
    %shim = aie.tile(0, 0)
    %core = aie.tile(0, 2)
    aie.objectfifo @in(%shim, {%core}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%core, {%shim}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    %c = aie.core(%core) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 3 : index
      %words = arith.constant 16 : index
      scf.for %turn = %c0 to %turns step %c1 {
        %s = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %s[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %t = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %t[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %c0 to %words step %c1 {
          %v = memref.load %x[%i] : memref<16xi32>
          memref.store %v, %y[%i] : memref<16xi32>
        }
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
    aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
      aiex.npu.write32 {address = 0x32000 : ui32, column = 0 : i32, row = 2 : i32, value = 1 : ui32}
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
      aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
      aiex.npu.dma_wait {symbol = @out}
    }
  }
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
func.func @sign(%v: i32) -> i32 {
    %c20 = arith.constant 20 : i32
    %less = arith.cmpi slt, %v, %c20 : i32
    cf.cond_br %less, ^low, ^high(%v : i32)
  ^low:
    %zero = arith.constant 0 : i32
    %minus = arith.subi %zero, %v : i32
    return %minus : i32
  ^high(%w: i32):
    return %w : i32
  }

    aie.objectfifo @in(%s, {%c}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.objectfifo @out(%c, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
    aie.core(%c) {
      %z = arith.constant 0 : index
      %n = arith.constant 4 : index
      %w = arith.constant 16 : index
      %o = arith.constant 1 : index
      scf.for %t = %z to %n step %o {
        %s0 = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<16xi32>>
        %x = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        %s1 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<16xi32>>
        %y = aie.objectfifo.subview.access %s1[0] : !aie.objectfifosubview<memref<16xi32>> -> memref<16xi32>
        scf.for %i = %z to %w step %o {
  %v = memref.load %x[%i] : memref<16xi32>
  %r = func.call @sign(%v) : (i32) -> i32
  memref.store %r, %y[%i] : memref<16xi32>
}
        aie.objectfifo.release @in(Consume, 1)
        aie.objectfifo.release @out(Produce, 1)
      }
      aie.end
    }
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
"aiex.scratchpad_parameter"() <{sym_name = "p", type = i32}> : () -> ()
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<8xi32>>


  aie.core(%c) {
    %z = arith.constant 0 : index
    %w = arith.constant 8 : index
    %o = arith.constant 1 : index
    %v = "aiex.read_scratchpad_parameter"() <{parameter = @p}> : () -> i32
    %s0 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
    %y = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
    scf.for %i = %z to %w step %o {
      memref.store %v, %y[%i] : memref<8xi32>
    }
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  } 

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
"aiex.sync_scratchpad_parameters_from_host"() : () -> ()
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<8xi32>>

%b0 = aie.buffer(%c) {sym_name = "store"} : memref<2xi32>
  %ready = aie.lock(%c) {init = 0 : i32, sym_name = "ready"}

  aie.core(%c) {
    %z = arith.constant 0 : index
    %w = arith.constant 8 : index
    %o = arith.constant 1 : index
    %one = arith.constant 1 : i32
    %none = arith.constant 0 : i32
    aie.use_lock(%ready, Acquire, %one)
    %v = memref.load %b0[%z] : memref<2xi32>
    aie.use_lock(%ready, Release, %none)
    %s0 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
    %y = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
    scf.for %i = %z to %w step %o {
      memref.store %v, %y[%i] : memref<8xi32>
    }
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  } 

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.npu.create_scratchpad {size = 8 : ui32}
"aiex.npu.update_from_scratchpad"() <{state_table_idx = 1 : ui8, func = 0 : i32,
      func_arg = 3 : ui32, address = 0 : ui32, buffer = @store}> : () -> ()
aiex.set_lock(%ready, 1)
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.npu.address_patch {addr = 4 : ui32}
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
%c0 = arith.constant 0 : i64
%c1 = arith.constant 1 : i64
%c70 = arith.constant 70 : i64
%c1099511627776 = arith.constant 1099511627776 : i64
%x = arith.shli %c1, %c70 : i64
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
%mm = aie.buffer(%c) {sym_name = "m"} : memref<4x2xi32>
%k = aie.lock(%c, 0) {sym_name = "k"}

%core = aie.core(%c) {
%z = arith.constant 0 : index
%one = arith.constant 1 : index
%four = arith.constant 4 : index
%n = arith.constant -1 : index
%far = arith.constant 4000000000000 : index
%i = arith.constant 7 : i32
%o = arith.constant 0 : i32
%f = arith.constant 1.0 : f32
%g = arith.constant 0.0 : f32
%t = arith.constant true

%r = memref.collapse_shape %mm [[0, 1]] : memref<4x2xi32> into memref<9xi32>
aie.end
}
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {

}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)
%mm = aie.buffer(%c) {sym_name = "m"} : memref<4x2xi32>
%k = aie.lock(%c, 0) {sym_name = "k"}

%core = aie.core(%c) {
%z = arith.constant 0 : index
%one = arith.constant 1 : index
%four = arith.constant 4 : index
%n = arith.constant -1 : index
%far = arith.constant 4000000000000 : index
%i = arith.constant 7 : i32
%o = arith.constant 0 : i32
%f = arith.constant 1.0 : f32
%g = arith.constant 0.0 : f32
%t = arith.constant true

scf.for %x = %z to %four step %one {
%v = arith.remui %i, %o : i32
scf.yield
}
aie.end
}
aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {

}
}

// -----
aiex.scratchpad_parameter @p : i8
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aie.objectfifo @out(%c, {%s}, 1 : i32) : !aie.objectfifo<memref<8xi32>>


  aie.core(%c) {
    %z = arith.constant 0 : index
    %w = arith.constant 8 : index
    %o = arith.constant 1 : index
    %f = aiex.read_scratchpad_parameter @p : i8
%v = arith.extsi %f : i8 to i32
    %s0 = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<8xi32>>
    %y = aie.objectfifo.subview.access %s0[0] : !aie.objectfifosubview<memref<8xi32>> -> memref<8xi32>
    scf.for %i = %z to %w step %o {
      memref.store %v, %y[%i] : memref<8xi32>
    }
    aie.objectfifo.release @out(Produce, 1)
    aie.end
  } 

aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
aiex.npu.dma_memcpy_nd(%b[0, 0, 0, 0][1, 1, 1, 8][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
aiex.npu.dma_wait {symbol = @out}
}
}

// -----
aie.device(npu1_1col) {
  memref.global "private" constant @words : memref<4xi32> = dense<[1, 2, 3, 4]>
  func @twice(%x: i32) -> i32 {
    %y = arith.addi %x, %x : i32
    return %y : i32
  }
  %s = aie.tile(0, 0)
  %m = aie.tile(0, 1)
  aie.objectfifo.createObjectFifo @in(%s, {%m}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo @out(%m, {%s}, 2 : i32) : !aie.objectfifo<memref<16xi32>>
  aie.objectfifo.link [@in] -> [@out]([] [])
  aiex.runtime_sequence(%a: memref<64xi32>, %c: memref<64xi32>) {
    %w = memref.get_global @words : memref<4xi32>
    aiex.npu.blockwrite(%w) {address = 1703936 : ui32} : memref<4xi32>
    aiex.npu.preempt {level = 0 : ui8}
    aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 0 : i64, metadata = @in} : memref<64xi32>
    aiex.npu.dma_memcpy_nd(%c[0, 0, 0, 0][1, 1, 1, 64][0, 0, 0, 1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
    aiex.npu.sync {channel = 0 : i32, column = 0 : i32, column_num = 1 : i32, direction = 0 : i32, row = 0 : i32, row_num = 1 : i32}
  }
}

// -----
aie.device(npu1_1col) {
%s = aie.tile(0, 0)
aie.runtime_sequence(%a: memref<256xi8>) {
%at = arith.constant 119336 : i32
%zero = arith.constant 0 : i32
%mask = arith.constant 4194304 : i32
aiex.npu.maskpoll(%at, %zero, %mask) : i32, i32, i32
%four = arith.constant 4 : i32
%seven = arith.constant 7 : i32
%least = arith.minsi %four, %seven : i32
%most = arith.maxsi %four, %seven : i32
%other = arith.xori %least, %most : i32
%half = arith.shrsi %most, %least : i32
%low = arith.floordivsi %most, %least : i32
%high = arith.ceildivsi %most, %least : i32
%less = arith.cmpi slt, %low, %high : i32
%bytes = arith.select %less, %least, %zero : i32
aiex.npu.assert_bd_field(%most) {max = 1023 : i32} : i32
aiex.npu.assert_bd_divisible(%bytes) {divisor = 4 : i32} : i32
%first = arith.constant 64 : index
%v = memref.view %a[%first][] : memref<256xi8> to memref<16xi32>
%id = aiex.dma_bd_pool_pop(0, 0) : i32
%t = aiex.dma_configure_task(%s, MM2S, 0) repeat %least : i32 bd_id %id : i32 {
aie.dma_bd(%v : memref<16xi32> offset = 0 len = 8 sizes = [1, 2, 2, 2] strides = [0, 8, 4, 1])
aie.end
}
aiex.dma_start_task(%t)
aiex.dma_bd_pool_push(0, 0) bd_id %id : i32
}
}

// -----
aie.device(npu1_1col)  {
%s = aie.tile(0, 0)
%m = aie.tile(0, 1)
%c = aie.tile(0, 2)
%d = aie.tile(0, 3)

  aiex.multicast(%s, DMA : 0) {
    aiex.multi_dest<%c, DMA : 0>
    aiex.multi_dest<%d, DMA : 0>
  }
  aiex.broadcast_packet(%m, DMA : 0) {
    aiex.bp_id(0x0) {
      aiex.bp_dest<%c, DMA : 1>
    }
    aiex.bp_id(0x1) {
      aiex.bp_dest<%d, DMA : 1>
    }
  }

aie.runtime_sequence(%a: memref<64xi32>) {

}
}

// -----
aie.device(npu1) {
  %s = aie.tile(0, 0)
  %m = aie.tile(0, 1)
  aie.flow(%s, DMA : 0, %m, DMA : 0)
  aie.flow(%m, DMA : 0, %s, DMA : 0)
  aie.shim_dma_allocation @in(%s, MM2S, 0)
  aie.shim_dma_allocation @out(%s, S2MM, 0)
  %k = aie.buffer(%m) : memref<64xi32>
  %free = aie.lock(%m, 0) {init = 1 : i32}
  %full = aie.lock(%m, 1) {init = 0 : i32}
  aie.memtile_dma(%m) {
    %0 = aie.dma_start(S2MM, 0, ^take, ^next)
  ^take:
    aie.use_lock(%free, AcquireGreaterEqual, 1)
    aie.dma_bd(%k : memref<64xi32>, 0, 64)
    aie.use_lock(%full, Release, 1)
    aie.next_bd ^take
  ^next:
    %1 = aie.dma_start(MM2S, 0, ^give, ^end)
  ^give:
    aie.use_lock(%full, AcquireGreaterEqual, 1)
    aie.dma_bd(%k : memref<64xi32>, 0, 64)
    aie.use_lock(%free, Release, 1)
    aie.next_bd ^give
  ^end:
    aie.end
  }
  aie.runtime_sequence(%a: memref<64xi32>, %b: memref<64xi32>) {
    aiex.npu.writebd_shimtile {bd_id = 0 : i32, buffer_length = 64 : i32, buffer_offset = 0 : i32, ddr_id = 0 : i32,
      column = 0 : i32, column_num = 1 : i32, valid_bd = 1 : i32}
    aiex.npu.shimtile_push_queue {metadata = @in, issue_token = false, repeat_count = 0 : i32, bd_id = 0 : i32}
    aiex.npu.dma_memcpy_nd(%b[0,0,0,0][1,1,1,64][0,0,0,1]) {id = 1 : i64, metadata = @out} : memref<64xi32>
    aiex.npu.dma_wait {symbol = @out}
  }
}
