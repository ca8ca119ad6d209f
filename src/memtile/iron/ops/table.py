"""The operations that programs build, as data: what each is made of, and how it is written.

A line is ``name | parts | results | form | hint``. The parts are in the order in which builders take them:

- ``tile:%`` an operand, ``offset:%?`` one that may be absent, ``sizes:%*`` any number of them;
- ``col:i32`` an attribute of a kind (``KINDS`` of ``operation_classes``), ``?`` behind it = it may be absent,
  ``=0`` = absent means this, and then it is not written;
- ``body:region``, ``dest:block``.

The form is the operation's text behind its name: ``{col}`` a part in short, ``{elemNumber!}`` with its type,
``{type buffer}`` the type of an operand or a result, ``{regions}``, ``{attributes}`` those that stand nowhere
else; ``<<`` and ``>>`` hold what is written if the part that is named first in it is there. An empty form is
MLIR's generic one. The hint is how a result is called, ``tile_{col}_{row}``.

Sources: the .td files of mlir-aie's dialects AIE and AIEX (2026-08-14), MLIR's documentation of its own.
"""

ARRAY = """
aie.device | device:AIEDevice sym_name:symbol?=main body:region | | ({device})<< {sym_name}>> \
{regions}{attributes} |
aie.tile | col:i32 row:i32 allocation_scheme:str? controller_id:packet? | index | ({col}, \
{row}){attributes} | {kind}tile_{col}_{row}
aie.logical_tile | tile_type:AIETileType col:i32? row:i32? allocation_scheme:str? | index | \
<{tile_type}>({col|?}, {row|?}){attributes} | logical_{tile_type}
aie.end | | | {attributes} |
aie.switchbox | tile:% body:region | index | ({tile}) {regions}{attributes} | switchbox_{tile.place}
aie.shim_mux | tile:% body:region | index | ({tile}) {regions}{attributes} | shim_mux_{tile.place}
aie.shim_dma | tile:% body:region | index | ({tile}) {regions}{attributes} | shim_dma_{tile.place}
aie.mem | tile:% body:region | index | ({tile}) {regions}{attributes} | mem_{tile.place}
aie.memtile_dma | tile:% body:region | index | ({tile}) {regions}{attributes} | memtile_dma_{tile.place}
aie.core | tile:% stack_size:i32? link_with:str? link_files:list? link_merge_files:list? elf_file:str? \
dynamic_objfifo_lowering:bool? emit_parameter_sync_preamble:bool? body:region | index | \
({tile}) {regions}{attributes} | core_{tile.place}
aie.debug | arg:% | | ({arg} : {type arg}){attributes} |
aie.plio | col:i32 | index | ({col}){attributes} |
aie.connect | source_bundle:WireBundle source_channel:i32 dest_bundle:WireBundle dest_channel:i32 | | \
<{source_bundle} : {source_channel}, {dest_bundle} : {dest_channel}>{attributes} |
aie.flow | source:% source_bundle:WireBundle source_channel:i32 dest:% dest_bundle:WireBundle \
dest_channel:i32 | | ({source}, {source_bundle} : {source_channel}, {dest}, {dest_bundle} : {dest_channel})\
{attributes} |
aie.amsel | arbiterID:i8 msel:i8 | index | <{arbiterID}> ({msel}){attributes} |
aie.masterset | dest_bundle:WireBundle dest_channel:i32 amsels:%* keep_pkt_header:bool? | index | \
({dest_bundle} : {dest_channel}, {amsels}){attributes} |
aie.wire | source:% source_bundle:WireBundle dest:% dest_bundle:WireBundle | | \
({source} : {source_bundle}, {dest} : {dest_bundle}){attributes} |
aie.packet_rules | source_bundle:WireBundle source_channel:i32 rules:region | | \
({source_bundle} : {source_channel}) {regions}{attributes} |
aie.rule | mask:i8 value:i8 amsel:% | | ({mask}, {value}, {amsel}){attributes} |
aie.packet_flow | ID:i8 keep_pkt_header:bool? priority_route:bool? ports:region | | \
({ID}) {regions}{attributes} |
aie.packet_source | tile:% bundle:WireBundle channel:i32 | | <{tile}, {bundle} : {channel}>{attributes} |
aie.packet_dest | tile:% bundle:WireBundle channel:i32 | | <{tile}, {bundle} : {channel}>{attributes} |
aie.dma_bd_packet | packet_type:i32 packet_id:i32 | | ({packet_type}, {packet_id}){attributes} |
aie.dma_bd | buffer:% offset:%? len:%? static_offset:i32? static_len:i32? sizes:%* strides:%* \
static_sizes:i64s? static_strides:i64s? pad_dimensions:pads? bd_id:i32? packet:packet? burst_length:i32?=0 \
iteration:iteration? offset_parameter:symbolref? offset_state_table_idx:ui8? next_bd_id:i32? \
out_of_order_id:i32? | | \
({buffer} : {type buffer}<< offset = {offset/static_offset}>><< len = {len/static_len}>>\
<< sizes = {sizes/static_sizes}>><< strides = {strides/static_strides}>><< pad \
{pad_dimensions}>>){attributes} |
aie.dma_start | channel_dir:DMAChannelDir channel_index:i32 dest:block chain:block repeat_count:i32?=0 \
pad_value:i32?=0 out_of_order:unit? | i1 | \
({channel_dir}, {channel_index}, {dest}, {chain}<<, repeat_count = {repeat_count}>>)\
{attributes} |
aie.dma | channel_dir:DMAChannelDir channel_index:i32 loop:bool?=true repeat_count:i32?=0 sym_name:str? \
pad_value:i32?=0 num_bds:regions | i1 | ({channel_dir}, {channel_index}){attributes} [{regions, }] |
aie.next_bd | dest:block | | {dest}{attributes} |
aie.lock | tile:% lockID:i32? init:i32? sym_name:str? | index | ({tile}<<, {lockID}>>){attributes} | \
{sym_name} or lock_{tile.place}
aie.use_lock | lock:% action:LockAction value:% blocking:LockBlocking? acq_en:bool?=true | | \
({lock}, {action}, {value}<<, {blocking}>>){attributes} |
aie.buffer | tile:% sym_name:str? address:i32? initial_value:elements? mem_bank:i32? aligned:bool?=true | \
buffer | ({tile}){attributes} : {type buffer}<< = {initial_value}>> | {sym_name} or buffer_{tile.place}
aie.external_buffer | sym_name:str? address:i64? | buffer |{attributes} : {type buffer} | {sym_name}
aie.event | val:i32 | | ({val}){attributes} |
aie.get_stream | channel:% | stream_value | ({channel} : {type channel}){attributes} : {type stream_value} |
aie.put_stream | channel:% stream_value:% | | ({channel} : {type channel}, {stream_value} : \
{type stream_value}){attributes} |
aie.cascade_flow | source_tile:% dest_tile:% | | ({source_tile}, {dest_tile}){attributes} |
aie.configure_cascade | tile:% inputDir:CascadeDir outputDir:CascadeDir | | \
({tile}, {inputDir}, {outputDir}){attributes} |
aie.get_cascade | | cascade_value | (){attributes} : {type cascade_value} |
aie.put_cascade | cascade_value:% | | ({cascade_value} : {type cascade_value}){attributes} |
aie.shim_dma_allocation | sym_name:symbol tile:% channel_dir:DMAChannelDir channel_index:i64 \
plio:bool?=false \
packet:packet? | | {sym_name} ({tile}, {channel_dir}, {channel_index}<<, {packet}>>){attributes} |
aie.objectfifo | sym_name:symbol producerTile:% consumerTiles:%* elemNumber:depth elemType:type \
consumerElemType:type? dimensionsToStream:dims dimensionsFromStreamPerConsumer:dimss via_DMA:bool?=false \
plio:bool?=false disable_synchronization:bool?=false repeat_count:i32? aie_stream:i32? aie_stream_port:i32? \
prod_dma_channel:i32? cons_dma_channels:i32s? initValues:list? padDimensions:pads? padValue:i32? \
iter_count:i32? via_shared_mem:i32? | | {fifo} |
aie.objectfifo.allocate | objFifo_name:symbolref delegateTile:% | | \
{objFifo_name}({delegateTile}){attributes} |
aie.objectfifo.link | fifoIns:symbolrefs fifoOuts:symbolrefs src_offsets:i64list dst_offsets:i64list | | \
{fifoIns} -> {fifoOuts}({src_offsets} {dst_offsets}){attributes} |
aie.objectfifo.register_external_buffers | objFifo_name:symbolref tile:% externalBuffers:%* | |{attributes} \
{objFifo_name}({tile}, {{{externalBuffers}}}) : ({type externalBuffers}) |
aie.objectfifo.acquire | port:ObjectFifoPort objFifo_name:symbolref size:i32 | subview |{attributes} \
{objFifo_name}({port}, {size}) : {type subview} |
aie.objectfifo.release | port:ObjectFifoPort objFifo_name:symbolref size:i32 | |{attributes} \
{objFifo_name}({port}, {size}) |
aie.objectfifo.subview.access | subview:% index:i32 | output | {subview}[{index}]{attributes} : {type \
subview} \
-> {type output} |
aie.bd_chain | sym_name:symbol body:region | | {chain} |
aie.runtime_sequence | sym_name:symbol?=sequence emit_parameter_sync_preamble:bool? body:region | | \
{sequence} |
aie.trace | tile:% sym_name:symbol body:region | | {sym_name}({tile}) {regions}{attributes} |
aie.trace.mode | mode:TraceMode | | {mode}{attributes} |
aie.trace.event | event:traceevent label:str? | | {event}<< label = {label}>>{attributes} |
aie.trace.packet | id:i32? type_:TracePacketType | | << id = {id}>> type = {type_}{attributes} |
aie.trace.port | slot:i32 port:WireBundle channel:i32 direction:DMAChannelDir | | <{slot}> port = {port} \
channel = {channel} direction = {direction}{attributes} |
aie.trace.start | broadcast:i32? event:traceevent? | | << broadcast = {broadcast}>><< event = \
{event}>>{attributes} |
aie.trace.stop | broadcast:i32? event:traceevent? | | << broadcast = {broadcast}>><< event = \
{event}>>{attributes} |
aie.trace.combo_event | slot:i32 eventA:traceevent logic:ComboLogic eventB:traceevent | | \
<{slot}> {eventA} {logic} {eventB}{attributes} |
aie.trace.edge_event | slot:i32 event:traceevent trigger:EdgeTrigger | | <{slot}> event = {event} \
trigger = {trigger}{attributes} |
aie.trace.host_config | buffer_size:i32 reuse_output_buffer:bool?=false routing:TraceShimRouting?=single \
egress_shim_col:i32?=0 | |{attributes} |
aie.trace.start_config | trace_config:symbolref | | {trace_config}{attributes} |
"""

HOST = """
aiex.configure | symbol:symbolref expand_mode:ExpandMode? body:region | | {symbol} {regions}{attributes} |
aiex.run | runtime_sequence_symbol:symbolref args:%* | | {runtime_sequence_symbol} ({args}) : ({type args})\
{attributes} |
aiex.npu.dma_memcpy_nd | memref:% offsets:%* sizes:%* strides:%* static_offsets:i64s static_sizes:i64s \
static_strides:i64s metadata:symbolref id:i64 issue_token:bool?=false d0_zero_before:i64?=0 \
d1_zero_before:i64?=0 d2_zero_before:i64?=0 d0_zero_after:i64?=0 d1_zero_after:i64?=0 d2_zero_after:i64?=0 \
burst_length:i64?=0 packet:packet? offset_parameter:symbolref? | | ({memref}{offsets/static_offsets}\
{sizes/static_sizes}{strides/static_strides}<<, packet = {packet}>>){attributes} : {type memref} |
aiex.npu.dma_wait | symbol:symbolref | |{attributes} |
aiex.npu.rtp_write | buffer:symbolref index:ui32 value:% | | ({buffer}, {index}, {value}){attributes} : \
{type value} |
aiex.npu.push_queue | column:i32 row:i32 direction:DMAChannelDir channel:i32 issue_token:bool \
repeat_count:% bd_id:% | | ({column}, {row}, {direction} : {channel}) bd_id {bd_id} repeat {repeat_count}\
{attributes} : {type bd_id}, {type repeat_count} |
aiex.npu.write32 | address:% value:% buffer:symbolref? column:i32? row:i32? | | ({address}, {value})\
{attributes} : {type address}, {type value} |
aiex.npu.maskwrite32 | address:% value:% mask:% buffer:symbolref? column:i32? row:i32? | | \
({address}, {value}, {mask}){attributes} : {type address}, {type value}, {type mask} |
aiex.npu.blockwrite | data:% address:ui32 buffer:symbolref? column:i32? row:i32? | | ({data}){attributes} : \
{type data} |
aiex.npu.sync | column:% row:% direction:% channel:% column_num:% row_num:% | | \
({column}, {row}, {direction}, {channel}, {column_num}, {row_num}){attributes} : {type column}, {type row}, \
{type direction}, {type channel}, {type column_num}, {type row_num} |
aiex.npu.address_patch | addr:ui32 arg_idx:i32 arg_plus:% addr_val:%? | | ({arg_plus} : {type arg_plus})\
<< addr {addr_val} : {type addr_val}>>{attributes} |
aiex.npu.preempt | level:ui8 | |{attributes} |
aiex.npu.create_scratchpad | size:ui32 usage_type:ui8?=0 | |{attributes} |
aiex.npu.update_from_scratchpad | state_table_idx:ui8 func:StateTableFunc?=incr func_arg:ui32?=0 \
address:ui32 \
buffer:symbolref? column:i32? row:i32? | |<< <{func}>>>{attributes} |
aiex.control_packet | address:ui32 length:i32? opcode:i32 stream_id:i32 data:i32s? | |{attributes} |
aiex.npu.writebd | bd_id:i32 buffer_length:i32 buffer_offset:i32 column:i32 d0_size:i32 d0_stride:i32 \
d0_zero_after:i32 d0_zero_before:i32 d1_size:i32 d1_stride:i32 d1_zero_after:i32 d1_zero_before:i32 \
d2_size:i32 d2_stride:i32 d2_zero_after:i32 d2_zero_before:i32 enable_packet:i32 iteration_current:i32 \
iteration_size:i32 iteration_stride:i32 lock_acq_enable:i32 lock_acq_id:i32 lock_acq_val:i32 lock_rel_id:i32 \
lock_rel_val:i32 next_bd:i32 out_of_order_id:i32 packet_id:i32 packet_type:i32 row:i32 use_next_bd:i32 \
valid_bd:i32 burst_length:i32?=0 | |{attributes} |
aiex.npu.load_pdi | device_ref:symbolref? id:i32?=0 size:i32?=0 address:ui64?=0 expand_mode:ExpandMode? | |\
{attributes} |
aiex.dma_configure_task | tile:% direction:DMAChannelDir channel:i32 issue_token:bool?=false \
repeat_count:i32?=0 repeat_count_val:%? bd_id_val:%? packet:packet? out_of_order:unit? body:region | index | \
({tile}, {direction}, {channel}<<, {packet}>>)<< repeat {repeat_count_val} : {type repeat_count_val}>>\
<< bd_id {bd_id_val} : {type bd_id_val}>> {regions}{attributes} |
aiex.dma_configure_task_for | alloc:symbolref issue_token:bool?=false repeat_count:i32?=0 \
repeat_count_val:%? body:region | index | {alloc}<< repeat {repeat_count_val} : {type repeat_count_val}>> \
{regions}{attributes} |
aiex.dma_free_task | task:% | | ({task}){attributes} |
aiex.dma_start_task | task:% repeat_count:i32? repeat_count_val:%? | | ({task})\
<< repeat {repeat_count_val} : {type repeat_count_val}>>{attributes} |
aiex.dma_await_task | task:% | | ({task}){attributes} |
aiex.dma_start_bd_chain | symbol:symbolref args:%* tile:% direction:DMAChannelDir channel:i32 \
issue_token:bool?=false repeat_count:i32?=0 | index | {symbol}({args}) : ({type args}) on ({tile}, \
{direction}, \
{channel}){attributes} |
aiex.dma_start_bd_chain_for | symbol:symbolref args:%* alloc:symbolref issue_token:bool?=false \
repeat_count:i32?=0 | index | {symbol}({args}) : ({type args}) for {alloc}{attributes} |
aiex.set_lock | lock:% value:i32 | | ({lock}, {value}){attributes} |
aiex.dma_channel_reset | tile:% direction:DMAChannelDir channel:i32 | | ({tile}, {direction}, {channel})\
{attributes} |
aiex.core_reset | tile:% | | ({tile}){attributes} |
aiex.dma_channel_reset_for | objfifo:symbolref | | ({objfifo}){attributes} |
aiex.scratchpad_parameter | sym_name:symbol type:type state_table_idx:ui8? kind:ScratchpadKind? | | \
{sym_name} : {type}{attributes} |
aiex.read_scratchpad_parameter | parameter:symbolref buffer:symbolref? | result | {parameter} : {type result}\
{attributes} |
aiex.sync_scratchpad_parameters_from_host | | |{attributes} |
"""

_BINARY = """addi subi muli divsi divui ceildivsi ceildivui floordivsi remsi remui andi ori xori shli shrsi \
shrui maxsi
maxui minsi minui addf subf mulf divf remf maximumf minimumf maxnumf minnumf"""
_CASTS = "extsi extui trunci extf truncf sitofp uitofp fptosi fptoui index_cast index_castui bitcast"

BODIES = (
    "\n".join(
        f"arith.{name} | lhs:% rhs:% | result | {{lhs}}, {{rhs}}{{attributes}} : {{type result}} |"
        for name in _BINARY.split()
    )
    + "\n"
    + "\n".join(
        f"arith.{name} | in:% | result | {{in}}{{attributes}} : {{type in}} to {{type result}} |"
        for name in _CASTS.split()
    )
    + """
arith.constant | value:any | result | {constant} |
arith.negf | operand:% | result | {operand}{attributes} : {type result} |
arith.cmpi | predicate:IntegerPredicate lhs:% rhs:% | i1 | {predicate}, {lhs}, {rhs}{attributes} : {type \
lhs} |
arith.cmpf | predicate:FloatPredicate lhs:% rhs:% | i1 | {predicate}, {lhs}, {rhs}{attributes} : {type lhs} |
arith.select | condition:% true_value:% false_value:% | result | {condition}, {true_value}, {false_value}\
{attributes} : {type result} |
scf.for | lowerBound:% upperBound:% step:% initArgs:%* body:region | results | {for} |
scf.if | condition:% thenRegion:region elseRegion:region | results | {if} |
scf.while | inits:%* before:region after:region | results | |
scf.condition | condition:% args:%* | | ({condition}){attributes}<< {args} : {type args}>> |
scf.yield | results:%* | |{attributes}<< {results} : {type results}>> |
func.func | sym_name:symbol function_type:type sym_visibility:str? body:region | | {function} |
func.call | callee:symbolref operands:%* | results | {callee}({operands}){attributes} : ({type operands}) -> \
{types results} |
func.return | operands:%* | |{attributes}<< {operands} : {type operands}>> |
memref.load | memref:% indices:%* | result | {memref}[{indices}]{attributes} : {type memref} |
memref.store | value:% memref:% indices:%* | | {value}, {memref}[{indices}]{attributes} : {type memref} |
memref.alloc | | memref | (){attributes} : {type memref} | alloc
memref.alloca | | memref | (){attributes} : {type memref} | alloca
memref.view | source:% byte_shift:% sizes:%* | result | {source}[{byte_shift}][{sizes}]{attributes} : \
{type source} to {type result} | view
memref.subview | source:% offsets:%* sizes:%* strides:%* static_offsets:i64s static_sizes:i64s \
static_strides:i64s | result | {source}{offsets/static_offsets} {sizes/static_sizes} {strides/static_strides}\
{attributes} : {type source} to {type result} | subview
memref.reinterpret_cast | source:% offsets:%* sizes:%* strides:%* static_offsets:i64s static_sizes:i64s \
static_strides:i64s | result | {source} to offset: {offsets/static_offsets}, sizes: {sizes/static_sizes}, \
strides: {strides/static_strides}{attributes} : {type source} to {type result} | reinterpret_cast
memref.collapse_shape | src:% reassociation:list | result | {src} {reassociation}{attributes} : {type src} \
into \
{type result} | collapse_shape
memref.expand_shape | src:% reassociation:list output_shape:%* static_output_shape:i64s | result | {src} \
{reassociation} output_shape {output_shape/static_output_shape}{attributes} : {type src} into {type result} \
| \
expand_shape
memref.copy | source:% target:% | | {source}, {target}{attributes} : {type source} to {type target} |
memref.global | sym_name:symbol sym_visibility:str? type:type initial_value:elements? constant:unit? | | \
{global} |
memref.get_global | name:symbolref | result | {name}{attributes} : {type result} |
memref.dim | source:% index:% | index | {source}, {index}{attributes} : {type source} |
memref.cast | source:% | result | {source}{attributes} : {type source} to {type result} |
vector.transfer_read | | result | |
vector.load | base:% indices:%* | result | {base}[{indices}]{attributes} : {type base}, {type result} |
vector.store | valueToStore:% base:% indices:%* | | {valueToStore}, {base}[{indices}]{attributes} : {type \
base}, \
{type valueToStore} |
vector.broadcast | source:% | result | {source}{attributes} : {type source} to {type result} |
"""
)
