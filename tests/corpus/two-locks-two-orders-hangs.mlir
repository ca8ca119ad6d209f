// One core holds lock one and waits for two, the other holds two and waits for one.
module {
  aie.device(npu1_1col) {
    %left = aie.tile(0, 2)
    %right = aie.tile(0, 3)
    %shared = aie.buffer(%left) {sym_name = "shared"} : memref<16xi32>
    %one = aie.lock(%left, 0) {init = 1 : i32, sym_name = "one"}
    %two = aie.lock(%left, 1) {init = 1 : i32, sym_name = "two"}
    aie.core(%left) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 4 : index
      %words = arith.constant 16 : index
      %v = arith.constant 7 : i32
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%one, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          memref.store %v, %shared[%i] : memref<16xi32>
        }
        aie.use_lock(%two, AcquireGreaterEqual, 1)
        aie.use_lock(%two, Release, 1)
        aie.use_lock(%one, Release, 1)
      }
      aie.end
    }
    aie.core(%right) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %turns = arith.constant 4 : index
      %words = arith.constant 16 : index
      %v = arith.constant 8 : i32
      scf.for %turn = %c0 to %turns step %c1 {
        aie.use_lock(%two, AcquireGreaterEqual, 1)
        scf.for %i = %c0 to %words step %c1 {
          memref.store %v, %shared[%i] : memref<16xi32>
        }
        aie.use_lock(%one, AcquireGreaterEqual, 1)
        aie.use_lock(%one, Release, 1)
        aie.use_lock(%two, Release, 1)
      }
      aie.end
    }
    aie.runtime_sequence() {
    }
  }
}
