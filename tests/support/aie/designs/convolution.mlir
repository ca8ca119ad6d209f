// Three lines through the same taps.
module { aie.device(npu1_1col) {
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  aie.objectfifo @line(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<256xi16>>
  aie.objectfifo @taps(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<4xi16>>
  aie.objectfifo @out(%t02, {%t00}, 2 : i32) : !aie.objectfifo<memref<256xi16>>
  func.func private @convolve_i16(memref<256xi16>, memref<4xi16>, memref<256xi16>)
  aie.core(%t02) {
    %n0 = arith.constant 0 : index
    %n1 = arith.constant 1 : index
    %n3 = arith.constant 3 : index
    %sw = aie.objectfifo.acquire @taps(Consume, 1) : !aie.objectfifosubview<memref<4xi16>>
    %w = aie.objectfifo.subview.access %sw[0] : !aie.objectfifosubview<memref<4xi16>> -> memref<4xi16>
    scf.for %i = %n0 to %n3 step %n1 {
    %sx = aie.objectfifo.acquire @line(Consume, 1) : !aie.objectfifosubview<memref<256xi16>>
    %x = aie.objectfifo.subview.access %sx[0] : !aie.objectfifosubview<memref<256xi16>> -> memref<256xi16>
    %sy = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<256xi16>>
    %y = aie.objectfifo.subview.access %sy[0] : !aie.objectfifosubview<memref<256xi16>> -> memref<256xi16>
    func.call @convolve_i16(%x, %w, %y) : (memref<256xi16>, memref<4xi16>, memref<256xi16>) -> ()
    aie.objectfifo.release @line(Consume, 1)
    aie.objectfifo.release @out(Produce, 1)
    }
    aie.objectfifo.release @taps(Consume, 1)
    aie.end
  }
  aie.runtime_sequence(%lines : memref<768xi16>, %weights : memref<4xi16>, %result : memref<768xi16>) {
    aiex.npu.dma_memcpy_nd(%result[0, 0, 0, 0][1, 1, 1, 768][0, 0, 0, 1]) {metadata = @out, id = 2 : i64} : memref<768xi16>
    aiex.npu.dma_memcpy_nd(%weights[0, 0, 0, 0][1, 1, 1, 4][0, 0, 0, 1]) {metadata = @taps, id = 1 : i64} : memref<4xi16>
    aiex.npu.dma_memcpy_nd(%lines[0, 0, 0, 0][1, 1, 1, 768][0, 0, 0, 1]) {metadata = @line, id = 0 : i64} : memref<768xi16>
    aiex.npu.dma_wait {symbol = @out}
  }
} }
