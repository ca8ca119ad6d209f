// Graphs, and what `main` does with them.
//
// Sources: UG1603, graph; Run-Time Graph Control API.
#pragma once

#include "host_calls.h"
#include "ports.h"

namespace adf {

class graph;

namespace recorder {
void begin_graph(const graph*, void* from);
void copy_graph(const graph* copy, const graph* of);
void end_graph(const graph*);
int graph_id(const graph*);
}  // namespace recorder

/// A graph: a class whose constructor says what it is made of.
class graph {
public:
    MEMTILE_CALLED graph() { recorder::begin_graph(this, MEMTILE_CALLER); }
    graph(const graph& other) { recorder::copy_graph(this, &other); }  // the same graph, as a function's parameter is
    graph& operator=(const graph&) = delete;
    virtual ~graph() { recorder::end_graph(this); }

    MEMTILE_CALLED virtual return_code init() { return recorder::init(this, MEMTILE_CALLER); }
    MEMTILE_CALLED virtual return_code run() { return recorder::run(this, -1, MEMTILE_CALLER); }
    MEMTILE_CALLED virtual return_code run(int iterations) { return recorder::run(this, iterations, MEMTILE_CALLER); }
    MEMTILE_CALLED virtual return_code wait() { return recorder::wait(this, -1, MEMTILE_CALLER); }
    MEMTILE_CALLED virtual return_code wait(unsigned long long cycles) {
        return recorder::wait(this, static_cast<long long>(cycles), MEMTILE_CALLER);
    }
    MEMTILE_CALLED virtual return_code resume() { return recorder::resume(this, MEMTILE_CALLER); }
    MEMTILE_CALLED virtual return_code end() { return recorder::end(this, -1, MEMTILE_CALLER); }
    MEMTILE_CALLED virtual return_code end(unsigned long long cycles) {
        return recorder::end(this, static_cast<long long>(cycles), MEMTILE_CALLER);
    }

    /// A number for a parameter of a kernel.
    template <typename T>
    MEMTILE_CALLED return_code update(const port_base& to, const T& value) {
        return recorder::update(to.node(MEMTILE_CALLER, "a port"), &value, sizeof value, 1, recorder::element<T>::name(), MEMTILE_CALLER);
    }
    template <typename T>
    MEMTILE_CALLED return_code update(const port_base& to, const T* values, std::size_t count) {
        return recorder::update(to.node(MEMTILE_CALLER, "a port"), values, sizeof(T) * count, count, recorder::element<std::remove_cv_t<T>>::name(),
                                MEMTILE_CALLER);
    }
    template <typename T>
    MEMTILE_CALLED return_code read(const port_base& from, T& value) {
        return recorder::read(from.node(MEMTILE_CALLER, "a port"), &value, sizeof value, 1, recorder::element<T>::name(), MEMTILE_CALLER);
    }
    template <typename T>
    MEMTILE_CALLED return_code read(const port_base& from, T* values, std::size_t count) {
        return recorder::read(from.node(MEMTILE_CALLER, "a port"), values, sizeof(T) * count, count, recorder::element<T>::name(),
                              MEMTILE_CALLER);
    }
};

}  // namespace adf
