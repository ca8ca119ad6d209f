// Four rows, each by itself.
module { aie.device(npu1_1col) {
  %t00 = aie.tile(0, 0)
  %t02 = aie.tile(0, 2)
  aie.objectfifo @in(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<256xbf16>>
  aie.objectfifo @out(%t02, {%t00}, 2 : i32) : !aie.objectfifo<memref<256xbf16>>
  func.func private @softmax_256(memref<256xbf16>, memref<256xbf16>)
  aie.core(%t02) {
    %n0 = arith.constant 0 : index
    %n1 = arith.constant 1 : index
    %n4 = arith.constant 4 : index
    scf.for %i = %n0 to %n4 step %n1 {
    %sx = aie.objectfifo.acquire @in(Consume, 1) : !aie.objectfifosubview<memref<256xbf16>>
    %x = aie.objectfifo.subview.access %sx[0] : !aie.objectfifosubview<memref<256xbf16>> -> memref<256xbf16>
    %sy = aie.objectfifo.acquire @out(Produce, 1) : !aie.objectfifosubview<memref<256xbf16>>
    %y = aie.objectfifo.subview.access %sy[0] : !aie.objectfifosubview<memref<256xbf16>> -> memref<256xbf16>
    func.call @softmax_256(%x, %y) : (memref<256xbf16>, memref<256xbf16>) -> ()
    aie.objectfifo.release @in(Consume, 1)
    aie.objectfifo.release @out(Produce, 1)
    }
    aie.end
  }
  aie.runtime_sequence(%x : memref<1024xbf16>, %y : memref<1024xbf16>) {
    aiex.npu.dma_memcpy_nd(%y[0, 0, 0, 0][1, 1, 1, 1024][0, 0, 0, 1]) {metadata = @out, id = 1 : i64} : memref<1024xbf16>
    aiex.npu.dma_memcpy_nd(%x[0, 0, 0, 0][1, 1, 1, 1024][0, 0, 0, 1]) {metadata = @in, id = 0 : i64} : memref<1024xbf16>
    aiex.npu.dma_wait {symbol = @out}
  }
} }
