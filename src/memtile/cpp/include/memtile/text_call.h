// Functions of MLIR text that call kernels of a graph: what `memtile export graph.cpp --mlir --functions FOLDER` writes.
//
// What the model answers for a graph, the text says by arguments: the locks of asynchronous buffers. Ids of packets are in
// the functions.
#pragma once

#include "memtile/kernel_call.h"

namespace memtile {

/// An asynchronous port: `locks` has `numbers` for each of its `buffers`: the lock, how much of it, locks to release.
struct PortOfCall {
    unsigned numbers, buffers;
    unsigned next = 0;
    const std::int32_t* locks = nullptr;
};

namespace detail {

inline constexpr unsigned most_ports = 64;
inline PortOfCall* ports_of_call[most_ports] = {};
inline const std::uint32_t* ids_of_call[most_ports] = {};

inline const std::int32_t* next_locks(const PortOfCall& port) { return port.locks + port.next * port.numbers; }
inline std::uint32_t acquire_port(std::uint32_t port) {
    const std::int32_t* locks = next_locks(*ports_of_call[port]);
    acquire_greater_equal(static_cast<std::uint32_t>(locks[0]), locks[1]);
    return ports_of_call[port]->next;
}
inline void release_port(std::uint32_t number) {
    PortOfCall& port = *ports_of_call[number];
    const std::int32_t* locks = next_locks(port);
    for (unsigned at = 2; at < port.numbers; ++at) memtile::release(static_cast<std::uint32_t>(locks[at]), 1);
    port.next = (port.next + 1) % port.buffers;
}
inline std::uint32_t id_of_port(std::uint32_t port, std::int32_t branch) { return ids_of_call[port][branch]; }
inline constexpr PortAnswers text_answers{acquire_port, release_port, id_of_port};

}  // namespace detail

/// For the call that is made now: a port that its kernel acquires, by the place of its parameter.
inline void has_port(unsigned number, PortOfCall& port, const std::int32_t* locks) {
    port.locks = locks;
    detail::ports_of_call[number] = &port;
    port_answers = &detail::text_answers;
}
/// For the call that is made now: the ids of the packets of a port.
inline void has_ids(unsigned number, const std::uint32_t* ids) {
    detail::ids_of_call[number] = ids;
    port_answers = &detail::text_answers;
}

/// A place in memory, as the function of a kernel gets it.
inline std::int64_t place(void* memory, std::int64_t bytes) {
    return reinterpret_cast<std::int64_t>(static_cast<char*>(memory) + bytes);
}
/// The bits of a number that is in memory.
inline std::int64_t bits(const void* memory, std::size_t bytes) {
    std::int64_t found = 0;
    std::memcpy(&found, memory, bytes < sizeof found ? bytes : sizeof found);
    return found;
}

}  // namespace memtile
