// Ports: handles of the ports of kernels, buffers, graphs and of what leads out of the array.
#pragma once

#include "recorder.h"

namespace adf {

/// A variable that stands for an object of the description.
class handle {
public:
    handle() { recorder::hold(this, nullptr); }
    explicit handle(recorder::Node* node) : node_(node) { recorder::hold(this, node); }
    handle(const handle& other) : node_(other.node_) { recorder::hold(this, node_); }
    handle& operator=(const handle& other) {
        node_ = other.node_;
        recorder::hold(this, node_);
        return *this;
    }
    ~handle() { recorder::drop(this); }

    /// The object; a variable that has none yet is refused.
    recorder::Node* node(void* from, const char* what) const {
        if (!node_) recorder::refuse(std::string(what) + " is used before create() made it", from);
        return node_;
    }
    recorder::Node* node_or_null() const { return node_; }
    bool operator==(const handle& other) const { return node_ == other.node_; }

private:
    recorder::Node* node_ = nullptr;
};

namespace detail {

template <typename D>
inline constexpr const char* way = std::is_same_v<D, direction::in> ? "in" : std::is_same_v<D, direction::out> ? "out" : "inout";

/// A new port of an owner (null: the graph that is being made).
inline recorder::Node* new_port(const recorder::Node* owner, const char* direction, std::size_t number, const char* kind, void* from) {
    recorder::Node* node = recorder::record("ports", from);
    recorder::set(node, "owner", recorder::integer(owner ? recorder::id_of(owner) : -1));
    recorder::set(node, "direction", recorder::text(direction));
    recorder::set(node, "number", recorder::integer(static_cast<long long>(number)));
    recorder::set(node, "kind", recorder::text(kind));
    return node;
}

}  // namespace detail

/// Base of all ports.
class port_base : public handle {
public:
    using handle::handle;
};

/// A port of a direction; one that a graph declares is a port of its own.
template <typename D>
class port : public port_base {
public:
    MEMTILE_CALLED port() : port_base(detail::new_port(nullptr, detail::way<D>, 0, "graph", MEMTILE_CALLER)) {}
    explicit port(recorder::Node* node) : port_base(node) {}
};

using input_port = port<direction::in>;
using output_port = port<direction::out>;
using inout_port = port<direction::inout>;

/// Ports of one direction of an object: `k.in[0]`.
template <typename D>
class port_list {
public:
    /// A list that ports are added to; a list that has none is that of a variable without an object.
    void begin(const char* what) {
        ports_ = new std::deque<port<D>>;
        what_ = what;
    }
    void add(recorder::Node* node) { ports_->emplace_back(node); }
    MEMTILE_CALLED port<D>& operator[](std::size_t number) { return at(number, MEMTILE_CALLER); }
    MEMTILE_CALLED port<D>& operator[](std::size_t number) const { return at(number, MEMTILE_CALLER); }
    std::size_t size() const { return ports_ ? ports_->size() : 0; }
    auto begin() const { return ports_->begin(); }
    auto end() const { return ports_->end(); }

private:
    port<D>& at(std::size_t number, void* from) const {
        if (!ports_) recorder::refuse("a port is used before create() made its object", from);
        if (number >= ports_->size()) {
            recorder::refuse("port " + std::string(detail::way<D>) + "[" + std::to_string(number) + "] of this " + what_ +
                                 " is not there: it has " + std::to_string(ports_->size()),
                             from);
        }
        return (*ports_)[number];
    }
    std::deque<port<D>>* ports_ = nullptr;  // never freed: handles of a graph live as long as the program
    const char* what_ = "object";
};

/// `async(port)`: the port does not wait.
struct async_port {
    recorder::Node* node;
};
/// `sync(port)`: it waits.
struct sync_port {
    recorder::Node* node;
};
MEMTILE_CALLED inline async_port async(const port_base& port) { return {port.node(MEMTILE_CALLER, "a port")}; }
MEMTILE_CALLED inline sync_port sync(const port_base& port) { return {port.node(MEMTILE_CALLER, "a port")}; }

}  // namespace adf
