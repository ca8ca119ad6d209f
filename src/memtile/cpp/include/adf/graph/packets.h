// Packet switching: `pktsplit<n>`, `pktmerge<n>`, `pktorderedmerge<n>`.
//
// Source: UG1603, Explicit Packet Switching.
#pragma once

#include "ports.h"

namespace adf {

/// Base of all: one side has one port, the other n.
class packet_object : public handle {
public:
    port_list<direction::in> in;
    port_list<direction::out> out;
    packet_object() = default;

protected:
    packet_object(const char* kind, std::size_t inputs, std::size_t outputs, void* from) : handle(recorder::record("packets", from)) {
        recorder::Node* node = node_or_null();
        recorder::set(node, "kind", recorder::text(kind));
        recorder::set(node, "inputs", ports(in, inputs, from));
        recorder::set(node, "outputs", ports(out, outputs, from));
    }

private:
    template <typename D>
    std::string ports(port_list<D>& list, std::size_t count, void* from) {
        list.begin("packet object");
        std::vector<std::string> ids;
        for (std::size_t number = 0; number < count; ++number) {
            recorder::Node* port = detail::new_port(node_or_null(), detail::way<D>, number, "packet", from);
            list.add(port);
            ids.push_back(recorder::integer(recorder::id_of(port)));
        }
        return recorder::list(ids);
    }
};

template <int N>
class pktsplit : public packet_object {
    static_assert(N > 0, "pktsplit<n>: n is the number of its outputs");
    explicit pktsplit(void* from) : packet_object("split", 1, N, from) {}

public:
    pktsplit() = default;
    MEMTILE_CALLED static pktsplit create() { return pktsplit(MEMTILE_CALLER); }
};
template <int N>
class pktmerge : public packet_object {
    static_assert(N > 0, "pktmerge<n>: n is the number of its inputs");
    explicit pktmerge(void* from) : packet_object("merge", N, 1, from) {}

public:
    pktmerge() = default;
    MEMTILE_CALLED static pktmerge create() { return pktmerge(MEMTILE_CALLER); }
};
/// A merge in a fixed order: of each source in turn as many packets as `packet_count` says, one where it says nothing.
template <int N>
class pktorderedmerge : public packet_object {
    static_assert(N > 0, "pktorderedmerge<n>: n is the number of its inputs");
    explicit pktorderedmerge(void* from) : packet_object("ordered_merge", N, 1, from) {}

public:
    pktorderedmerge() = default;
    MEMTILE_CALLED static pktorderedmerge create() { return pktorderedmerge(MEMTILE_CALLER); }
};

}  // namespace adf
