// Look-up tables: `parameter::array(symbol)`.
//
// Source: UG1603, Look-up Tables in Global Scope.
#pragma once

#include "ports.h"

namespace adf {

/// A global array that kernels read; also the kind of a connection that carries numbers.
class parameter : public handle {
public:
    parameter() = default;

    template <typename T, std::size_t N>
    MEMTILE_CALLED static parameter array(T (&table)[N]) {
        return parameter(static_cast<const void*>(table), sizeof table, recorder::element<std::remove_cv_t<std::remove_all_extents_t<T>>>::name(),
                         sizeof(std::remove_all_extents_t<T>), MEMTILE_CALLER);
    }

private:
    parameter(const void* table, std::size_t bytes, const std::string& element, std::size_t element_bytes, void* from)
        : handle(recorder::record("tables", from)) {
        recorder::Node* node = node_or_null();
        bool is_here = true;
        recorder::set(node, "symbol", recorder::text(recorder::symbol_at(table, is_here)));
        recorder::set(node, "element", recorder::text(element));
        recorder::set(node, "element_bytes", recorder::integer(static_cast<long long>(element_bytes)));
        recorder::set(node, "bytes", recorder::integer(static_cast<long long>(bytes)));
        recorder::set(node, "data", is_here ? recorder::hexadecimal(table, bytes) : recorder::text(""));
    }
};

}  // namespace adf
