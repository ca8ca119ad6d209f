// A product of 32 x 128 and 128 x 32, in two objects of each operand.
module { aie.device(npu1_1col) {
  %t00 = aie.tile(0, 0)
  %t01 = aie.tile(0, 1)
  %t02 = aie.tile(0, 2)
  aie.objectfifo @a(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<2048xi8>>
  aie.objectfifo @b(%t00, {%t02}, 2 : i32) : !aie.objectfifo<memref<2048xi8>>
  aie.objectfifo @c(%t02, {%t00}, 2 : i32) : !aie.objectfifo<memref<1024xi32>>
  func.func private @clear_i32(memref<1024xi32>)
  func.func private @gemm_i8_i32(memref<2048xi8>, memref<2048xi8>, memref<1024xi32>)
  aie.core(%t02) {
    %n0 = arith.constant 0 : index
    %n1 = arith.constant 1 : index
    %n2 = arith.constant 2 : index
    %sz = aie.objectfifo.acquire @c(Produce, 1) : !aie.objectfifosubview<memref<1024xi32>>
    %z = aie.objectfifo.subview.access %sz[0] : !aie.objectfifosubview<memref<1024xi32>> -> memref<1024xi32>
    func.call @clear_i32(%z) : (memref<1024xi32>) -> ()
    scf.for %i = %n0 to %n2 step %n1 {
    %sx = aie.objectfifo.acquire @a(Consume, 1) : !aie.objectfifosubview<memref<2048xi8>>
    %x = aie.objectfifo.subview.access %sx[0] : !aie.objectfifosubview<memref<2048xi8>> -> memref<2048xi8>
    %sy = aie.objectfifo.acquire @b(Consume, 1) : !aie.objectfifosubview<memref<2048xi8>>
    %y = aie.objectfifo.subview.access %sy[0] : !aie.objectfifosubview<memref<2048xi8>> -> memref<2048xi8>
    func.call @gemm_i8_i32(%x, %y, %z) : (memref<2048xi8>, memref<2048xi8>, memref<1024xi32>) -> ()
    aie.objectfifo.release @a(Consume, 1)
    aie.objectfifo.release @b(Consume, 1)
    }
    aie.objectfifo.release @c(Produce, 1)
    aie.end
  }
  aie.runtime_sequence(%left : memref<4096xi8>, %right : memref<4096xi8>, %out : memref<1024xi32>) {
    aiex.npu.dma_memcpy_nd(%out[0, 0, 0, 0][1, 1, 1, 1024][0, 0, 0, 1]) {metadata = @c, id = 2 : i64} : memref<1024xi32>
    aiex.npu.dma_memcpy_nd(%right[0, 0, 0, 0][1, 1, 1, 4096][0, 0, 0, 1]) {metadata = @b, id = 1 : i64} : memref<4096xi8>
    aiex.npu.dma_memcpy_nd(%left[0, 0, 0, 0][1, 1, 1, 4096][0, 0, 0, 1]) {metadata = @a, id = 0 : i64} : memref<4096xi8>
    aiex.npu.dma_wait {symbol = @c}
  }
} }
