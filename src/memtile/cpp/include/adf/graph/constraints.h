// Constraints: what a statement such as `runtime<ratio>(k) = 0.8;` says of an object.
//
// Sources: UG1603 and UG1079, Constraints: kernel, port, buffer, location, other constraints.
#pragma once

#include <array>

#include "connections.h"
#include "graph.h"
#include "kernel.h"
#include "memory.h"
#include "places.h"

struct ratio {};

namespace adf {

using ::ratio;

namespace detail {

/// A number of an object, which a statement gives it or takes from another's.
class Number {
public:
    Number(recorder::Node* node, const char* field) : node_(node), field_(field) {}
    Number(const Number&) = default;
    Number& operator=(double value) {
        recorder::set(node_, field_, recorder::number(value));
        return *this;
    }
    Number& operator=(const Number& other) {
        recorder::set(node_, field_, recorder::field_of(other.node_, other.field_));
        return *this;
    }

private:
    recorder::Node* node_;
    const char* field_;
};

class Text {
public:
    Text(recorder::Node* node, const char* field) : node_(node), field_(field) {}
    Text& operator=(const std::string& value) {
        recorder::set(node_, field_, recorder::text(value));
        return *this;
    }

private:
    recorder::Node* node_;
    const char* field_;
};

class Texts {
public:
    Texts(recorder::Node* node, const char* field) : node_(node), field_(field) {}
    Texts& operator=(const std::vector<std::string>& values) {
        std::vector<std::string> parts;
        for (const std::string& value : values) parts.push_back(recorder::text(value));
        recorder::set(node_, field_, recorder::list(parts));
        return *this;
    }

private:
    recorder::Node* node_;
    const char* field_;
};

class Sizes {
public:
    Sizes(recorder::Node* node, const char* field) : node_(node), field_(field) {}
    Sizes& operator=(std::initializer_list<std::uint32_t> values) { return set(values); }
    template <typename T>
    Sizes& operator=(const std::vector<T>& values) {
        return set(values);
    }
    template <typename T, std::size_t N>
    Sizes& operator=(const std::array<T, N>& values) {
        return set(values);
    }

private:
    template <typename Values>
    Sizes& set(const Values& values) {
        recorder::set(node_, field_, recorder::integers(values));
        return *this;
    }
    recorder::Node* node_;
    const char* field_;
};

class Access {
public:
    Access(recorder::Node* node, const char* field) : node_(node), field_(field) {}
    Access& operator=(const tiling& of) {
        recorder::set(node_, field_, recorder::list(of.parts));
        return *this;
    }
    Access& operator=(const tiling_parameters& of) { return *this = tiling(of); }
    Access& operator=(const std::vector<tiling_parameters>& of) { return *this = tiling(of); }
    Access& operator=(const std::vector<tiling>& of) {
        std::vector<std::string> parts;
        for (const tiling& each : of) parts.insert(parts.end(), each.parts.begin(), each.parts.end());
        recorder::set(node_, field_, recorder::list(parts));
        return *this;
    }

private:
    recorder::Node* node_;
    const char* field_;
};

template <typename What>
struct what_of;
#define MEMTILE_WHAT(type, text_of)                    \
    template <>                                        \
    struct what_of<type> {                             \
        static constexpr const char* text = text_of;   \
    };
MEMTILE_WHAT(kernel, "kernel")
MEMTILE_WHAT(buffer, "buffer")
MEMTILE_WHAT(stack, "stack")
MEMTILE_WHAT(parameter, "parameter")
MEMTILE_WHAT(dma, "dma")
MEMTILE_WHAT(graph, "graph")
MEMTILE_WHAT(PLIO, "PLIO")
MEMTILE_WHAT(GMIO, "GMIO")
MEMTILE_WHAT(fifo, "fifo")
#undef MEMTILE_WHAT

/// The place of an object.
class Location {
public:
    Location(int object, const char* what, void* from) : object_(object), what_(what), from_(from) {}
    Location(const Location&) = default;
    Location& operator=(const place& at) { return set({at.json}); }
    Location& operator=(std::initializer_list<place> at) {
        std::vector<std::string> parts;
        for (const place& each : at) parts.push_back(each.json);
        return set(parts);
    }
    Location& operator=(const std::vector<place>& at) {
        std::vector<std::string> parts;
        for (const place& each : at) parts.push_back(each.json);
        return set(parts);
    }
    Location& operator=(const Location& other) { return *this = other.same({}); }
    Location& operator=(const bounding_box& at) { return set({at.of.json()}); }
    Location& operator=(const area_group& at) {
        std::vector<std::string> parts;
        for (const area& each : at.areas) parts.push_back(each.json());
        return set(parts, at.contains_routing, at.excludes_routing, at.excludes_placement);
    }
    place operator+(const relative_offset& offset) const { return same(offset.by); }
    operator place() const { return same({}); }
    int object() const { return object_; }

private:
    place same(relative_coordinate by) const {
        return place{recorder::object({{"kind", recorder::text("same")},
                                       {"other", recorder::integer(object_)},
                                       {"what", recorder::text(what_)},
                                       {"column", recorder::integer(by.col_offset)},
                                       {"row", recorder::integer(by.row_offset)}})};
    }
    Location& set(const std::vector<std::string>& places, bool contains = false, bool excludes = false, bool exclusive = false) {
        recorder::Node* node = recorder::record("locations", from_);
        recorder::set(node, "what", recorder::text(what_));
        recorder::set(node, "object", recorder::integer(object_));
        recorder::set(node, "places", recorder::list(places));
        recorder::set(node, "contains_routing", recorder::truth(contains));
        recorder::set(node, "excludes_routing", recorder::truth(excludes));
        recorder::set(node, "exclusive", recorder::truth(exclusive));
        return *this;
    }
    int object_;
    const char* what_;
    void* from_;
};

}  // namespace detail

// Of kernels.
namespace detail {
/// The object of a kernel or, before create(), one of no list: DSPLib's matrix_mult_graph says so of tilers that it leaves out.
inline recorder::Node* kernel_or_none(const kernel& of, void* from) {
    return of.node_or_null() ? of.node_or_null() : recorder::record("unmade", from);
}
}  // namespace detail
template <typename Unit = ratio>  // without it in github.com/easyversal/ai_engine_basics
MEMTILE_CALLED detail::Number runtime(const kernel& of) {
    static_assert(std::is_same_v<Unit, ratio>, "runtime<ratio>(kernel) = share of a core");
    return {detail::kernel_or_none(of, MEMTILE_CALLER), "runtime_ratio"};
}
MEMTILE_CALLED inline detail::Text source(const kernel& of) { return {detail::kernel_or_none(of, MEMTILE_CALLER), "source"}; }
MEMTILE_CALLED inline detail::Texts headers(const kernel& of) { return {of.node(MEMTILE_CALLER, "a kernel"), "headers"}; }
MEMTILE_CALLED inline detail::Number stack_size(const kernel& of) { return {of.node(MEMTILE_CALLER, "a kernel"), "stack_size"}; }
MEMTILE_CALLED inline detail::Number heap_size(const kernel& of) { return {of.node(MEMTILE_CALLER, "a kernel"), "heap_size"}; }
MEMTILE_CALLED inline detail::Text initialization_function(const kernel& of) {
    return {of.node(MEMTILE_CALLER, "a kernel"), "initialization"};
}

struct pl {};
struct aiengine {};
/// Where a kernel runs: on a core.
template <typename Where>
MEMTILE_CALLED void fabric(const kernel& of) {
    of.node(MEMTILE_CALLER, "a kernel");
    if (std::is_same_v<Where, pl>) recorder::refuse("fabric<pl>: kernels of the programmable logic are not simulated", MEMTILE_CALLER);
}

// Of kernels and buffers.
MEMTILE_CALLED inline detail::Number repetition_count(const handle& of) {
    return {of.node(MEMTILE_CALLER, "an object"), "repetition"};
}

// Of buffers.
MEMTILE_CALLED inline detail::Number num_buffers(const handle& of) { return {of.node(MEMTILE_CALLER, "a buffer"), "num_buffers"}; }

// Of ports.
MEMTILE_CALLED inline detail::Sizes dimensions(const port_base& of) { return {of.node(MEMTILE_CALLER, "a port"), "dimensions"}; }
MEMTILE_CALLED inline void single_buffer(const port_base& of) {
    recorder::set(of.node(MEMTILE_CALLER, "a port"), "single", recorder::truth(true));
}
MEMTILE_CALLED inline detail::Number async_repetition(const port_base& of) {
    return {of.node(MEMTILE_CALLER, "a port"), "repetition"};
}
/// Elements that a stream passes in a call of the kernel.
MEMTILE_CALLED inline detail::Number samples_per_iteration(const port_base& of) {
    return {of.node(MEMTILE_CALLER, "a port"), "samples"};
}
/// Packets that a `pktorderedmerge` takes of an input before the next one has its turn.
MEMTILE_CALLED inline detail::Number packet_count(const port_base& of) {
    return {of.node(MEMTILE_CALLER, "an input of a pktorderedmerge"), "packets"};
}
MEMTILE_CALLED inline detail::Access write_access(const port_base& of) { return {of.node(MEMTILE_CALLER, "a port"), "write_access"}; }
MEMTILE_CALLED inline detail::Access read_access(const port_base& of) { return {of.node(MEMTILE_CALLER, "a port"), "read_access"}; }

/// Value of a parameter before its first update.
class Initial {
public:
    explicit Initial(recorder::Node* node) : node_(node) {}
    template <typename T>
    Initial& operator=(const T& value) {
        recorder::set(node_, "initial", recorder::hexadecimal(&value, sizeof value));
        return *this;
    }
    template <typename T>
    Initial& operator=(const std::vector<T>& values) {
        recorder::set(node_, "initial", recorder::hexadecimal(values.data(), values.size() * sizeof(T)));
        return *this;
    }

private:
    recorder::Node* node_;
};
MEMTILE_CALLED inline Initial initial_value(const port_base& of) { return Initial(of.node(MEMTILE_CALLER, "a port")); }
MEMTILE_CALLED inline Initial initial_value(const async_port& of) { return Initial(of.node); }

// Of connections.
MEMTILE_CALLED inline detail::Number fifo_depth(const handle& of) { return {of.node(MEMTILE_CALLER, "a connection"), "fifo_depth"}; }

// Of places.
using location_constraint = detail::Location;
template <typename What>
MEMTILE_CALLED detail::Location location(const handle& of) {
    return {recorder::id_of(of.node(MEMTILE_CALLER, "an object")), detail::what_of<What>::text, MEMTILE_CALLER};
}
template <typename What>
MEMTILE_CALLED detail::Location location(const graph& of) {
    return {recorder::graph_id(&of), detail::what_of<What>::text, MEMTILE_CALLER};
}
template <typename... Others>
MEMTILE_CALLED void not_equal(const detail::Location& first, const Others&... others) {
    recorder::Node* node = recorder::record("not_equal", MEMTILE_CALLER);
    std::vector<int> ids{first.object(), others.object()...};
    recorder::set(node, "objects", recorder::integers(ids));
}

}  // namespace adf
