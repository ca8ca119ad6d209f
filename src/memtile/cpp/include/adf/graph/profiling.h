// Profiling by events of interface tiles.
//
// Source: UG1076, Event Profile APIs for Graph Inputs and Outputs.
#pragma once

#include "outside.h"

namespace adf::event {

using handle = int;
inline constexpr handle invalid_handle = -1;

enum io_profiling_option {
    io_total_stream_running_to_idle_cycles,
    io_stream_start_to_bytes_transferred_cycles,
    io_stream_start_difference_cycles,
    io_stream_running_event_count,
};

namespace detail {
inline const char* text_of(io_profiling_option option) {
    static constexpr const char* texts[] = {"io_total_stream_running_to_idle_cycles", "io_stream_start_to_bytes_transferred_cycles",
                                            "io_stream_start_difference_cycles", "io_stream_running_event_count"};
    return texts[option];
}
}  // namespace detail

MEMTILE_CALLED inline handle start_profiling(const IoAttr& of, io_profiling_option option, long long bytes = 0) {
    return recorder::start_profiling(of.node(MEMTILE_CALLER, "a PLIO or GMIO"), nullptr, detail::text_of(option), bytes, MEMTILE_CALLER);
}
MEMTILE_CALLED inline handle start_profiling(const IoAttr& first, const IoAttr& second, io_profiling_option option, long long bytes = 0) {
    return recorder::start_profiling(first.node(MEMTILE_CALLER, "a PLIO or GMIO"), second.node(MEMTILE_CALLER, "a PLIO or GMIO"),
                                     detail::text_of(option), bytes, MEMTILE_CALLER);
}
MEMTILE_CALLED inline long long read_profiling(handle of) { return recorder::read_profiling(of, MEMTILE_CALLER); }
MEMTILE_CALLED inline void stop_profiling(handle of) { recorder::stop_profiling(of, MEMTILE_CALLER); }

}  // namespace adf::event
