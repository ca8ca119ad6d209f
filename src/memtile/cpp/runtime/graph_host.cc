// The calls of a graph's `main` as requests on a pipe, one JSON line each; memtile.adf.host_program answers with a line.
//
// MEMTILE_ADF_PIPES holds the numbers of the two ends: requests, answers. A program without them says that it is run by
// memtile. It ends with its parent.
#include "adf/graph/host_calls.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "memtile/graph_recorder.h"
#include "adf/graph/graph.h"

extern "C" __attribute__((weak)) int __real_main(int, char**);

namespace adf::recorder {

namespace {

struct Memory {
    int number;
    std::size_t bytes;
};
struct Host {
    int requests = -1, answers = -1;
    std::string folder, unread;
    std::map<const char*, Memory> memories;
    int memory_count = 0;
    std::size_t described = 0;
    std::mutex one_at_a_time;
};
Host& host() {
    static Host& the = *new Host;
    return the;
}

[[noreturn]] void stop(int code) {
    std::fflush(nullptr);
    _exit(code);
}

void write_line(const std::string& line) {
    const std::string all = line + "\n";
    for (std::size_t at = 0; at < all.size();) {
        const ssize_t done = ::write(host().requests, all.data() + at, all.size() - at);
        if (done < 0) stop(1);  // memtile is gone
        at += static_cast<std::size_t>(done);
    }
}
std::string read_line() {
    Host& h = host();
    for (;;) {
        if (const std::size_t end = h.unread.find('\n'); end != std::string::npos) {
            const std::string line = h.unread.substr(0, end);
            h.unread.erase(0, end + 1);
            return line;
        }
        char part[65536];
        const ssize_t got = ::read(h.answers, part, sizeof part);
        if (got <= 0) stop(1);
        h.unread.append(part, static_cast<std::size_t>(got));
    }
}

std::string word(std::string& line) {
    const std::size_t end = line.find(' ');
    const std::string first = line.substr(0, end);
    line.erase(0, end == std::string::npos ? line.size() : end + 1);
    return first;
}

/// Sends a request and returns its answer; in between, memtile may look at memory and may end the program.
std::string ask(const char* what, std::vector<std::pair<const char*, std::string>> fields, void* from) {
    Host& h = host();
    if (h.requests < 0) {
        std::fputs("This program is the host side of a graph. Run it with memtile.\n", stderr);
        stop(1);
    }
    const std::lock_guard<std::mutex> lock(h.one_at_a_time);
    std::fflush(stdout);
    fields.insert(fields.begin(), {"ask", text(what)});
    fields.push_back({"from", address_of(from)});
    write_line(object(fields));
    for (;;) {
        std::string line = read_line();
        std::string rest = line;
        const std::string first = word(rest);
        if (first == "stop") stop(0);
        if (first != "peek") return line;
        const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
        std::vector<std::string> parts;
        while (!rest.empty()) {
            const auto at = std::strtoull(word(rest).c_str(), nullptr, 10);
            const auto bytes = std::strtoull(word(rest).c_str(), nullptr, 10);
            std::string copy(bytes, '\0');  // what is not mapped reads as zeros
            if (pread(memory, copy.data(), bytes, static_cast<off_t>(at)) < 0) copy.assign(bytes, '\0');
            parts.push_back(hexadecimal(copy.data(), bytes));
        }
        close(memory);
        write_line("{\"ask\": \"memory\", \"parts\": " + list(parts) + "}");
    }
}

long long value_of(const std::string& answer) {
    std::string rest = answer;
    if (word(rest) != "value") stop(1);
    return std::strtoll(rest.c_str(), nullptr, 10);
}
return_code code_of(const std::string& answer) {
    std::string rest = answer;
    if (word(rest) != "code") stop(1);
    return static_cast<return_code>(std::strtol(rest.c_str(), nullptr, 10));
}

/// How far from the addresses in its file the program lies.
std::string load_address() {
    long long found = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* of, std::size_t, void* to) {
            *static_cast<long long*>(to) = static_cast<long long>(of->dlpi_addr);
            return 1;  // the program comes first
        },
        &found);
    return integer(found);
}

void describe(void* from) {
    host().described = recorded_graphs();
    code_of(ask("describe", {{"objects", description()}, {"base", load_address()}}, from));
}

std::string id(const graph* of) { return integer(graph_id(of)); }
std::string id(const Node* of) { return integer(of ? id_of(of) : -1); }

/// Fields of a place in memory of GMIO::malloc.
std::vector<std::pair<const char*, std::string>> place_of(const void* at, std::size_t bytes, void* from) {
    const char* place = static_cast<const char*>(at);
    const auto& memories = host().memories;
    auto found = memories.upper_bound(place);
    if (found == memories.begin()) refuse("this memory is not of GMIO::malloc", from);
    --found;
    const std::size_t offset = static_cast<std::size_t>(place - found->first);
    if (offset >= found->second.bytes) refuse("this memory is not of GMIO::malloc", from);
    if (bytes > found->second.bytes - offset) {
        refuse("a transfer of " + std::to_string(bytes) + " bytes goes past the end of memory of GMIO::malloc, which has " +
                   std::to_string(found->second.bytes - offset) + " bytes from there",
               from);
    }
    return {{"memory", integer(found->second.number)}, {"offset", integer(static_cast<long long>(offset))}};
}

}  // namespace

void refuse(const std::string& reason, void* from) {
    if (host().requests < 0) {
        std::fprintf(stderr, "%s\n", reason.c_str());
        stop(1);
    }
    std::fflush(stdout);
    write_line(object({{"ask", text("refuse")}, {"reason", text(reason)}, {"base", load_address()}, {"from", address_of(from)}}));
    stop(1);
}

return_code init(const graph* of, void* from) {
    if (recorded_graphs() != host().described) describe(from);
    return code_of(ask("init", {{"graph", id(of)}}, from));
}
return_code run(const graph* of, long long iterations, void* from) {
    return code_of(ask("run", {{"graph", id(of)}, {"iterations", integer(iterations)}}, from));
}
return_code wait(const graph* of, long long cycles, void* from) {
    return code_of(ask("wait", {{"graph", id(of)}, {"cycles", integer(cycles)}}, from));
}
return_code resume(const graph* of, void* from) { return code_of(ask("resume", {{"graph", id(of)}}, from)); }
return_code end(const graph* of, long long cycles, void* from) {
    return code_of(ask("end", {{"graph", id(of)}, {"cycles", integer(cycles)}}, from));
}
return_code update(const Node* port, const void* values, std::size_t bytes, std::size_t count, const std::string& element, void* from) {
    return code_of(ask("update",
                       {{"port", id(port)},
                        {"element", text(element)},
                        {"count", integer(static_cast<long long>(count))},
                        {"data", hexadecimal(values, bytes)}},
                       from));
}
return_code read(const Node* port, void* values, std::size_t bytes, std::size_t count, const std::string& element, void* from) {
    std::string rest = ask("read",
                           {{"port", id(port)},
                            {"element", text(element)},
                            {"count", integer(static_cast<long long>(count))},
                            {"nbytes", integer(static_cast<long long>(bytes))}},
                           from);
    const std::string answer = rest;
    if (word(rest) != "data") return code_of(answer);
    if (rest.size() != 2 * bytes) refuse("memtile gave another number of bytes than were asked for", from);
    for (std::size_t n = 0; n < bytes; ++n) {
        static_cast<unsigned char*>(values)[n] = static_cast<unsigned char>(std::stoul(rest.substr(2 * n, 2), nullptr, 16));
    }
    return ok;
}

void* allocate(std::size_t bytes, void* from) {
    Host& h = host();
    const int number = h.memory_count++;
    const std::string file = h.folder + "/memory" + std::to_string(number);
    const int open = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    const std::size_t room = bytes ? bytes : 1;
    if (open < 0 || ftruncate(open, static_cast<off_t>(room))) refuse("GMIO::malloc: " + file + " cannot be made", from);
    void* memory = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_SHARED, open, 0);
    close(open);
    if (memory == MAP_FAILED) refuse("GMIO::malloc: there is no room for " + std::to_string(bytes) + " bytes", from);
    h.memories[static_cast<const char*>(memory)] = {number, bytes};
    code_of(ask("malloc", {{"memory", integer(number)}, {"nbytes", integer(static_cast<long long>(bytes))}, {"file", text(file)}}, from));
    return memory;
}
void release(void* memory, void* from) {
    auto& memories = host().memories;
    const auto found = memories.find(static_cast<const char*>(memory));
    if (found == memories.end()) refuse("GMIO::free: this memory is not of GMIO::malloc, or was freed before", from);
    const Memory of = found->second;
    memories.erase(found);
    code_of(ask("free", {{"memory", integer(of.number)}}, from));
    munmap(memory, of.bytes ? of.bytes : 1);
}
return_code transfer(const Node* gmio, bool into_array, const void* memory, std::size_t bytes, bool waits, void* from) {
    auto fields = place_of(memory, bytes, from);
    fields.insert(fields.begin(), {{"gmio", id(gmio)}, {"into_array", truth(into_array)}});
    fields.push_back({"nbytes", integer(static_cast<long long>(bytes))});
    fields.push_back({"waits", truth(waits)});
    return code_of(ask("transfer", fields, from));
}
return_code wait_for(const Node* object, void* from) { return code_of(ask("wait_for", {{"object", id(object)}}, from)); }
return_code start_transfer(const Node* port, bool into_array, void* from) {
    return code_of(ask("start_transfer", {{"port", id(port)}, {"into_array", truth(into_array)}}, from));
}
void set_address(const Node* buffer, const void* memory, void* from) {
    auto fields = place_of(memory, 0, from);
    fields.insert(fields.begin(), {"buffer", id(buffer)});
    code_of(ask("set_address", fields, from));
}

int start_profiling(const Node* first, const Node* second, const char* event, long long bytes, void* from) {
    return static_cast<int>(value_of(
        ask("start_profiling", {{"first", id(first)}, {"second", id(second)}, {"event", text(event)}, {"nbytes", integer(bytes)}}, from)));
}
long long read_profiling(int number, void* from) { return value_of(ask("read_profiling", {{"number", integer(number)}}, from)); }
void stop_profiling(int number, void* from) { code_of(ask("stop_profiling", {{"number", integer(number)}}, from)); }

namespace {

// Before the user's objects are made: a constructor may refuse.
__attribute__((constructor(101))) void open_pipes() {
    const char* pipes = std::getenv("MEMTILE_ADF_PIPES");
    const char* folder = std::getenv("MEMTILE_ADF_FOLDER");
    if (!pipes || !folder) return;
    Host& h = host();
    h.folder = folder;
    if (std::sscanf(pipes, "%d,%d", &h.requests, &h.answers) != 2) h.requests = -1;
    unsetenv("MEMTILE_ADF_PIPES");
    fcntl(h.requests, F_SETFD, FD_CLOEXEC);
    fcntl(h.answers, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
}

}  // namespace

}  // namespace adf::recorder

/// What a function does that a graph's sources call and no source defines.
extern "C" void memtile_adf_missing(const char* symbol) {
    char* plain = abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr);
    adf::recorder::refuse(std::string("the program calls ") + (plain ? plain : symbol) + ", which none of its sources defines",
                          __builtin_frame_address(0) ? __builtin_return_address(1) : nullptr);
}

extern "C" int __wrap_main(int count, char** words) {
    using namespace adf::recorder;
    if (recorded_graphs() || !__real_main) describe(nullptr);
    if (!__real_main) refuse("the program has no main", nullptr);
    return __real_main(count, words);
}
