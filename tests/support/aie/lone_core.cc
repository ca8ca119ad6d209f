// A core without a simulator: queues for its stream and cascade, and a log of what else kernels ask.
//
// Tests of kernels put words into the queues before a call and take them out after it; a read from an empty queue ends
// the process with a sentence, as nothing could ever fill it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "memtile/core.h"

namespace {

struct Word {
    std::uint32_t bits;
    bool last;
};
std::deque<Word> queues[4];  // stream in, stream out, cascade in, cascade out
std::vector<std::int32_t> asked;

[[noreturn]] void stop(const char *reason) {
    std::fprintf(stderr, "lone core: %s\n", reason);
    std::abort();
}

void get(memtile::Request &request, std::deque<Word> &from) {
    request.done = from.size() >= request.count;
    if (!request.done) {
        if (request.blocking) stop("a kernel reads a stream that has no more words");
        return;
    }
    for (std::uint32_t at = 0; at < request.count; ++at) {
        request.words[at] = from.front().bits;
        request.last = from.front().last;
        from.pop_front();
    }
}

void put(memtile::Request &request, std::deque<Word> &to) {
    for (std::uint32_t at = 0; at < request.count; ++at)
        to.push_back({request.words[at], at + 1 == request.count && request.last != 0});
    request.done = 1;
}

void ask(memtile::Core &, memtile::Request &request) {
    using memtile::Ask;
    switch (request.ask) {
        case Ask::get_stream: return get(request, queues[0]);
        case Ask::put_stream: return put(request, queues[1]);
        case Ask::get_cascade: return get(request, queues[2]);
        case Ask::put_cascade: return put(request, queues[3]);
        default:
            asked.insert(asked.end(), {static_cast<std::int32_t>(request.ask), static_cast<std::int32_t>(request.index), request.value});
    }
}
void check(memtile::Core &, const void *pointer, std::size_t, std::size_t alignment, void *) {
    if (reinterpret_cast<std::uintptr_t>(pointer) % alignment) stop("a vector access is not aligned");
}
void check_window(memtile::Core &, const void *, std::size_t, std::size_t, void *) {}
void fail(memtile::Core &, const char *reason, void *) { stop(reason); }

const memtile::Hooks hooks{ask, check, check, check_window, fail};

}  // namespace

namespace memtile {
Core the_core{&hooks, 1, 2, {}, {}, {}};
}

MEMTILE_EXPORT void lone_core_put(std::uint32_t queue, const std::uint32_t *words, std::uint32_t number) {
    for (std::uint32_t at = 0; at < number; ++at) queues[queue].push_back({words[at], at + 1 == number});
}
MEMTILE_EXPORT std::uint32_t lone_core_waiting(std::uint32_t queue) { return queues[queue].size(); }
MEMTILE_EXPORT std::uint32_t lone_core_take(std::uint32_t queue, std::uint32_t *words, std::uint32_t most) {
    std::uint32_t taken = 0;
    for (; taken < most && !queues[queue].empty(); ++taken) {
        words[taken] = queues[queue].front().bits;
        queues[queue].pop_front();
    }
    return taken;
}
MEMTILE_EXPORT std::uint32_t lone_core_requests() { return asked.size(); }
MEMTILE_EXPORT std::uint32_t lone_core_asked(std::int32_t *found, std::uint32_t most) {
    const std::uint32_t taken = asked.size() < most ? asked.size() : most;
    std::memcpy(found, asked.data(), taken * sizeof(std::int32_t));
    asked.clear();
    return taken;
}
MEMTILE_EXPORT void lone_core_modes(std::uint32_t rounding, std::uint32_t saturation) {
    memtile::set_mode(memtile::Mode::rounding, rounding);
    memtile::set_mode(memtile::Mode::saturation, saturation);
}
