// Values of a kernel's constructor as C++ literals, with their type: `180`, `0x1.8p+1f`, `{1, -2}`.
#pragma once

#include <array>
#include <cstdio>

#include "arguments.h"

namespace adf::detail {

inline std::string floating(double value, bool is_single) {
    char buffer[48];
    std::snprintf(buffer, sizeof buffer, "%a", value);
    return is_single ? std::string(buffer) + "f" : buffer;
}

/// One value.
template <typename T>
std::string literal_text(const T& value) {
    if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
    else if constexpr (std::is_enum_v<T>) {
        return "static_cast<" + recorder::demangled(typeid(T)) + ">(" + std::to_string(static_cast<long long>(value)) + ")";
    } else if constexpr (std::is_floating_point_v<T>) return floating(static_cast<double>(value), std::is_same_v<T, float>);
    else if constexpr (std::is_unsigned_v<T>) return std::to_string(static_cast<unsigned long long>(value)) + (sizeof(T) > 4 ? "ull" : "u");
    else if constexpr (std::is_integral_v<T>) {
        const long long wide = static_cast<long long>(value);
        if (sizeof(T) > 4 && wide == INT64_MIN) return "(-9223372036854775807ll - 1)";
        return std::to_string(wide) + (sizeof(T) > 4 ? "ll" : "");
    } else if constexpr (requires { value.real; value.imag; }) {
        return "{" + literal_text(value.real) + ", " + literal_text(value.imag) + "}";
    } else if constexpr (std::is_same_v<T, bfloat16>) return "bfloat16(" + floating(static_cast<float>(value), true) + ")";
    else if constexpr (std::is_convertible_v<T, int>) return std::to_string(static_cast<int>(value));
    else static_assert(is_never<T>, "a kernel's constructor gets numbers, std::vector, std::array or arrays of these");
}

inline std::string argument_json(const std::string& type, const std::vector<std::string>& values, bool is_list) {
    std::vector<std::string> texts;
    for (const std::string& value : values) texts.push_back(recorder::text(value));
    return recorder::object({{"type", recorder::text(type)}, {"values", recorder::list(texts)}, {"is_list", recorder::truth(is_list)}});
}

template <typename T>
struct literal {
    static std::string json(const T& value) { return argument_json(type_text<T>::text(), {literal_text(value)}, false); }
};
template <typename T, typename Values>
std::string literal_list(const Values& values) {
    std::vector<std::string> texts;
    for (const auto& value : values) texts.push_back(literal_text<T>(value));
    return argument_json(type_text<T>::text(), texts, true);
}
template <typename T, typename A>
struct literal<std::vector<T, A>> {
    static std::string json(const std::vector<T, A>& values) { return literal_list<T>(values); }
};
template <typename T, std::size_t N>
struct literal<std::array<T, N>> {
    static std::string json(const std::array<T, N>& values) { return literal_list<T>(values); }
};
template <typename T, std::size_t N>
struct literal<T[N]> {
    static std::string json(const T (&values)[N]) { return literal_list<std::remove_cv_t<T>>(values); }
};
template <typename T>
struct literal<std::initializer_list<T>> {
    static std::string json(const std::initializer_list<T>& values) { return literal_list<T>(values); }
};

}  // namespace adf::detail
