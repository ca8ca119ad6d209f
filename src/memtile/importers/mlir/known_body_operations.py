"""Operations of MLIR's own dialects in cores and host sequences, as ``known_operations`` reads them.

Source: MLIR's pages of the dialects.
"""

TABLE = """\
affine.apply affine.max affine.min; words *
    condition, map: map: lowered
affine.for; words to step max min iter_args; holds *
    lowerBoundMap, upperBoundMap: map: lowered
    operandSegmentSizes: array: lowered
    step: index|i64: lowered
affine.if; words *; holds *
    condition, map: map: lowered
affine.load affine.vector_load; words symbol mod floordiv ceildiv; types load
    map: map: lowered
    nontemporal: bool: ignored, there is no cache
affine.parallel; words to step reduce max min; holds *
    lowerBoundsMap, upperBoundsMap: map: lowered
    lowerBoundsGroups, upperBoundsGroups: any: lowered
    reductions: list: lowered
    steps: any: lowered
affine.store affine.vector_store; words symbol mod floordiv ceildiv; types store
    map: map: lowered
    nontemporal: bool: ignored, there is no cache
affine.yield
aievec.add_elem aievec.band aievec.bneg aievec.bor aievec.bxor aievec.max aievec.min aievec.neg \
aievec.sub_elem; types same
aievec.broadcast
    idx: i8|i32: lowered
aievec.broadcast_scalar aievec.concat aievec.ext_elem aievec.mul_elem aievec.sel
aievec.cast
    isResAcc: bool: lowered
aievec.cmp
    pred: str: lowered
aievec.ext
    index: i8|i32: lowered
aievec.mac_elem
    fmsub: bool: lowered
aievec.matmul aievec.matmul_aie2p; words into
aievec.shift
    isAcc: bool: lowered
aievec.shuffle; words *
    mode: any: lowered
aievec.srs
    sign: i32: lowered
aievec.ups
    shift: i8|i32: lowered
arith.addf arith.divf arith.maxf arith.maximumf arith.maxnumf arith.minf arith.minimumf arith.minnumf \
arith.mulf arith.negf arith.remf arith.subf; words fastmath $FastMath; types same
    fastmath: $FastMath: ignored, each operation is rounded as it stands
arith.addi arith.muli arith.shli arith.subi arith.trunci; words overflow to $Overflow; types same
    overflowFlags: $Overflow: lowered
arith.addui_extended arith.mulsi_extended arith.mului_extended
arith.andi arith.ori arith.xori arith.maxsi arith.maxui arith.minsi arith.minui; types same
arith.bitcast arith.extsi arith.fptosi arith.fptoui arith.index_cast arith.sitofp; words to; types same
arith.ceildivsi arith.ceildivui arith.floordivsi arith.remsi arith.remui; types same
arith.cmpf; words fastmath $FastMath $FloatPredicate; types compare
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    predicate: $FloatPredicate: lowered
arith.cmpi; words $IntegerPredicate; types compare
    predicate: $IntegerPredicate: lowered
arith.constant; words true false dense dense_resource array opaque; types result
    value: any: lowered
arith.divsi arith.divui arith.shrsi arith.shrui; words exact; types same
    isExact: unit|bool: ignored, what is not exact has no meaning then
arith.extf; words to fastmath $FastMath; types same
    fastmath: $FastMath: ignored, each operation is rounded as it stands
arith.extui arith.index_castui arith.uitofp; words to nneg; types same
    nonNeg: unit|bool: ignored, numbers below zero have no meaning then
arith.select; types choice
arith.truncf; words to fastmath $FastMath $RoundingMode; types same
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    roundingmode: $RoundingMode: refused unless to_nearest_even, only to the nearest even number is computed
builtin.unrealized_conversion_cast; words * to
cf.assert; words *
    msg: str: ignored, the message of what is asserted
cf.br br; types inline
    loop_annotation: any: ignored, advice to a compiler
cf.cond_br cond_br; words weights; types inline
    branch_weights: any: ignored, advice to a compiler
    loop_annotation: any: ignored, advice to a compiler
    operandSegmentSizes: array: lowered
cf.switch; words default
    case_operand_segments: array: lowered
    case_values: elements: lowered
    operandSegmentSizes: array: lowered
func.call call; types call
    arg_attrs, res_attrs: list: ignored, notes on arguments and results
    callee: sym: lowered
    lib: str: ignored, Allo's name of what it calls
    no_inline: unit: ignored, advice to a compiler
func.func func; words private public nested attributes; holds *
    arg_attrs, res_attrs: list: ignored, notes on arguments and results
    function_type, type: type: lowered
    link_with: str: lowered
    link_with_mode: str: ignored, in which way the object file is linked
    no_inline: unit: ignored, advice to a compiler
    sym_name: str: lowered
    sym_visibility: str: ignored, who may call it
func.return return; types listed
index.add index.and index.ceildivs index.ceildivu index.divs index.divu index.floordivs index.maxs \
index.maxu index.mins index.minu index.mul index.or index.rems index.remu index.shl index.shrs \
index.shru index.sub index.xor; types index
index.bool.constant; words true false
    value: bool: lowered
index.casts index.castu; words to; types same
index.cmp; words $IntegerPredicate
    pred: any: lowered
index.constant; types index
    value: index|i64: lowered
index.sizeof
linalg.abs linalg.add linalg.batch_matmul linalg.batch_matmul_transpose_a \
linalg.batch_matmul_transpose_b linalg.batch_matvec linalg.batch_mmt4d linalg.batch_reduce_matmul \
linalg.batch_vecmat linalg.ceil linalg.copy linalg.div linalg.div_unsigned linalg.dot linalg.erf \
linalg.exp linalg.fill linalg.floor linalg.log linalg.matmul linalg.matmul_transpose_a \
linalg.matmul_transpose_b linalg.matvec linalg.max linalg.min linalg.mmt4d linalg.mul linalg.negf \
linalg.powf linalg.reciprocal linalg.round linalg.rsqrt linalg.sqrt linalg.square linalg.sub linalg.tanh \
linalg.vecmat; words *
    cast: any: lowered
    indexing_maps: list: lowered
    operandSegmentSizes, operand_segment_sizes: array: lowered
linalg.broadcast linalg.generic linalg.map linalg.reduce linalg.transpose; words *; holds *
    dimensions, permutation: any: lowered
    doc, library_call: str: ignored, notes
    indexing_maps: list: lowered
    iterator_types: list: ignored, loops in order do for each kind
    operandSegmentSizes, operand_segment_sizes: array: lowered
linalg.index linalg.yield
    dim: i64: lowered
math.absf math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.cbrt math.ceil \
math.clampf math.copysign math.cos math.cosh math.erf math.erfc math.exp math.exp2 math.expm1 math.floor \
math.fma math.fpowi math.log math.log10 math.log1p math.log2 math.powf math.round math.roundeven \
math.rsqrt math.sin math.sinh math.sqrt math.tan math.tanh math.trunc; words fastmath to $FastMath; \
types same
    fastmath: $FastMath: ignored, each operation is rounded as it stands
math.absi math.ctlz math.ctpop math.cttz math.ipowi; types same
math.isfinite math.isinf math.isnan math.isnormal; words fastmath to $FastMath; types compare
    fastmath: $FastMath: ignored, each operation is rounded as it stands
memref.alloc memref.alloca; types result
    alignment: i64: ignored, every address is aligned here
    operandSegmentSizes: array: lowered
    sym_name: str: ignored, mlir-air's name of it
memref.alloca_scope; holds *
memref.alloca_scope.return
memref.assume_alignment; types listed
    alignment: i32: ignored, every address is aligned here
memref.atomic_rmw; words $AtomicKind
    kind: any: lowered
memref.cast memref.memory_space_cast; words to; types same
memref.collapse_shape memref.expand_shape; words into output_shape; types same
    reassociation: list: lowered
    static_output_shape: array: lowered
memref.copy; words to
memref.dealloc memref.dim memref.rank; types listed
memref.get_global; types result
    name: sym: lowered
memref.global; words private public nested constant uninitialized dense dense_resource
    alignment: i64: ignored, every address is aligned here
    constant: unit|bool: ignored, a store to it is an error of its own
    initial_value: any: lowered
    sym_name: str: lowered
    sym_visibility: str: ignored, who may use it
    type: type: lowered
memref.load; types load
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
memref.reinterpret_cast; words to offset sizes strides; types same
    operandSegmentSizes: array: lowered
    static_offsets, static_sizes, static_strides: array: lowered
memref.store; types store
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
memref.subview; words to; types same
    operandSegmentSizes: array: lowered
    static_offsets, static_sizes, static_strides: array: lowered
memref.transpose; words *
    permutation: map: lowered
memref.view; words to; types same
scf.condition
    no_inline: unit: ignored, advice to a compiler
scf.execute_region scf.forall.in_parallel scf.reduce; holds *
    no_inline: unit: ignored, advice to a compiler
scf.for; words to step iter_args; types loop; holds *
    isolated: bool: ignored, mlir-air's note
    loop_annotation: any: ignored, advice to a compiler
    unroll: any: ignored, mlir-air's note
    unsignedCmp: unit|bool: refused unless false, its bounds are compared as signed numbers
scf.forall scf.parallel; words to step init in shared_outs; holds *
    mapping: any: ignored, advice to a compiler
    operandSegmentSizes: array: lowered
    staticLowerBound, staticStep, staticUpperBound: array: lowered
scf.if; words else; types test; holds *
scf.index_switch; words case default; holds *
    cases: array: lowered
scf.while; words do; holds *
scf.yield; types listed
    no_inline: unit: ignored, advice to a compiler
ub.poison; types result
    value: any: ignored, poison is a number like any other
vector.bitcast vector.shape_cast; words to; types same
vector.broadcast; words to; types same
vector.constant_mask vector.create_mask vector.step
    mask_dim_sizes: any: lowered
vector.contract; words into $CombiningKind
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    indexing_maps: list: lowered
    iterator_types: list: lowered
    kind: $CombiningKind: lowered
vector.extract vector.extractelement; words from
    position, static_position: any: lowered
vector.extract_strided_slice vector.insert_strided_slice; words to into
    offsets, sizes, strides: list: lowered
vector.fma; types same
vector.insert vector.insertelement; words into
    position, static_position: any: lowered
vector.interleave; words to
vector.load; words into; types load
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
vector.maskedload vector.maskedstore; words into
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
vector.multi_reduction vector.reduction vector.outerproduct; words to into fastmath $CombiningKind \
$FastMath
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    kind: $CombiningKind: lowered
    reduction_dims: any: lowered
vector.shuffle
    mask: any: lowered
vector.splat
vector.store; words into; types store
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
vector.transfer_read; types load
    in_bounds: list: ignored, every index is checked
    operandSegmentSizes: array: lowered
    permutation_map: map: lowered
vector.transfer_write; types listed
    in_bounds: list: ignored, every index is checked
    operandSegmentSizes: array: lowered
    permutation_map: map: lowered
vector.transpose; words to
    permutation, transp: any: lowered
"""
