"""Operations of MLIR's own dialects in cores and host sequences, as :mod:`.known_operations` reads them.

Source: MLIR's pages of the dialects.
"""

TABLE = """\
affine.apply affine.if affine.max affine.min; words *
    condition, map: map: lowered
affine.for; words to step max min iter_args
    lowerBoundMap, upperBoundMap: map: lowered
    operandSegmentSizes: array: lowered
    step: index|i64: lowered
affine.load affine.store affine.vector_load affine.vector_store; words symbol mod floordiv ceildiv
    map: map: lowered
    nontemporal: bool: ignored, there is no cache
affine.parallel; words to step reduce max min
    lowerBoundsMap, upperBoundsMap: map: lowered
    lowerBoundsGroups, upperBoundsGroups: any: lowered
    reductions: list: lowered
    steps: any: lowered
affine.yield
arith.addf arith.divf arith.maxf arith.maximumf arith.maxnumf arith.minf arith.minimumf arith.minnumf \
arith.mulf arith.negf arith.remf arith.subf; words fastmath $FastMath
    fastmath: $FastMath: ignored, each operation is rounded as it stands
arith.addi arith.muli arith.shli arith.subi arith.trunci; words overflow to $Overflow
    overflowFlags: $Overflow: lowered
arith.addui_extended arith.mulsi_extended arith.mului_extended
arith.andi arith.ori arith.xori arith.maxsi arith.maxui arith.minsi arith.minui
arith.bitcast arith.extsi arith.fptosi arith.fptoui arith.index_cast arith.sitofp; words to
arith.ceildivsi arith.ceildivui arith.floordivsi arith.remsi arith.remui
arith.cmpf; words fastmath $FastMath $FloatPredicate
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    predicate: $FloatPredicate: lowered
arith.cmpi; words $IntegerPredicate
    predicate: $IntegerPredicate: lowered
arith.constant; words true false dense dense_resource array opaque
    value: any: lowered
arith.divsi arith.divui arith.shrsi arith.shrui; words exact
    isExact: unit|bool: ignored, what is not exact has no meaning then
arith.extf; words to fastmath $FastMath
    fastmath: $FastMath: ignored, each operation is rounded as it stands
arith.extui arith.index_castui arith.uitofp; words to nneg
    nonNeg: unit|bool: ignored, numbers below zero have no meaning then
arith.select
arith.truncf; words to fastmath $FastMath $RoundingMode
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    roundingmode: $RoundingMode: refused unless to_nearest_even, only to the nearest even number is computed
builtin.unrealized_conversion_cast; words * to
cf.assert
    msg: str: ignored, the message of what is asserted
cf.br br
    loop_annotation: any: ignored, advice to a compiler
cf.cond_br cond_br; words weights
    branch_weights: any: ignored, advice to a compiler
    loop_annotation: any: ignored, advice to a compiler
    operandSegmentSizes: array: lowered
cf.switch; words default
    case_operand_segments: array: lowered
    case_values: elements: lowered
    operandSegmentSizes: array: lowered
func.call call
    arg_attrs, res_attrs: list: ignored, notes on arguments and results
    callee: sym: lowered
    lib: str: ignored, Allo's name of what it calls
    no_inline: unit: ignored, advice to a compiler
func.func func; words private public nested attributes
    arg_attrs, res_attrs: list: ignored, notes on arguments and results
    function_type, type: type: lowered
    link_with: str: lowered
    link_with_mode: str: ignored, in which way the object file is linked
    no_inline: unit: ignored, advice to a compiler
    sym_name: str: lowered
    sym_visibility: str: ignored, who may call it
func.return return
index.add index.and index.ceildivs index.ceildivu index.divs index.divu index.floordivs index.maxs \
index.maxu index.mins index.minu index.mul index.or index.rems index.remu index.shl index.shrs \
index.shru index.sizeof index.sub index.xor
index.bool.constant; words true false
    value: bool: lowered
index.casts index.castu; words to
index.cmp; words $IntegerPredicate
    pred: any: lowered
index.constant
    value: index|i64: lowered
linalg.abs linalg.add linalg.batch_matmul linalg.batch_matmul_transpose_a linalg.batch_matmul_transpose_b \
linalg.batch_matvec linalg.batch_mmt4d linalg.batch_reduce_matmul linalg.batch_vecmat linalg.ceil \
linalg.copy linalg.div linalg.div_unsigned linalg.dot linalg.erf linalg.exp linalg.fill linalg.floor \
linalg.log linalg.matmul linalg.matmul_transpose_a linalg.matmul_transpose_b linalg.matvec \
linalg.max linalg.min linalg.mmt4d linalg.mul linalg.negf linalg.powf linalg.reciprocal linalg.round \
linalg.rsqrt linalg.sqrt linalg.square linalg.sub linalg.tanh linalg.vecmat; words *
    cast: any: lowered
    indexing_maps: list: lowered
    operandSegmentSizes, operand_segment_sizes: array: lowered
linalg.broadcast linalg.generic linalg.map linalg.reduce linalg.transpose; words *
    dimensions, permutation: any: lowered
    doc, library_call: str: ignored, notes
    indexing_maps: list: lowered
    iterator_types: list: ignored, loops in order do for each kind
    operandSegmentSizes, operand_segment_sizes: array: lowered
linalg.index linalg.yield
    dim: i64: lowered
math.absf math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.cbrt math.ceil \
math.clampf math.copysign math.cos math.cosh math.erf math.erfc math.exp math.exp2 math.expm1 math.floor \
math.fma math.fpowi math.isfinite math.isinf math.isnan math.isnormal math.log math.log10 math.log1p \
math.log2 math.powf math.round math.roundeven math.rsqrt math.sin math.sinh math.sqrt math.tan math.tanh \
math.trunc; words fastmath to $FastMath
    fastmath: $FastMath: ignored, each operation is rounded as it stands
math.absi math.ctlz math.ctpop math.cttz math.ipowi
memref.alloc memref.alloca
    alignment: i64: ignored, every address is aligned here
    operandSegmentSizes: array: lowered
    sym_name: str: ignored, mlir-air's name of it
memref.alloca_scope memref.alloca_scope.return
memref.assume_alignment
    alignment: i32: ignored, every address is aligned here
memref.atomic_rmw; words $AtomicKind
    kind: any: lowered
memref.cast memref.copy memref.memory_space_cast; words to
memref.collapse_shape memref.expand_shape; words into output_shape
    reassociation: list: lowered
    static_output_shape: array: lowered
memref.dealloc memref.dim memref.rank
memref.get_global
    name: sym: lowered
memref.global; words private public nested constant uninitialized dense dense_resource
    alignment: i64: ignored, every address is aligned here
    constant: unit|bool: ignored, a store to it is an error of its own
    initial_value: any: lowered
    sym_name: str: lowered
    sym_visibility: str: ignored, who may use it
    type: type: lowered
memref.load memref.store
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
memref.reinterpret_cast; words to offset sizes strides
    operandSegmentSizes: array: lowered
    static_offsets, static_sizes, static_strides: array: lowered
memref.subview; words to
    operandSegmentSizes: array: lowered
    static_offsets, static_sizes, static_strides: array: lowered
memref.transpose; words *
    permutation: map: lowered
memref.view; words to
scf.condition scf.yield scf.execute_region scf.forall.in_parallel scf.reduce
    no_inline: unit: ignored, advice to a compiler
scf.for; words to step iter_args
    isolated: bool: ignored, mlir-air's note
    loop_annotation: any: ignored, advice to a compiler
    unroll: any: ignored, mlir-air's note
    unsignedCmp: unit|bool: refused unless false, its bounds are compared as signed numbers
scf.forall scf.parallel; words to step init in shared_outs
    mapping: any: ignored, advice to a compiler
    operandSegmentSizes: array: lowered
    staticLowerBound, staticStep, staticUpperBound: array: lowered
scf.if; words else
scf.index_switch; words case default
    cases: array: lowered
scf.while; words do
ub.poison
    value: any: ignored, poison is a number like any other
vector.bitcast vector.shape_cast vector.interleave; words to
vector.broadcast; words to
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
vector.fma vector.splat
vector.insert vector.insertelement; words into
    position, static_position: any: lowered
vector.load vector.store vector.maskedload vector.maskedstore; words into
    alignment: i64: ignored, every address is aligned here
    nontemporal: bool: ignored, there is no cache
vector.multi_reduction vector.reduction vector.outerproduct; words to into fastmath $CombiningKind $FastMath
    fastmath: $FastMath: ignored, each operation is rounded as it stands
    kind: $CombiningKind: lowered
    reduction_dims: any: lowered
vector.shuffle
    mask: any: lowered
vector.transfer_read vector.transfer_write
    in_bounds: list: ignored, every index is looked at
    operandSegmentSizes: array: lowered
    permutation_map: map: lowered
vector.transpose; words to
    permutation, transp: any: lowered
"""
