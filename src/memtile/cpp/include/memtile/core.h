// The simulated core, as seen by a C++ kernel compiled for the host.
//
// Headers of AMD's names (aie_api/, intrinsics) call what is here; memtile compiles `core.cc` beside the kernels, which
// implements it. Each core of a design loads its own copy of the compiled kernels, so `memtile::core()` and all globals of
// the user belong to one core, as on the chip. A call that waits gives the host thread back to the simulator and continues
// in simulated time; a kernel needs no thread and no lock.
//
// Three builds: plain; MEMTILE_COUNT counts operations by unit (`memtile::count`); MEMTILE_SANITIZE checks accesses
// (`memtile::before_load`, ...). In a plain build counting and checking compile to nothing. User lines in findings come
// from debug information of the return address: no header passes a source location.
#pragma once

#include <cstddef>
#include <cstdint>

#define MEMTILE_EXPORT extern "C" __attribute__((visibility("default")))
#define MEMTILE_LOCAL __attribute__((visibility("hidden")))

// The generation of the array: 2 is AIE-ML (npu1), 21 is AIE2P (npu2), 22 is AIE-ML v2. The compiler flags of memtile set it.
#ifndef MEMTILE_GENERATION
#define MEMTILE_GENERATION 2
#endif

namespace memtile {

// Functional units of the core that an operation occupies for one cycle; the order is that of `cpp/operation_counts.py`.
enum class Unit : std::uint32_t {
    load,     // one vector load (two load units: two per cycle)
    store,    // one vector store
    mac,      // one vector multiply, multiply-accumulate or accumulator addition
    alu,      // one vector addition, comparison, selection, maximum, logical operation
    shuffle,  // one permutation, shift of lanes, broadcast, insert or extract
    convert,  // one shift-round-saturate or upshift between accumulator and vector
    scalar,   // one operation that the scalar unit does for a vector operation (division, square root, lookup)
    stream,   // one word or wide word of a stream or cascade
    number
};

// Control registers of the core that outlive a call. Values are the hardware's (crRnd, crSat and their relatives).
enum class Mode : std::uint32_t {
    rounding,    // 0 floor, 1 ceil, 2 symmetric floor, 3 symmetric ceil, 8..13 nearest: neg_inf, pos_inf, sym_zero, sym_inf, even, odd
    saturation,  // 0 none, 1 saturate, 3 symmetric
    float_mask,  // exceptions of floating point that stop the core; 0 none
    other0,      // for headers: each names what it uses here
    other1,
    other2,
    other3,
    other4,
    number
};

// What a kernel asks of the simulated core, and may have to wait for.
enum class Ask : std::uint32_t {
    finish,         // the kernel function returned
    get_stream,     // index: input port; count words; last: TLAST of the final word
    put_stream,     // index: output port; count words; last: TLAST of the final word
    get_cascade,    // count words of 32 bits: a 512-bit value is 16
    put_cascade,
    acquire_equal,  // index: lock as the core numbers it (own tile 48..63, neighbours 0..47); value
    acquire_greater_equal,
    release,        // index, value: added to the lock
    event,          // index: 0..3, an instruction event of the core
    delay,          // value: cycles that pass
    cycle,          // the time in 64 bits, low word first; takes none
    acquire_buffer, // index: an asynchronous port of the call; answers which of its buffers is its turn
    release_buffer, // index: the same; gives back what it acquired
    packet_id,      // index: a packet stream of the call; value: branch of its split or merge; takes no time
};

inline constexpr std::size_t request_words = 64;

struct Request {
    Ask ask;
    std::uint32_t index;
    std::int32_t value;
    std::uint32_t count;
    std::uint32_t last;
    std::uint32_t blocking;  // 0: takes one cycle; `done` says whether it happened
    std::uint32_t done;
    std::uint32_t reserved;
    std::uint32_t words[request_words];
};

struct Core;

// Filled by the host side (core.cc).
struct Hooks {
    void (*ask)(Core &, Request &);
    void (*load)(Core &, const void *, std::size_t bytes, std::size_t alignment, void *from);
    void (*store)(Core &, const void *, std::size_t bytes, std::size_t alignment, void *from);
    void (*store_window)(Core &, const void *, std::size_t bytes, std::size_t window, void *from);
    void (*fail)(Core &, const char *reason, void *from);
};

struct Core {
    const Hooks *hooks;
    std::uint32_t column, row;
    std::uint32_t mode[static_cast<std::size_t>(Mode::number)];
    std::uint64_t counts[static_cast<std::size_t>(Unit::number)];
    Request request;
};

MEMTILE_LOCAL extern Core the_core;

inline Core &core() { return the_core; }

// Control registers.
inline std::uint32_t get_mode(Mode mode) { return the_core.mode[static_cast<std::size_t>(mode)]; }
inline void set_mode(Mode mode, std::uint32_t value) { the_core.mode[static_cast<std::size_t>(mode)] = value; }
inline std::uint32_t rounding() { return get_mode(Mode::rounding); }
inline std::uint32_t saturation() { return get_mode(Mode::saturation); }

inline std::uint32_t column() { return the_core.column; }
inline std::uint32_t row() { return the_core.row; }

namespace detail {
inline Request &ask(Ask what, std::uint32_t index, std::int32_t value, std::uint32_t count, bool last = false, bool blocking = true) {
    Request &request = the_core.request;
    request.ask = what;
    request.index = index;
    request.value = value;
    request.count = count;
    request.last = last;
    request.blocking = blocking;
    request.done = 0;
    return request;
}
inline Request &send(Request &request) {
    the_core.hooks->ask(the_core, request);
    return request;
}
}  // namespace detail

// Occupies a unit of the core; compiles to nothing unless operations are counted.
inline void count([[maybe_unused]] Unit unit, [[maybe_unused]] std::uint64_t times = 1) {
#ifdef MEMTILE_COUNT
    the_core.counts[static_cast<std::size_t>(unit)] += times;
#endif
}

// Streams: `words` words of 32 bits from or to port `index`. `last` is TLAST of the final word.
// `try_` forms have one word and never wait: false if the port has no word, or no room, in the cycle of the call, which
// that takes; nothing moves then and `word` and `last` stay as they were.
inline void get_ss_words(std::uint32_t index, std::uint32_t *words, std::uint32_t number, bool *last = nullptr) {
    count(Unit::stream);
    Request &request = detail::send(detail::ask(Ask::get_stream, index, 0, number));
    for (std::uint32_t i = 0; i < number; ++i) words[i] = request.words[i];
    if (last) *last = request.last != 0;
}
inline bool try_get_ss(std::uint32_t index, std::uint32_t &word, bool *last = nullptr) {
    count(Unit::stream);
    const Request &request = detail::send(detail::ask(Ask::get_stream, index, 0, 1, false, false));
    if (request.done) word = request.words[0];
    if (request.done && last) *last = request.last != 0;
    return request.done != 0;
}
inline void put_ms_words(std::uint32_t index, const std::uint32_t *words, std::uint32_t number, bool last = false) {
    count(Unit::stream);
    Request &request = detail::ask(Ask::put_stream, index, 0, number, last);
    for (std::uint32_t i = 0; i < number; ++i) request.words[i] = words[i];
    detail::send(request);
}
inline bool try_put_ms(std::uint32_t index, std::uint32_t word, bool last = false) {
    count(Unit::stream);
    Request &request = detail::ask(Ask::put_stream, index, 0, 1, last, false);
    request.words[0] = word;
    return detail::send(request).done != 0;
}
inline std::uint32_t get_ss(std::uint32_t index, bool *last = nullptr) {
    std::uint32_t word;
    get_ss_words(index, &word, 1, last);
    return word;
}
inline void put_ms(std::uint32_t index, std::uint32_t word, bool last = false) { put_ms_words(index, &word, 1, last); }

// Cascade: a value of `number` 32-bit words, 16 on AIE-ML and AIE2P.
inline void get_scd(std::uint32_t *words, std::uint32_t number) {
    count(Unit::stream);
    Request &request = detail::send(detail::ask(Ask::get_cascade, 0, 0, number));
    for (std::uint32_t i = 0; i < number; ++i) words[i] = request.words[i];
}
inline void put_mcd(const std::uint32_t *words, std::uint32_t number) {
    count(Unit::stream);
    Request &request = detail::ask(Ask::put_cascade, 0, 0, number);
    for (std::uint32_t i = 0; i < number; ++i) request.words[i] = words[i];
    detail::send(request);
}

// Locks, by the number that the core's instructions use.
inline void acquire_equal(std::uint32_t lock, std::int32_t value) { detail::send(detail::ask(Ask::acquire_equal, lock, value, 0)); }
inline void acquire_greater_equal(std::uint32_t lock, std::int32_t value) {
    detail::send(detail::ask(Ask::acquire_greater_equal, lock, value, 0));
}
// A negative value acquires "greater or equal", a positive one "equal", as the instruction does.
inline void acquire(std::uint32_t lock, std::int32_t value) {
    if (value < 0) acquire_greater_equal(lock, -value);
    else acquire_equal(lock, value);
}
inline void release(std::uint32_t lock, std::int32_t value) { detail::send(detail::ask(Ask::release, lock, value, 0)); }

// Ports of a graph's kernel, by the place of their parameters. The model answers, or the text that calls the kernel.
struct PortAnswers {
    std::uint32_t (*acquire)(std::uint32_t port);
    void (*release)(std::uint32_t port);
    std::uint32_t (*packet_id)(std::uint32_t port, std::int32_t branch);
};
inline const PortAnswers* port_answers = nullptr;
inline std::uint32_t acquire_buffer(std::uint32_t port) {
    if (port_answers) return port_answers->acquire(port);
    return detail::send(detail::ask(Ask::acquire_buffer, port, 0, 0)).words[0];
}
inline void release_buffer(std::uint32_t port) {
    if (port_answers) return port_answers->release(port);
    detail::send(detail::ask(Ask::release_buffer, port, 0, 0));
}
inline std::uint32_t packet_id(std::uint32_t port, std::int32_t branch) {
    if (port_answers) return port_answers->packet_id(port, branch);
    return detail::send(detail::ask(Ask::packet_id, port, branch, 0)).words[0];
}

// Instruction events 0 to 3 of the core, for its trace unit.
inline void event(std::uint32_t number) { detail::send(detail::ask(Ask::event, number, 0, 0)); }

// A simulated cycle, not one of the host.
inline std::uint64_t get_cycles() {
    const Request &request = detail::send(detail::ask(Ask::cycle, 0, 0, 0));
    return std::uint64_t{request.words[1]} << 32 | request.words[0];
}

// Lets `cycles` cycles of the array clock pass.
inline void delay(std::uint32_t cycles) { detail::send(detail::ask(Ask::delay, 0, static_cast<std::int32_t>(cycles), 0)); }

// Every vector load and store of a header calls one of these first, with the bytes it touches and the alignment that the
// instruction needs (1 for an unaligned one). They also count the load or store.
#ifdef MEMTILE_SANITIZE
#define MEMTILE_CHECK(hook, pointer, bytes, number) the_core.hooks->hook(the_core, pointer, bytes, number, nullptr)
#else
#define MEMTILE_CHECK(hook, pointer, bytes, number) ((void)(pointer), (void)(bytes), (void)(number))
#endif
inline void before_load(const void *pointer, std::size_t bytes, std::size_t alignment) {
    count(Unit::load, (bytes + 63) / 64);
    MEMTILE_CHECK(load, pointer, bytes, alignment);
}
inline void before_store(const void *pointer, std::size_t bytes, std::size_t alignment) {
    count(Unit::store, (bytes + 63) / 64);
    MEMTILE_CHECK(store, pointer, bytes, alignment);
}
// An unaligned store that reads and rewrites the aligned windows of `window` bytes around it.
inline void before_store_window(const void *pointer, std::size_t bytes, std::size_t window) {
    count(Unit::store, 2 * ((bytes + 63) / 64));
    MEMTILE_CHECK(store_window, pointer, bytes, window);
}
inline void check_aligned(const void *pointer, std::size_t bytes) { MEMTILE_CHECK(load, pointer, 0, bytes); }
#undef MEMTILE_CHECK

// Ends the run with a finding: a condition that the real core does not define, as one sentence. It is always a part of its
// caller, whose line is the user's.
[[noreturn, gnu::always_inline]] inline void fail(const char *reason) {
    the_core.hooks->fail(the_core, reason, nullptr);
    __builtin_unreachable();
}

}  // namespace memtile
