// What the calls of `main` ask of memtile (runtime/graph_host.cc): each is a request on a pipe, and waits for the answer.
#pragma once

#include "recorder.h"

namespace adf {

/// Results of calls, by the names of UG1603.
enum return_code {
    ok = 0,
    user_error,
    aie_driver_error,
    xrt_error,
    internal_error,
    unsupported,
};

class graph;

namespace recorder {

return_code init(const graph*, void* from);
return_code run(const graph*, long long iterations, void* from);
return_code wait(const graph*, long long cycles, void* from);
return_code resume(const graph*, void* from);
return_code end(const graph*, long long cycles, void* from);
return_code update(const Node* port, const void* values, std::size_t bytes, std::size_t count, const std::string& element, void* from);
return_code read(const Node* port, void* values, std::size_t bytes, std::size_t count, const std::string& element, void* from);

void* allocate(std::size_t bytes, void* from);
void release(void* memory, void* from);
return_code transfer(const Node* gmio, bool into_array, const void* memory, std::size_t bytes, bool waits, void* from);
return_code wait_for(const Node* object, void* from);
return_code start_transfer(const Node* port, bool into_array, void* from);
void set_address(const Node* buffer, const void* memory, void* from);

int start_profiling(const Node* first, const Node* second, const char* event, long long bytes, void* from);
long long read_profiling(int number, void* from);
void stop_profiling(int number, void* from);

}  // namespace recorder

}  // namespace adf
