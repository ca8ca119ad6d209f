// Words of the chess compiler that kernels write between C++ tokens: hints, which change no result.
//
// Source: the kernels of mlir-aie. `chess_storage(TM : address)` is no hint: such a variable is a register of the
// tile behind the processor bus, which has no address on the host, so the compiler refuses it here.
#pragma once

namespace memtile {

constexpr bool is_processor_bus(const char *place) { return place[0] == 'T' && place[1] == 'M'; }

}  // namespace memtile

#define chess_storage(...)                                                                                        \
    __attribute__((aligned([] {                                                                                   \
        static_assert(!memtile::is_processor_bus(#__VA_ARGS__),                                                   \
                      "chess_storage(TM: ...) is the processor bus of the core, which C++ kernels on the host cannot " \
                      "reach. Write this kernel in Python");                                                      \
        return 1;                                                                                                 \
    }())))
#define chess_prepare_for_pipelining
#define chess_no_prepare_for_pipelining
#define chess_loop_range(...)
#define chess_loop_count(...)
#define chess_unroll_loop(...)
#define chess_unroll_loop_preamble
#define chess_flatten_loop
#define chess_peel_pipelined_loop(...)
#define chess_pipeline_adjust_preamble
#define chess_modulo_scheduling_budget_ratio(...)
#define chess_pipeline_non_leaf_loop_solution(...)
#define chess_keep_sw_loop
#define chess_no_hw_loop
#define chess_allocate(...)
#define chess_require_pipelining(...)
#define chess_alignof(type) alignof(type)
#define chess_copy(value) (value)
#define chess_const(value) (value)
#define chess_protect_access
#define chess_output
#define chess_dont_warn_dead(...)
#define chess_report(...) ((void)0)
#define chess_separator() ((void)0)
#define chess_separator_scheduler(...) ((void)0)
#define chess_separator_scheduler_local() ((void)0)
#define chess_memory_fence() ((void)0)
#define chess_manifest(value) __builtin_constant_p(value)
#define __builtin_aiev2_sched_barrier() ((void)0)
#define __builtin_aie2p_sched_barrier() ((void)0)

// Which bank of data memory a pointer means: placement is the design's, and no result depends on it.
#define __aie_dm_resource_a
#define __aie_dm_resource_b
#define __aie_dm_resource_c
#define __aie_dm_resource_d
#define __aie_dm_resource_TM
