// The host side of memtile/core.h: a kernel runs on a stack of its own, and gives the thread back where it waits.
//
// Compiled together with the user's kernels. `cpp/image.py` mirrors the structures and calls the exported functions:
// it starts a call, answers what the kernel asks of its core, and continues it. A fault of the kernel (a bad address, a
// trap, abort, an exception, or no end) ends the call with its place instead of the process.
#include <memtile/core.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <exception>
#include <initializer_list>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <type_traits>
#include <typeinfo>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

namespace memtile {
Core the_core;
}

namespace {

constexpr int integers = 32, fractions = 8, most_frames = 24, most_reason = 400;

enum Answer : std::int32_t { nothing, whole, single, dual };

struct Call {
    void *function;
    std::int64_t whole[integers];    // pointers and integers in their order
    double fraction[fractions];      // floating-point arguments; a 32-bit one in the lower half
    std::int32_t answer;
    std::int32_t seconds;            // of processor time before a call counts as endless; 0 = no limit
    std::int64_t whole_answer;
    double fraction_answer;
};

enum Fault : std::int32_t { none, signalled, endless, failed, outside, misaligned, undefined, overflow };

struct Report {
    std::int32_t fault, signal;
    std::uint64_t address, bytes, extra;
    std::uint32_t writes, frames, line, column;
    std::uint64_t frame[most_frames];
    char reason[most_reason];
    char file[most_reason];
};

Call *the_call;
Report report;
void *host_stack, *kernel_stack;
char *stack_low, *stack_high;
volatile bool running;
pthread_t owner;

constexpr int handled[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGINT, SIGVTALRM};
constexpr int number_handled = sizeof handled / sizeof *handled;
struct sigaction before[number_handled];
alignas(16) char signal_stack[64 * 1024];

}  // namespace

extern "C" void memtile_switch(void **save, void *load) MEMTILE_LOCAL;
extern "C" void memtile_leave() MEMTILE_LOCAL;  // the second half of a switch: takes the registers from the stack

#if defined(__x86_64__)
asm(R"(
.text
.hidden memtile_switch
.globl memtile_switch
.type memtile_switch,@function
memtile_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
.hidden memtile_leave
.globl memtile_leave
memtile_leave:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size memtile_switch,.-memtile_switch
.section .note.GNU-stack,"",@progbits
.text
)");
namespace {
constexpr int saved_words = 6, whole_in_registers = 6;
void prepare(void (*entry)()) {
    auto *top = reinterpret_cast<std::uint64_t *>(reinterpret_cast<std::uintptr_t>(stack_high) & ~std::uintptr_t(15));
    *--top = 0;
    *--top = reinterpret_cast<std::uint64_t>(entry);
    for (int i = 0; i < saved_words; ++i) *--top = 0;
    kernel_stack = top;
}
auto &place_of(ucontext_t *context) { return context->uc_mcontext.gregs[REG_RIP]; }
auto &stack_of(ucontext_t *context) { return context->uc_mcontext.gregs[REG_RSP]; }
std::uintptr_t frame_of(ucontext_t *context) { return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RBP]); }
}  // namespace
#elif defined(__aarch64__)
asm(R"(
.text
.hidden memtile_switch
.globl memtile_switch
.type memtile_switch,%function
memtile_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
.hidden memtile_leave
.globl memtile_leave
memtile_leave:
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size memtile_switch,.-memtile_switch
.section .note.GNU-stack,"",%progbits
.text
)");
namespace {
constexpr int saved_words = 20, whole_in_registers = 8, link_register = 11;
void prepare(void (*entry)()) {
    auto *top = reinterpret_cast<std::uint64_t *>(reinterpret_cast<std::uintptr_t>(stack_high) & ~std::uintptr_t(15));
    for (int i = 0; i < saved_words; ++i) *--top = 0;
    top[link_register] = reinterpret_cast<std::uint64_t>(entry);
    kernel_stack = top;
}
auto &place_of(ucontext_t *context) { return context->uc_mcontext.pc; }
auto &stack_of(ucontext_t *context) { return context->uc_mcontext.sp; }
std::uintptr_t frame_of(ucontext_t *context) { return static_cast<std::uintptr_t>(context->uc_mcontext.regs[29]); }
}  // namespace
#else
#error "memtile runs C++ kernels on x86-64 and AArch64"
#endif

namespace {

bool on_stack(std::uintptr_t at, std::size_t bytes) {
    auto low = reinterpret_cast<std::uintptr_t>(stack_low), high = reinterpret_cast<std::uintptr_t>(stack_high);
    return low <= at && at <= high && bytes <= high - at;
}

// Return addresses of a chain of frame pointers.
void note_frames(std::uintptr_t first, std::uintptr_t frame) {
    report.frames = 0;
    if (first) report.frame[report.frames++] = first;
    while (report.frames < most_frames && frame % sizeof(void *) == 0 && on_stack(frame, 2 * sizeof(void *))) {
        auto *link = reinterpret_cast<std::uintptr_t *>(frame);
        if (!link[1]) break;
        report.frame[report.frames++] = link[1] - 1;
        if (link[0] <= frame) break;
        frame = link[0];
    }
}

// The same by unwinding: code of the C and C++ libraries has no frame pointers.
_Unwind_Reason_Code note_one(_Unwind_Context *context, void *) {
    int before_instruction = 0;
    std::uintptr_t at = _Unwind_GetIPInfo(context, &before_instruction);
    if (!at || report.frames == most_frames) return _URC_END_OF_STACK;
    report.frame[report.frames++] = before_instruction ? at : at - 1;
    return _URC_NO_REASON;
}
void unwind_frames() {
    report.frames = 0;
    _Unwind_Backtrace(note_one, nullptr);
}

void copy_text(char *to, const char *from) {
    std::strncpy(to, from ? from : "", most_reason - 1);
    to[most_reason - 1] = 0;
}

// Both end the call from inside the kernel; nothing on its stack is used again.
[[noreturn]] void leave_noted(Fault fault) {
    running = false;
    report.fault = fault;
    memtile_switch(&kernel_stack, host_stack);
    __builtin_unreachable();
}
[[noreturn]] void leave(Fault fault, std::uintptr_t frame) {
    note_frames(0, frame);
    leave_noted(fault);
}

// What was thrown that nothing catches, as a sentence.
void say_thrown() {
    const std::type_info *type = abi::__cxa_current_exception_type();
    if (!type) return copy_text(report.reason, "the kernel calls std::terminate");
    int status = 0;
    char *name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
    const char *shown = name ? name : type->name();
    try {
        throw;
    } catch (const std::exception &error) {
        std::snprintf(report.reason, most_reason, "the kernel throws %s: %s", shown, error.what());
    } catch (...) {
        std::snprintf(report.reason, most_reason, "the kernel throws %s", shown);
    }
    std::free(name);
    abi::__cxa_end_catch();
}

std::terminate_handler terminate_before;
[[noreturn]] void on_terminate() {
    if (!running || !pthread_equal(pthread_self(), owner)) {
        terminate_before();
        __builtin_trap();
    }
    running = false;
    unwind_frames();
    say_thrown();
    leave_noted(failed);
}

// A library is loaded by a child process first (`cpp/trial.py`), where a global that fails ends nothing else: it says why,
// and at which offsets of the library.
bool trial;
// Where this library is loaded. The linker's __ehdr_start says so too, but GDB finds no lines in a library that names it.
std::uintptr_t first_address() {
    std::uintptr_t first = 0;
    auto compare = [](dl_phdr_info *info, std::size_t, void *found) {
        auto own = reinterpret_cast<std::uintptr_t>(&trial), start = static_cast<std::uintptr_t>(info->dlpi_addr);
        for (int i = 0; i < info->dlpi_phnum; ++i)
            if (own - start - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz) *static_cast<std::uintptr_t *>(found) = start;
        return 0;
    };
    dl_iterate_phdr(compare, &first);
    return first;
}
[[noreturn]] void end_of_trial() {
    std::fprintf(stderr, "\nmemtile: %s\n", report.reason);  // the C++ library may have begun a line
    std::uintptr_t first = first_address();
    for (std::uint32_t i = 0; i < report.frames; ++i)
        if (report.frame[i] >= first) std::fprintf(stderr, "at %llx\n", static_cast<unsigned long long>(report.frame[i] - first));
    std::fflush(stderr);
    for (;;) syscall(SYS_exit_group, 1);  // exit and abort are refused below
}
void on_trial_signal(int number) {
    unwind_frames();
    std::snprintf(report.reason, most_reason, "signal %d", number);
    end_of_trial();
}
[[noreturn]] void on_trial_terminate() {
    unwind_frames();
    say_thrown();
    end_of_trial();
}
__attribute__((constructor(101))) void begin_trial() {  // before those of the kernel
    trial = std::getenv("MEMTILE_TRIAL") != nullptr;
    if (!trial) return;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) std::signal(number, on_trial_signal);
    std::set_terminate(on_trial_terminate);
}

void on_signal(int number, siginfo_t *information, void *context_) {
    auto *context = static_cast<ucontext_t *>(context_);
    using Register = std::remove_reference_t<decltype(place_of(context))>;
    if (!running || !pthread_equal(pthread_self(), owner)) {
        for (int i = 0; i < number_handled; ++i) {
            if (handled[i] != number) continue;
            if (before[i].sa_flags & SA_SIGINFO) return before[i].sa_sigaction(number, information, context_);
            if (before[i].sa_handler == SIG_IGN) return;
            if (before[i].sa_handler != SIG_DFL) return before[i].sa_handler(number);
            sigaction(number, &before[i], nullptr);
            raise(number);
        }
        return;
    }
    running = false;
    report.fault = number == SIGVTALRM ? endless : signalled;
    report.signal = number;
    report.address = reinterpret_cast<std::uint64_t>(information->si_addr);
    if (number == SIGABRT)
        unwind_frames();
    else
        note_frames(static_cast<std::uintptr_t>(place_of(context)), frame_of(context));
    place_of(context) = static_cast<Register>(reinterpret_cast<std::uintptr_t>(&memtile_leave));
    stack_of(context) = static_cast<Register>(reinterpret_cast<std::uintptr_t>(host_stack));
}

using Whole = std::int64_t;
template <class Answer>
Answer invoke(const Call &call) {
    const Whole *w = call.whole;
    const double *f = call.fraction;
    constexpr int r = whole_in_registers;
    if constexpr (r == 6) {
        using Function = Answer (*)(Whole, Whole, Whole, Whole, Whole, Whole, double, double, double, double, double, double,
                                    double, double, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole,
                                    Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole);
        return reinterpret_cast<Function>(call.function)(
            w[0], w[1], w[2], w[3], w[4], w[5], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], w[r], w[r + 1], w[r + 2],
            w[r + 3], w[r + 4], w[r + 5], w[r + 6], w[r + 7], w[r + 8], w[r + 9], w[r + 10], w[r + 11], w[r + 12], w[r + 13],
            w[r + 14], w[r + 15], w[r + 16], w[r + 17], w[r + 18], w[r + 19]);
    } else {
        using Function = Answer (*)(Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, double, double, double, double,
                                    double, double, double, double, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole,
                                    Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole, Whole);
        return reinterpret_cast<Function>(call.function)(
            w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], w[r], w[r + 1],
            w[r + 2], w[r + 3], w[r + 4], w[r + 5], w[r + 6], w[r + 7], w[r + 8], w[r + 9], w[r + 10], w[r + 11], w[r + 12],
            w[r + 13], w[r + 14], w[r + 15], w[r + 16], w[r + 17], w[r + 18], w[r + 19]);
    }
}

void entry() {
    running = true;
    Call &call = *the_call;
    if (call.answer == single) {
        float answer = invoke<float>(call);
        call.fraction_answer = answer;
    } else if (call.answer == dual) {
        call.fraction_answer = invoke<double>(call);
    } else {
        call.whole_answer = invoke<Whole>(call);
    }
    running = false;
    memtile::the_core.request.ask = memtile::Ask::finish;
    memtile_switch(&kernel_stack, host_stack);
}

void ask(memtile::Core &, memtile::Request &) {
    running = false;
    note_frames(0, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    memtile_switch(&kernel_stack, host_stack);
    running = true;
}

void fail(memtile::Core &, const char *reason, void *) {
    copy_text(report.reason, reason);
    leave(failed, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}

#ifndef MEMTILE_SANITIZE
void unchecked(memtile::Core &, const void *, std::size_t, std::size_t, void *) {}
const memtile::Hooks hooks{ask, unchecked, unchecked, unchecked, fail};
#else

// Memory that a call may touch. `touched` has a byte for each 32-bit word: 1 read before it was written, 2 written;
// `from` the code that did either first, as offsets from the first byte of the library.
struct Region {
    std::uint64_t first, bytes;
    std::uint8_t *touched;
    std::uint32_t (*from)[2];
};
constexpr int most_regions = 64;
Region regions[most_regions];
int number_of_regions;
std::uint64_t module_first, module_end;
std::uint64_t stack_limit;  // bytes; 0 = none

inline std::uintptr_t here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

[[noreturn]] __attribute__((noinline)) void violated(Fault fault, std::uintptr_t at, std::size_t bytes, bool writes,
                                                      std::size_t extra, std::uintptr_t frame) {
    report.address = at;
    report.bytes = bytes;
    report.writes = writes;
    report.extra = extra;
    leave(fault, frame);
}

inline void touch(std::uintptr_t at, std::size_t bytes, bool writes, std::uintptr_t frame) {
    if (!running || bytes == 0) return;
    for (int i = 0; i < number_of_regions; ++i) {
        Region &region = regions[i];
        if (at < region.first || at - region.first > region.bytes || bytes > region.bytes - (at - region.first)) continue;
        std::size_t first = at - region.first, last = (first + bytes - 1) / 4;
        auto code = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t *>(frame)[1] - 1 - module_first);
        for (std::size_t word = first / 4; word <= last; ++word) {
            const std::uint8_t bit = writes ? 2 : 1;
            if (region.touched[word] & (writes ? 2 : 3)) continue;
            region.touched[word] |= bit;
            region.from[word][writes] = code;
        }
        return;
    }
    if (on_stack(at, bytes) || (module_first <= at && at < module_end)) return;
    violated(outside, at, bytes, writes, 0, frame);
}

void load(memtile::Core &, const void *pointer, std::size_t bytes, std::size_t alignment, void *) {
    auto at = reinterpret_cast<std::uintptr_t>(pointer);
    if (running && alignment > 1 && at % alignment) violated(misaligned, at, bytes, false, alignment, here());
    touch(at, bytes, false, here());
}
void store(memtile::Core &, const void *pointer, std::size_t bytes, std::size_t alignment, void *) {
    auto at = reinterpret_cast<std::uintptr_t>(pointer);
    if (running && alignment > 1 && at % alignment) violated(misaligned, at, bytes, true, alignment, here());
    touch(at, bytes, true, here());
}
void store_window(memtile::Core &, const void *pointer, std::size_t bytes, std::size_t window, void *) {
    auto at = reinterpret_cast<std::uintptr_t>(pointer);
    std::uintptr_t first = at - at % window, end = (at + bytes + window - 1) / window * window;
    touch(first, end - first, false, here());
    touch(first, end - first, true, here());
}
const memtile::Hooks hooks{ask, load, store, store_window, fail};

__attribute__((noinline)) void check_stack(std::uintptr_t at, std::uintptr_t frame) {
    auto used = reinterpret_cast<std::uintptr_t>(stack_high) - at;
    if (running && stack_limit && on_stack(at, 0) && used > stack_limit) violated(overflow, at, used, false, stack_limit, frame);
}
#endif

}  // namespace

MEMTILE_EXPORT memtile::Core *memtile_core() { return &memtile::the_core; }
MEMTILE_EXPORT Report *memtile_report() { return &report; }

namespace {
std::int32_t enter(bool fresh) {
    report.fault = none;
    report.frames = 0;
    owner = pthread_self();
    stack_t alternate{}, old{};
    alternate.ss_sp = signal_stack;
    alternate.ss_size = sizeof signal_stack;
    sigaltstack(&alternate, &old);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < number_handled; ++i) sigaction(handled[i], &action, &before[i]);
    terminate_before = std::set_terminate(on_terminate);
    int seconds = the_call->seconds;
    itimerval limit{}, previous{};
    limit.it_value.tv_sec = seconds;
    if (seconds) setitimer(ITIMER_VIRTUAL, &limit, &previous);
    if (fresh) prepare(entry);
    memtile_switch(&host_stack, kernel_stack);
    if (seconds) setitimer(ITIMER_VIRTUAL, &previous, nullptr);
    std::set_terminate(terminate_before);
    for (int i = 0; i < number_handled; ++i) sigaction(handled[i], &before[i], nullptr);
    sigaltstack(&old, nullptr);
    if (report.fault) return -1;
    return static_cast<std::int32_t>(memtile::the_core.request.ask);
}
}  // namespace

// Both return what the kernel asks for, or -1 where it failed.
MEMTILE_EXPORT std::int32_t memtile_start(Call *call, char *stack, std::uint64_t bytes) {
    the_call = call;
    stack_low = stack;
    stack_high = stack + bytes;
    memtile::the_core.hooks = &hooks;
    return enter(true);
}
MEMTILE_EXPORT std::int32_t memtile_continue() { return enter(false); }

// A kernel that ends, copies or divides the process would take the simulator with it: the linker finds these before the C
// library's. Weak, as a kernel may have a function of such a name itself.
namespace {
[[noreturn]] __attribute__((noinline)) void refused(const char *reason) {
    unwind_frames();
    copy_text(report.reason, reason);
    if (running) leave_noted(failed);
    if (trial) end_of_trial();
    std::fprintf(stderr, "memtile: a global of a C++ kernel fails before any call: %s\n", reason);
    __builtin_trap();
}
}  // namespace
#define MEMTILE_REFUSED(name, symbol, reason)                                           \
    extern "C" [[noreturn]] MEMTILE_LOCAL __attribute__((weak)) void name() asm(symbol); \
    void name() { refused("the kernel " reason); }
#define MEMTILE_REFUSED_CALL(name, reason) MEMTILE_REFUSED(memtile_refused_##name, #name, "calls " #name reason)
#define MEMTILE_NO_END ": a core has no process that could end"
#define MEMTILE_NO_PROCESSES ": a core cannot make processes"
MEMTILE_REFUSED_CALL(abort, "")
MEMTILE_REFUSED_CALL(exit, MEMTILE_NO_END)
MEMTILE_REFUSED_CALL(_exit, MEMTILE_NO_END)
MEMTILE_REFUSED_CALL(_Exit, MEMTILE_NO_END)
MEMTILE_REFUSED_CALL(quick_exit, MEMTILE_NO_END)
MEMTILE_REFUSED_CALL(fork, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(vfork, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(system, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(popen, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(posix_spawn, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(posix_spawnp, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(execl, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(execlp, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(execv, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(execvp, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED_CALL(execve, MEMTILE_NO_PROCESSES)
MEMTILE_REFUSED(memtile_refused_pthread, "pthread_create", "makes a thread: a core has one")
MEMTILE_REFUSED(memtile_refused_thread,  // std::thread of GCC's library, which calls pthread_create from there
                "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
                "makes a thread: a core has one")
extern "C" [[noreturn]] MEMTILE_LOCAL __attribute__((weak)) void memtile_refused_assert(const char *condition, const char *,
                                                                                        unsigned, const char *)
    asm("__assert_fail");
void memtile_refused_assert(const char *condition, const char *, unsigned, const char *) {
    static char reason[most_reason];
    std::snprintf(reason, sizeof reason, "assertion '%s' fails", condition);
    refused(reason);
}

#ifdef MEMTILE_SANITIZE
MEMTILE_EXPORT void memtile_regions(const Region *given, std::int32_t number, std::uint64_t first, std::uint64_t end,
                                    std::uint64_t stack) {
    number_of_regions = number < most_regions ? number : most_regions;
    for (int i = 0; i < number_of_regions; ++i) regions[i] = given[i];
    module_first = first;
    module_end = end;
    stack_limit = stack;
}

// What a compiler calls for -fsanitize=thread: each access of memory that it cannot follow, and each function.
#define MEMTILE_ACCESS(name, bytes, writes) \
    MEMTILE_EXPORT void name(void *at) { touch(reinterpret_cast<std::uintptr_t>(at), bytes, writes, here()); }
#define MEMTILE_ACCESSES(bytes)                                    \
    MEMTILE_ACCESS(__tsan_read##bytes, bytes, false)               \
    MEMTILE_ACCESS(__tsan_write##bytes, bytes, true)               \
    MEMTILE_ACCESS(__tsan_unaligned_read##bytes, bytes, false)     \
    MEMTILE_ACCESS(__tsan_unaligned_write##bytes, bytes, true)     \
    MEMTILE_ACCESS(__tsan_volatile_read##bytes, bytes, false)      \
    MEMTILE_ACCESS(__tsan_volatile_write##bytes, bytes, true)
MEMTILE_ACCESSES(1)
MEMTILE_ACCESSES(2)
MEMTILE_ACCESSES(4)
MEMTILE_ACCESSES(8)
MEMTILE_ACCESSES(16)
MEMTILE_EXPORT void __tsan_read_range(void *at, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(at), bytes, false, here());
}
MEMTILE_EXPORT void __tsan_write_range(void *at, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(at), bytes, true, here());
}
MEMTILE_EXPORT void *__tsan_memcpy(void *to, const void *from, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(from), bytes, false, here());
    touch(reinterpret_cast<std::uintptr_t>(to), bytes, true, here());
    return std::memmove(to, from, bytes);
}
MEMTILE_EXPORT void *__tsan_memmove(void *to, const void *from, unsigned long bytes) { return __tsan_memcpy(to, from, bytes); }
MEMTILE_EXPORT void *__tsan_memset(void *to, int value, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(to), bytes, true, here());
    return std::memset(to, value, bytes);
}
// The linker sends the calls of these here (--wrap): GCC leaves them alone.
extern "C" void *__real_memcpy(void *, const void *, unsigned long);
extern "C" void *__real_memmove(void *, const void *, unsigned long);
extern "C" void *__real_memset(void *, int, unsigned long);
MEMTILE_EXPORT void *__wrap_memcpy(void *to, const void *from, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(from), bytes, false, here());
    touch(reinterpret_cast<std::uintptr_t>(to), bytes, true, here());
    return __real_memcpy(to, from, bytes);
}
MEMTILE_EXPORT void *__wrap_memmove(void *to, const void *from, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(from), bytes, false, here());
    touch(reinterpret_cast<std::uintptr_t>(to), bytes, true, here());
    return __real_memmove(to, from, bytes);
}
MEMTILE_EXPORT void *__wrap_memset(void *to, int value, unsigned long bytes) {
    touch(reinterpret_cast<std::uintptr_t>(to), bytes, true, here());
    return __real_memset(to, value, bytes);
}
MEMTILE_EXPORT void __tsan_init() {}
MEMTILE_EXPORT void __tsan_func_exit() {}
MEMTILE_EXPORT void __tsan_vptr_update(void *, void *) {}
MEMTILE_EXPORT void __tsan_vptr_read(void *) {}
MEMTILE_EXPORT void __tsan_func_entry(void *) { check_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)), here()); }

// What it calls for -fsanitize=undefined: the data begins with the place in the source.
struct Source {
    const char *file;
    std::uint32_t line, column;
};
#define MEMTILE_UNDEFINED(name, text)                                        \
    MEMTILE_EXPORT void __ubsan_handle_##name##_abort(Source *source, ...) { \
        if (!running) return;                                                \
        copy_text(report.reason, text);                                      \
        copy_text(report.file, source->file);                                \
        report.line = source->line;                                          \
        report.column = source->column;                                      \
        leave(undefined, here());                                            \
    }
MEMTILE_UNDEFINED(add_overflow, "a sum of signed integers does not fit their type")
MEMTILE_UNDEFINED(sub_overflow, "a difference of signed integers does not fit their type")
MEMTILE_UNDEFINED(mul_overflow, "a product of signed integers does not fit their type")
MEMTILE_UNDEFINED(negate_overflow, "the opposite of a signed integer does not fit its type")
MEMTILE_UNDEFINED(divrem_overflow, "an integer is divided by zero, or its quotient does not fit its type")
MEMTILE_UNDEFINED(shift_out_of_bounds, "an integer is shifted by a negative number of bits, or by more than it has")
MEMTILE_UNDEFINED(out_of_bounds, "an index is outside of its array")
MEMTILE_UNDEFINED(load_invalid_value, "a bool or an enumeration has a value that its type does not have")
MEMTILE_UNDEFINED(float_cast_overflow, "a floating-point number does not fit the integer that it becomes")
MEMTILE_UNDEFINED(type_mismatch_v1, "a pointer is null or not aligned for its type")
MEMTILE_UNDEFINED(pointer_overflow, "a pointer is moved beyond the address space")
MEMTILE_UNDEFINED(vla_bound_not_positive, "an array has a size that is not positive")
MEMTILE_UNDEFINED(nonnull_arg, "a null pointer is given where none may be")
MEMTILE_UNDEFINED(invalid_builtin, "a builtin such as __builtin_clz is given a value for which it has no result")
MEMTILE_UNDEFINED(alignment_assumption, "a pointer is not aligned as the code says that it is")
MEMTILE_EXPORT void __ubsan_handle_builtin_unreachable(Source *source) {
    copy_text(report.reason, "code that says it is never reached was reached");
    copy_text(report.file, source->file);
    report.line = source->line;
    leave(undefined, here());
}
MEMTILE_EXPORT void __ubsan_handle_missing_return(Source *source) {
    copy_text(report.reason, "a function with a result ended without return");
    copy_text(report.file, source->file);
    report.line = source->line;
    leave(undefined, here());
}
#endif
