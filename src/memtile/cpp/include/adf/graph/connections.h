// Connections: `connect<kind>(source, target)`, in any of the ways that users write them.
//
// Sources: UG1603 and UG1079, connect; UG1079 of 2022 for windows with margins and for two kinds.
#pragma once

#include "kernel.h"
#include "outside.h"
#include "parameters.h"
#include "ports.h"

namespace adf {

// Kinds of connections, of places and of constraints.
struct stream {};
struct cascade {};
struct pktstream {};
struct buffer {};
struct stack {};
struct fifo {};
struct dma {};
struct absolute {};
struct circular {};
template <unsigned Bytes, unsigned Margin = 0>
struct window {};

namespace detail {

struct no_kind {};
struct Kind {
    const char* name;
    unsigned bytes = 0;
    unsigned margin = 0;
};
template <typename K>
struct kind_of {
    static_assert(is_never<K>, "connect<kind>: stream, window<bytes>, cascade, pktstream, parameter, buffer or nothing");
};
template <>
struct kind_of<no_kind> {
    static constexpr Kind kind{""};
};
template <>
struct kind_of<stream> {
    static constexpr Kind kind{"stream"};
};
template <>
struct kind_of<cascade> {
    static constexpr Kind kind{"cascade"};
};
template <>
struct kind_of<pktstream> {
    static constexpr Kind kind{"pktstream"};
};
template <>
struct kind_of<buffer> {
    static constexpr Kind kind{"buffer"};
};
template <>
struct kind_of<parameter> {
    static constexpr Kind kind{"parameter"};
};
template <unsigned Bytes, unsigned Margin>
struct kind_of<window<Bytes, Margin>> {
    static constexpr Kind kind{"window", Bytes, Margin};
};

/// An end of a connection, and what its writing says.
struct End {
    recorder::Node* node;
    bool is_async = false;
    bool is_sync = false;
};
inline End end_of(const port_base& port, bool, void* from) { return {port.node(from, "a port")}; }
inline End end_of(const async_port& port, bool, void*) { return {port.node, true}; }
inline End end_of(const sync_port& port, bool, void*) { return {port.node, false, true}; }
inline End end_of(const kernel& of, bool is_source, void* from) {
    if (is_source) recorder::refuse("a connection begins at a port of a kernel, k.out[n], not at a kernel", from);
    return {of.node(from, "a kernel")};
}

Kind constexpr stronger(Kind first, Kind second) { return first.bytes || !*second.name ? first : second; }

inline recorder::Node* new_connection(End source, End target, Kind kind, void* from) {
    recorder::Node* node = recorder::record("connections", from);
    recorder::set(node, "source", recorder::integer(recorder::id_of(source.node)));
    recorder::set(node, "target", recorder::integer(recorder::id_of(target.node)));
    recorder::set(node, "kind", recorder::text(kind.name));
    recorder::set(node, "bytes", recorder::integer(kind.bytes));
    recorder::set(node, "margin", recorder::integer(kind.margin));
    recorder::set(node, "is_async", recorder::truth(source.is_async || target.is_async));
    for (const End& end : {source, target}) {
        if (end.is_async) recorder::set(end.node, "is_async", recorder::truth(true));
        if (end.is_sync) recorder::set(end.node, "is_sync", recorder::truth(true));
    }
    return node;
}

}  // namespace detail

/// A connection. Two kinds say those of both ends; the wider of two windows counts.
template <typename Source = detail::no_kind, typename Target = Source>
class connect : public handle {
    static constexpr detail::Kind kind =
        detail::stronger(detail::kind_of<Source>::kind, detail::kind_of<Target>::kind);

public:
    connect() = default;
    template <typename A, typename B>
    MEMTILE_CALLED connect(const A& source, const B& target)
        : handle(detail::new_connection(detail::end_of(source, true, MEMTILE_CALLER), detail::end_of(target, false, MEMTILE_CALLER),
                                        kind, MEMTILE_CALLER)) {}
    /// A look-up table for a kernel.
    MEMTILE_CALLED connect(const parameter& table, const kernel& of) {
        recorder::append(of.node(MEMTILE_CALLER, "a kernel"), "tables",
                         recorder::integer(recorder::id_of(table.node(MEMTILE_CALLER, "a parameter"))));
    }
};
template <typename A, typename B>
connect(const A&, const B&) -> connect<>;

}  // namespace adf
