"""Operations of mlir-aie's dialects, as ``known_operations`` reads them.

Sources: the .td files of the AIE and AIEX dialects (mlir-aie, 2026-08-14), and of texts since 2023.
"""

TABLE = """\
aie.amsel; types index; in aie.switchbox aie.shim_mux
    arbiterID: i8 0..5: lowered
    msel: i8 0..3: lowered
aie.bd_chain; holds aie.dma_bd aie.dma_bd_packet aie.use_lock aie.next_bd aie.end arith.*; ends \
aie.next_bd aie.end
    sym_name: str: lowered
aie.buffer; words dense dense_resource; types result
    address: i32|i64: lowered
    aligned: bool: lowered
    initial_value: elements: lowered
    mem_bank: i32: lowered
    stack_relative_address: i32: ignored, IREE's own note beside the address
    sym_name: str: lowered
aie.cascade_flow
aie.configure_cascade; words $CascadeDir; in aie.device
    inputDir, outputDir: $CascadeDir|i32: lowered
aie.connect; words $WireBundle; in aie.switchbox aie.shim_mux
    source_bundle, dest_bundle: $WireBundle: lowered
    source_channel, dest_channel: i32>=0: lowered
aie.core; in aie.device; holds *; ends aie.end cf.br cf.cond_br cf.switch br cond_br
    dynamic_objfifo_lowering: bool: ignored, the same objects in the same order by other code of the core
    elf_file: str: lowered
    emit_parameter_sync_preamble: bool: lowered
    link_files: list: lowered
    link_merge_files: list: lowered
    link_with: str: lowered
    stackSize: i32>=0|i64>=0: lowered
    stack_size: i32>=1: lowered
aie.debug; types inline
aie.device; words *; holds *
    device: i32: lowered
    has_ctrl_pkt_overlay, needs_ctrl_pkt_overlay: bool: lowered
    segment_unroll_x, segment_unroll_y: i64: ignored, mlir-air's note of where the device came from
    sym_name: str: lowered
aie.dma; words loop true false $DMAChannelDir; in aie.mem aie.memtile_dma aie.shim_dma; holds aie.dma_bd \
aie.dma_bd_packet aie.use_lock aie.end arith.*
    channel_dir: $DMAChannelDir: lowered
    channel_index: i32>=0: lowered
    loop: bool: lowered
    out_of_order: unit: refused, BDs whose order packets decide are not lowered
    pad_value: i32: lowered
    repeat_count: i32: lowered
    sym_name: str: lowered
aie.dma_bd; words offset len sizes strides size stride step wrap pad pad_value $Padding; types inline
    axcache: i32: lowered
    bd_id: i32>=0: lowered
    burst_length: i32: lowered
    dimensions: <size, stride, wrap, step>: lowered
    iteration: <size, stride, current>: lowered
    len, static_len, offset, static_offset: i32: lowered
    next_bd_id: i32: ignored, the block that follows says the same
    offset_parameter: sym: lowered
    offset_state_table_idx: ui8: lowered
    operandSegmentSizes: array: lowered
    out_of_order_id: i32: refused, BDs whose order packets decide are not lowered
    packet: <pkt_type, pkt_id>: lowered
    pad_dimensions: <const_pad_before, const_pad_after>: lowered
    pad_value: i32: refused unless 0, the channel has it in aie.dma_start
    static_sizes, static_strides: array: lowered
    task_id: i32: ignored, mlir-air's number of the task
aie.dma_bd_packet
    packet_type, packet_id: i32: lowered
aie.dma_start; words repeat_count $DMAChannelDir $OldChannel; in aie.mem aie.memtile_dma aie.shim_dma
    channel_dir: $DMAChannelDir: lowered
    channel_index: i32>=0: lowered
    out_of_order: unit: refused, BDs whose order packets decide are not lowered
    pad_value: i32: lowered
    repeat_count: i32: lowered
aie.end
aie.event
    val: i32 0..1: ignored, no trace unit is modelled
aie.external_buffer; types result
    address: i64: lowered
    sym_name: str: lowered
aie.flow; words $WireBundle; in aie.device
    source_bundle, dest_bundle: $WireBundle: lowered
    source_channel, dest_channel: i32>=0: lowered
    symbol: sym: ignored, IREE's name of the object FIFO that the flow came from
aie.get_cascade aie.getCascade; types result
aie.get_stream aie.put_stream; types inline
aie.lock
    init: i32|i8: lowered
    lockID: i32>=0: lowered
    sym_name: str: lowered
aie.logical_tile; words $TileType; types index
    allocation_scheme: str: lowered
    col, row: i32>=0: lowered
    tile_type: $TileType: lowered
aie.masterset; words $WireBundle; in aie.switchbox aie.shim_mux
    dest_bundle: $WireBundle: lowered
    dest_channel: i32>=0: lowered
    is_ctrl_pkt_overlay: unit: ignored, reloads by control packets leave it alone; a run sets up everything
    keep_pkt_header: bool: lowered
aie.mem aie.memtile_dma aie.shim_dma; in aie.device; holds aie.dma_start aie.dma aie.dma_bd \
aie.dma_bd_packet aie.use_lock aie.next_bd aie.end arith.* aie.lock aie.buffer aie.external_buffer; ends \
aie.dma_start aie.next_bd aie.end
aie.next_bd
aie.objectfifo; words dimensionsToStream dimensionsFromStream toStream fromStream size stride step wrap \
dense; in aie.device
    aie_stream: i32 0..2: lowered
    aie_stream_port: i32 0..1: lowered
    cons_dma_channels: array: lowered
    consumerElemType: type: lowered
    dimensionsFromStreamPerConsumer: <size, stride, wrap, step>: lowered
    dimensionsToStream: <size, stride, wrap, step>: lowered
    disable_synchronization: bool: lowered
    elemNumber: any: lowered
    elemType: type: lowered
    initValues: list: lowered
    iter_count: i32: lowered
    memtile_repeat: i32: refused, the texts of 2024 that have it repeat otherwise
    packet, packet_id: any|unit: refused, an option of the compiler lets object FIFOs send packets
    padDimensions: <const_pad_before, const_pad_after>: lowered
    padValue: i32: lowered
    plio: bool: lowered
    prod_dma_channel: i32>=0: lowered
    repeat_count: i32: lowered
    sym_name: str: lowered
    via_DMA: bool: lowered
    via_shared_mem: i32: lowered
aie.objectfifo.acquire; words $ObjectFifoPort; types result
    objFifo_name: sym: lowered
    port: $ObjectFifoPort: lowered
    size: i32>=0: lowered
aie.objectfifo.allocate; in aie.device
    objFifo_name: sym: lowered
aie.objectfifo.createObjectFifo; words dense; in aie.device
    elemNumber: any: lowered
    elemType: type: lowered
    sym_name: str: lowered
aie.objectfifo.link; in aie.device
    dst_offsets, src_offsets: list: lowered
    fifoIns, fifoOuts: list: lowered
aie.objectfifo.register_external_buffers; in aie.device
    objFifo_name, objfifo_name: sym: lowered
aie.objectfifo.release; words $ObjectFifoPort
    objFifo_name: sym: lowered
    port: $ObjectFifoPort: lowered
    size: i32>=0: lowered
aie.objectfifo.subview.access; types same
    index: i32>=0: lowered
aie.packet_dest aie.packet_source; words $WireBundle; in aie.packet_flow
    bundle: $WireBundle: lowered
    channel: i32>=0: lowered
aie.packet_flow; words mask; in aie.device; holds aie.packet_source aie.packet_dest aie.end
    ID: i8: lowered
    keep_pkt_header: bool: lowered
    mask: i8: lowered
    priority_route: bool: lowered
aie.packet_rules; words $WireBundle; in aie.switchbox aie.shim_mux; holds aie.rule aie.end
    is_ctrl_pkt_overlay: unit: ignored, reloads by control packets leave it alone; a run sets up everything
    source_bundle: $WireBundle: lowered
    source_channel: i32>=0: lowered
aie.plio
    col: i32: ignored, there is no programmable logic
aie.put_cascade aie.putCascade; types inline
aie.rule; in aie.packet_rules
    is_ctrl_pkt_overlay: unit: ignored, reloads by control packets leave it alone; a run sets up everything
    mask, value: i8: lowered
    packet_ids: array: ignored, IREE's list of the ids that mask and value let pass
aie.runtime_sequence; words attributes; in aie.device; holds *
    emit_parameter_sync_preamble: bool: lowered
    sym_name: str: lowered
aie.shim_dma_allocation; words pkt_type pkt_id $DMAChannelDir; in aie.device
    channel_dir: $DMAChannelDir: lowered
    channel_index: i64>=0: lowered
    col: i64: lowered
    packet: <pkt_type, pkt_id>: lowered
    plio: bool: refused unless false, there is no programmable logic
    sym_name: str: lowered
aie.shim_mux aie.switchbox; in aie.device; holds aie.connect aie.amsel aie.masterset aie.packet_rules \
aie.end
aie.tile; types index
    allocation_scheme: str: lowered
    col, row: i32>=0: lowered
    controller_id: <pkt_type, pkt_id, out_of_order_id>: lowered
aie.trace aie.trace.config; words *; holds *
    broadcast, event, label, id, type, slot: any: ignored, no trace unit is modelled
    channel, direction, mode, port: any: ignored, no trace unit is modelled
    packet_type, reg_name, field, value, mask, comment: any: ignored, no trace unit is modelled
    eventA, logic, eventB, trigger, sym_name, trace_config: any: ignored, no trace unit is modelled
aie.trace.combo_event aie.trace.edge_event aie.trace.event aie.trace.mode aie.trace.packet \
aie.trace.port aie.trace.reg aie.trace.start aie.trace.start_config aie.trace.stop; words *
    broadcast, event, label, id, type, slot: any: ignored, no trace unit is modelled
    channel, direction, mode, port: any: ignored, no trace unit is modelled
    packet_type, reg_name, field, value, mask, comment: any: ignored, no trace unit is modelled
    eventA, logic, eventB, trigger, sym_name, trace_config: any: ignored, no trace unit is modelled
aie.trace.host_config; words *
    buffer_size: i32: ignored, no trace unit is modelled
    egress_shim_col: i32: ignored, no trace unit is modelled
    reuse_output_buffer: bool: ignored, no trace unit is modelled
    routing: any: ignored, no trace unit is modelled
aie.use_lock; words $LockAction
    acq_en: bool: lowered
    action: $LockAction: lowered
    blocking: i32: refused unless 1, cores wait for a lock
    value: i32: lowered
aie.wire; words $WireBundle
    source_bundle, dest_bundle: $WireBundle: ignored, the array's wires are where they are
aiex.bp_dest; words $WireBundle; in aiex.bp_id
    bundle: $WireBundle: lowered
    channel: i32>=0: lowered
aiex.bp_id; in aiex.broadcast_packet; holds aiex.bp_dest aie.end
    ID: i8: lowered
aiex.broadcast_packet; words $WireBundle; in aie.device; holds aiex.bp_id aie.end
    bundle: $WireBundle: lowered
    channel: i32>=0: lowered
aiex.configure; holds *
    expand_mode: $ExpandMode: ignored, by which writes a configuration comes and not which
    symbol: sym: lowered
aiex.control_packet
    address: ui32: lowered
    data: array: lowered
    length: i32: lowered
    opcode: i32: lowered
    stream_id: i32: lowered
aiex.core_reset
aiex.dma_await_task aiex.dma_free_task
aiex.dma_bd_pool_pop; words bd_id; types result
    column, row: i32: lowered
aiex.dma_bd_pool_push; words bd_id
    column, row: i32: lowered
aiex.dma_channel_reset; words $DMAChannelDir
    channel: i32: lowered
    direction: $DMAChannelDir: lowered
aiex.dma_channel_reset_for
    alloc, objfifo: sym: lowered
aiex.dma_configure_task; words repeat bd_id pkt_type pkt_id $DMAChannelDir; holds aie.dma_bd \
aie.dma_bd_packet aie.use_lock aie.next_bd aie.end arith.*; ends aie.next_bd aie.end
    channel: i32: lowered
    direction: $DMAChannelDir: lowered
    issue_token: bool: lowered
    operandSegmentSizes: array: lowered
    packet: <pkt_type, pkt_id>: lowered
    repeat_count: i32: lowered
aiex.dma_configure_task_for; words repeat; holds aie.dma_bd aie.dma_bd_packet aie.use_lock aie.next_bd \
aie.end arith.*; ends aie.next_bd aie.end
    alloc: sym: lowered
    issue_token: bool: lowered
    repeat_count: i32: lowered
aiex.dma_start_bd_chain; words on $DMAChannelDir; types call
    channel: i32: lowered
    direction: $DMAChannelDir: lowered
    issue_token: bool: lowered
    repeat_count: i32: lowered
    symbol: sym: lowered
aiex.dma_start_bd_chain_for; words for; types call
    alloc: sym: lowered
    issue_token: bool: lowered
    repeat_count: i32: lowered
    symbol: sym: lowered
aiex.dma_start_task; words repeat
    no_token: unit: lowered
    repeat_count: i32: lowered
aiex.multi_dest; words $WireBundle; in aiex.multicast
    bundle: $WireBundle: lowered
    channel: i32>=0: lowered
aiex.multicast; words $WireBundle; in aie.device; holds aiex.multi_dest aie.end
    bundle: $WireBundle: lowered
    channel: i32>=0: lowered
aiex.npu.address_patch; words addr
    addr: ui32: lowered
    arg_idx, arg_plus: i32: lowered
    operandSegmentSizes: array: lowered
aiex.npu.assert_bd_divisible
    allow_unit: unit: lowered
    divisor: i32: lowered
aiex.npu.assert_bd_field
    max: i32: lowered
aiex.npu.blockwrite; types listed
    address: ui32: lowered
    buffer: sym: lowered
    column, row: i32: lowered
    value: ui32: ignored, the data are the words
aiex.npu.create_scratchpad
    size: ui32: lowered
    usage_type: ui8: lowered
aiex.npu.dma_memcpy_nd; words packet pkt_type pkt_id; types listed
    axcache: i32|i64: lowered
    burst_length: i64: lowered
    d0_zero_after, d1_zero_after, d2_zero_after: i64: refused unless 0, interface tiles do not pad
    d0_zero_before, d1_zero_before, d2_zero_before: i64: refused unless 0, interface tiles do not pad
    id: i64|i32: lowered
    issue_token: bool: lowered
    lengths, offsets, sizes, strides: list: lowered
    metadata: sym: lowered
    offset_parameter: sym: lowered
    offset_state_table_idx: ui8: lowered
    operandSegmentSizes: array: lowered
    packet: <pkt_type, pkt_id>: lowered
    static_offsets, static_sizes, static_strides: array: lowered
    x, y: i64: ignored, the channel that metadata names has its tile
aiex.npu.dma_wait
    symbol: sym: lowered
aiex.npu.load_pdi
    address: ui64: ignored, device_ref names the configuration
    device_ref: sym: lowered
    expand_mode: $ExpandMode: ignored, by which writes a configuration comes and not which
    id: i32|ui16: ignored, device_ref names the configuration
    size: i32|ui32: ignored, device_ref names the configuration
aiex.npu.maskpoll aiex.npu.maskwrite32; types listed
    address, mask, value: ui32: lowered
    buffer: sym: lowered
    column, row: i32: lowered
aiex.npu.preempt
    level: ui8: ignored, nothing preempts a run
aiex.npu.push_queue; words bd_id repeat $DMAChannelDir; types listed
    bd_id, repeat_count: i32: lowered
    channel, column, row: i32: lowered
    direction: $DMAChannelDir: lowered
    issue_token: bool: lowered
aiex.npu.rtp_write
    buffer: sym: lowered
    buffer_sym_name: str: lowered
    col, row: ui32|i32: ignored, the buffer has its tile
    index: ui32: lowered
    value: i32: lowered
aiex.npu.shimtile_push_queue
    bd_id, repeat_count: i32: lowered
    issue_token: bool: lowered
    metadata: sym: lowered
aiex.npu.sync
    channel, column, column_num, direction, row, row_num: i32: lowered
aiex.npu.update_from_scratchpad; words $StateTableFunc
    address: ui32: lowered
    buffer: sym: lowered
    column, row: i32: lowered
    func: $StateTableFunc: lowered
    func_arg: ui32: lowered
    state_table_idx: ui8: lowered
aiex.npu.write32; types listed
    address, value: ui32: lowered
    buffer: sym: lowered
    column, row: i32: lowered
aiex.npu.writebd
    axcache: i32: lowered
    bd_id, buffer_length, buffer_offset, column, row: i32: lowered
    burst_length: i32: lowered
    column_num, ddr_id: i32: ignored, of 2024, when they had no effect on the words either
    d0_size, d0_stride, d1_size, d1_stride, d2_size, d2_stride: i32: lowered
    d0_stepsize, d0_wrap, d1_stepsize, d1_wrap, d2_stepsize, iteration_stepsize, iteration_wrap: i32: lowered
    d0_zero_after, d0_zero_before, d1_zero_after, d1_zero_before, d2_zero_after, d2_zero_before: i32: lowered
    enable_packet, out_of_order_id, packet_id, packet_type: i32: lowered
    iteration_current, iteration_size, iteration_stride: i32: lowered
    lock_acq_enable, lock_acq_id, lock_acq_val, lock_rel_id, lock_rel_val: i32: lowered
    next_bd, use_next_bd, valid_bd: i32: lowered
aiex.npu.writebd_shimtile
    bd_id, buffer_length, buffer_offset, column, ddr_id: i32: lowered
    column_num: i32: refused unless 1, BDs of several columns are not lowered
    d0_size, d0_stride, d1_size, d1_stride, d2_size, d2_stride: i32: lowered
    d0_stepsize, d0_wrap, d1_stepsize, d1_wrap, d2_stepsize, iteration_stepsize, iteration_wrap: i32: lowered
    enable_packet, out_of_order_id, packet_id, packet_type: i32: lowered
    iteration_current, iteration_size, iteration_stride: i32: lowered
    lock_acq_enable, lock_acq_id, lock_acq_val, lock_rel_id, lock_rel_val: i32: lowered
    next_bd, use_next_bd, valid_bd: i32: lowered
    row: i32: ignored, of 2024, when it was always that of an interface tile
aiex.read_scratchpad_parameter; types result
    buffer: sym: lowered
    parameter: sym: lowered
aiex.run; types call
    runtime_sequence_symbol: sym: lowered
aiex.runtime_sequence; words attributes; in aie.device; holds *
    emit_parameter_sync_preamble: bool: lowered
    sym_name: str: lowered
aiex.scratchpad_parameter
    kind: $ScratchpadKind: lowered
    state_table_idx: ui8: lowered
    sym_name: str: lowered
    type: type: lowered
aiex.set_lock
    value: i32: lowered
aiex.sync_scratchpad_parameters_from_host
"""
