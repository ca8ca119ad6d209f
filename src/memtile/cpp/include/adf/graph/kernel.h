// Kernels: functions and objects of classes that run on a core.
//
// Sources: UG1603, kernel; C++ Kernel Class Support (create_object, REGISTER_FUNCTION, REGISTER_PARAMETER).
#pragma once

#include "arguments.h"
#include "literals.h"
#include "ports.h"

namespace adf {

namespace detail {

/// What registerKernelClass() of a class says: the function that is the kernel, and members that are parameters.
struct Registration {
    std::string function;
    std::vector<std::string> parameters;  // C++ types
    std::vector<Shape> shapes;
    std::vector<Shape> members;
    std::vector<std::string> member_names;
};
inline Registration* registration = nullptr;

template <typename R, typename... A>
void note_function(Registration& to, R (*)(A...)) {
    to.parameters = {type_text<A>::text()...};
    to.shapes = {argument<A>::shape()...};
}
template <typename C, typename R, typename... A>
void register_function(R (C::*)(A...), const char* text) {
    if (!registration) return;
    registration->function = text;
    note_function(*registration, static_cast<R (*)(A...)>(nullptr));
}
template <typename C, typename R, typename... A>
void register_function(R (C::*)(A...) const, const char* text) {
    register_function(static_cast<R (C::*)(A...)>(nullptr), text);
}
template <typename R, typename... A>
void register_function(R (*function)(A...), const char* text) {
    if (!registration) return;
    registration->function = text;
    note_function(*registration, function);
}
template <typename T>
void register_parameter(const char* text) {
    if (!registration) return;
    using array = std::remove_reference_t<T>;
    using item = std::remove_cv_t<std::remove_all_extents_t<array>>;
    Shape shape = shape_of<item>("inout", std::is_array_v<array> ? "parameter_array" : "parameter");
    if constexpr (std::is_array_v<array>) shape.dimensions = {static_cast<unsigned>(sizeof(array) / sizeof(item))};
    registration->members.push_back(shape);
    registration->member_names.push_back(text);
}

}  // namespace detail

/// A kernel. Its parameters are ports: those of the function in `in`, `out` and `inout`, registered members in `param`.
class kernel : public handle {
public:
    port_list<direction::in> in;
    port_list<direction::out> out;
    port_list<direction::inout> inout;
    port_list<direction::inout> param;

    kernel() = default;

    /// A function as a kernel; `name` is that of the instance.
    template <typename R, typename... A>
    MEMTILE_CALLED static kernel create(R (*function)(A...), const std::string& = "") {
        recorder::Node* node = recorder::record("kernels", MEMTILE_CALLER);
        detail::Registration said;
        bool has_body = true;
        said.function = recorder::symbol_at(reinterpret_cast<const void*>(function), has_body);
        detail::note_function(said, function);
        return kernel(node, said, MEMTILE_CALLER);
    }

    /// An object of a class as a kernel; it is made on its core, from these values.
    template <typename C, typename... A>
    MEMTILE_CALLED static kernel create_object(A&&... values) {
        recorder::Node* node = recorder::record("kernels", MEMTILE_CALLER);
        detail::Registration said;
        detail::registration = &said;
        C::registerKernelClass();
        detail::registration = nullptr;
        if (said.function.empty()) {
            recorder::refuse(recorder::demangled(typeid(C)) + " registers no function: its registerKernelClass() needs "
                             "REGISTER_FUNCTION(class::function)",
                             MEMTILE_CALLER);
        }
        recorder::set(node, "object_type", recorder::text(recorder::demangled(typeid(C))));
        std::vector<std::string> arguments;
        (arguments.push_back(detail::literal<std::remove_cvref_t<A>>::json(values)), ...);
        recorder::set(node, "arguments", recorder::list(arguments));
        return kernel(node, said, MEMTILE_CALLER);
    }

private:
    kernel(recorder::Node* node, const detail::Registration& said, void* from) : handle(node) {
        in.begin("kernel");
        out.begin("kernel");
        inout.begin("kernel");
        param.begin("kernel");
        recorder::set(node, "function", recorder::text(said.function));
        std::vector<std::string> types, ids;
        for (const std::string& type : said.parameters) types.push_back(recorder::text(type));
        int number = 0;
        for (const detail::Shape& shape : said.shapes) ids.push_back(recorder::integer(add(node, shape, number++, from)));
        for (const detail::Shape& shape : said.members) add_member(node, shape, from);
        recorder::set(node, "parameters", recorder::list(types));
        recorder::set(node, "ports", recorder::list(ids));
        recorder::set(node, "source", recorder::text(""));
    }
    static void describe(recorder::Node* port, const detail::Shape& shape) {
        recorder::set(port, "element", recorder::text(shape.element));
        recorder::set(port, "element_bytes", recorder::integer(static_cast<long long>(shape.element_bytes)));
        recorder::set(port, "dimensions", recorder::integers(shape.dimensions));
        recorder::set(port, "margin", recorder::integer(shape.margin_elements));
        recorder::set(port, "is_async", recorder::truth(shape.is_async));
        recorder::set(port, "is_circular", recorder::truth(shape.is_circular));
    }
    int add(recorder::Node* node, const detail::Shape& shape, int argument, void* from) {
        const std::string way = shape.way;
        const std::size_t number = way == "in" ? in.size() : way == "out" ? out.size() : inout.size();
        recorder::Node* port = detail::new_port(node, shape.way, number, shape.kind, from);
        describe(port, shape);
        recorder::set(port, "argument", recorder::integer(argument));
        if (way == "in") in.add(port);
        else if (way == "out") out.add(port);
        else inout.add(port);
        return recorder::id_of(port);
    }
    void add_member(recorder::Node* node, const detail::Shape& shape, void* from) {
        recorder::Node* port = detail::new_port(node, "inout", param.size(), shape.kind, from);
        describe(port, shape);
        recorder::set(port, "is_member", recorder::truth(true));
        param.add(port);
    }
};

}  // namespace adf

#undef REGISTER_FUNCTION
#undef REGISTER_PARAMETER
#define REGISTER_FUNCTION(...) ::adf::detail::register_function(&__VA_ARGS__, #__VA_ARGS__)
#define REGISTER_PARAMETER(...) ::adf::detail::register_parameter<decltype(__VA_ARGS__)>(#__VA_ARGS__)
