// What the graph side of adf.h asks of the recorder (runtime/graph_recorder.cc): objects with fields, and who holds them.
//
// An object of the description is a `Node`: a list that it belongs to, and fields whose values are JSON texts. A user's
// variable (`kernel k;`) is a handle of a node; where it lies gives the node its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "../elements.h"

#define MEMTILE_CALLER __builtin_return_address(0)
#define MEMTILE_CALLED __attribute__((noinline))

namespace adf::recorder {

struct Node;

/// A new object of a list of the description; `from` is an address in the statement of the user that makes it.
Node* record(const char* list, void* from);
int id_of(const Node*);
void set(Node*, const char* field, const std::string& json);
void append(Node*, const char* field, const std::string& json);
const std::string& field_of(const Node*, const char* field);

/// Notes that a variable holds a node (null: none), and that it is gone.
void hold(const void* variable, const Node*);
void drop(const void* variable);

/// Ends the program: it says what its graph must not.
[[noreturn]] void refuse(const std::string& reason, void* from);

/// Name of a function, or of a variable, by its address.
std::string symbol_at(const void* address, bool& has_body);
std::string demangled(const std::type_info&);

// JSON texts.
std::string text(const std::string&);
std::string number(double);
std::string hexadecimal(const void*, std::size_t bytes);
inline std::string integer(long long value) { return std::to_string(value); }
inline const char* truth(bool value) { return value ? "true" : "false"; }
std::string list(const std::vector<std::string>& parts);
std::string object(const std::vector<std::pair<const char*, std::string>>& fields);

template <typename Values>
std::string integers(const Values& values) {
    std::vector<std::string> parts;
    for (const auto& value : values) parts.push_back(integer(static_cast<long long>(value)));
    return list(parts);
}

template <typename T>
struct element {
    static std::string name() { return demangled(typeid(T)); }
};
#define MEMTILE_ELEMENT(type, text) \
    template <>                     \
    struct element<type> {          \
        static std::string name() { return text; } \
    };
MEMTILE_ELEMENT(::int8, "int8")
MEMTILE_ELEMENT(::uint8, "uint8")
MEMTILE_ELEMENT(::int16, "int16")
MEMTILE_ELEMENT(::uint16, "uint16")
MEMTILE_ELEMENT(::int32, "int32")
MEMTILE_ELEMENT(::uint32, "uint32")
MEMTILE_ELEMENT(::int64, "int64")
MEMTILE_ELEMENT(::uint64, "uint64")
MEMTILE_ELEMENT(long long, "int64")
MEMTILE_ELEMENT(unsigned long long, "uint64")
MEMTILE_ELEMENT(char, "int8")
MEMTILE_ELEMENT(float, "float")
MEMTILE_ELEMENT(double, "double")
MEMTILE_ELEMENT(bool, "bool")
MEMTILE_ELEMENT(::bfloat16, "bfloat16")
MEMTILE_ELEMENT(::cint16, "cint16")
MEMTILE_ELEMENT(::cint32, "cint32")
MEMTILE_ELEMENT(::cfloat, "cfloat")
#undef MEMTILE_ELEMENT

/// Size of an element; 0 for a type that is declared and not defined.
template <typename T>
constexpr std::size_t bytes_of() {
    if constexpr (std::is_void_v<T>) return 0;
    else return sizeof(T);
}

}  // namespace adf::recorder
