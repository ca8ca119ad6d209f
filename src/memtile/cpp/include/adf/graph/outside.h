// What leads out of the array: PLIO (streams of the programmable logic) and GMIO (the DMA of an interface tile).
//
// Sources: UG1603 and UG1079, input_plio and output_plio; input_gmio and output_gmio; UG1702.
#pragma once

#include "host_calls.h"
#include "ports.h"

namespace adf {

enum plio_type { plio_32_bits = 32, plio_64_bits = 64, plio_128_bits = 128 };

/// What profiling and older graphs call any of them.
class IoAttr : public handle {
public:
    using handle::handle;
};

namespace detail {

inline recorder::Node* new_outside(const char* list, const char* direction, const std::string& label, void* from) {
    recorder::Node* node = recorder::record(list, from);
    recorder::set(node, "direction", recorder::text(direction));
    recorder::set(node, "label", recorder::text(label));
    return node;
}
inline void set_plio(recorder::Node* node, plio_type width, const std::string& file, double mhz, bool hex) {
    recorder::set(node, "width", recorder::integer(width));
    recorder::set(node, "file", recorder::text(file));
    recorder::set(node, "mhz", recorder::number(mhz));
    recorder::set(node, "hex", recorder::truth(hex));
}
/// The port of one of them within the array: data that comes in leaves it by an output port.
template <typename D>
recorder::Node* port_of_outside(recorder::Node* node, const char* kind, void* from) {
    recorder::Node* port = new_port(node, way<D>, 0, kind, from);
    recorder::set(node, "port", recorder::integer(recorder::id_of(port)));
    return port;
}

}  // namespace detail

/// Base of input_plio and output_plio; older graphs name it as the kind of a place.
class PLIO : public IoAttr {
public:
    using IoAttr::IoAttr;
    /// One of a simulation::platform, which says its direction.
    MEMTILE_CALLED explicit PLIO(const std::string& label, plio_type width = plio_32_bits, const std::string& file = "", double mhz = 0,
                                 bool hex = false)
        : PLIO(detail::new_outside("plios", "in", label, MEMTILE_CALLER), width, file, mhz, hex) {}
    MEMTILE_CALLED explicit PLIO(const std::string& label, const std::string& file)
        : PLIO(detail::new_outside("plios", "in", label, MEMTILE_CALLER), plio_32_bits, file, 0, false) {}

protected:
    PLIO(recorder::Node* node, plio_type width, const std::string& file, double mhz, bool hex) : IoAttr(node) {
        detail::set_plio(node, width, file, mhz, hex);
    }
};

#define MEMTILE_PLIO(name, ports, port_way, way_text)                                                                      \
    class name : public PLIO {                                                                                             \
    public:                                                                                                                \
        port_list<direction::port_way> ports;                                                                              \
        name() = default;                                                                                                  \
        MEMTILE_CALLED static name create(const std::string& label, plio_type width = plio_32_bits,                        \
                                          const std::string& file = "", double mhz = 0, bool hex = false) {                \
            return {label, width, file, mhz, hex, MEMTILE_CALLER};                                                         \
        }                                                                                                                  \
        MEMTILE_CALLED static name create(const std::string& label, plio_type width, double mhz) {                         \
            return {label, width, "", mhz, false, MEMTILE_CALLER};                                                         \
        }                                                                                                                  \
        MEMTILE_CALLED static name create(plio_type width = plio_32_bits, const std::string& file = "", double mhz = 0,    \
                                          bool hex = false) {                                                              \
            return {"", width, file, mhz, hex, MEMTILE_CALLER};                                                            \
        }                                                                                                                  \
        MEMTILE_CALLED static name create(plio_type width, double mhz) {                                                   \
            return {"", width, "", mhz, false, MEMTILE_CALLER};                                                            \
        }                                                                                                                  \
        MEMTILE_CALLED static name create(const std::string& label, const std::string& file, double mhz = 0,               \
                                          bool hex = false) {                                                              \
            return {label, plio_32_bits, file, mhz, hex, MEMTILE_CALLER};                                                  \
        }                                                                                                                  \
                                                                                                                           \
    private:                                                                                                               \
        name(const std::string& label, plio_type width, const std::string& file, double mhz, bool hex, void* from)         \
            : PLIO(detail::new_outside("plios", way_text, label, from), width, file, mhz, hex) {                           \
            recorder::Node* node = node_or_null();                                                                         \
            ports.begin("PLIO");                                                                                           \
            ports.add(detail::port_of_outside<direction::port_way>(node, "plio", from));                                   \
        }                                                                                                                  \
    };
MEMTILE_PLIO(input_plio, out, out, "in")
MEMTILE_PLIO(output_plio, in, in, "out")
#undef MEMTILE_PLIO

/// Base of input_gmio and output_gmio; memory that both sides see comes from malloc() and goes by free().
class GMIO : public IoAttr {
public:
    using IoAttr::IoAttr;
    /// One of a simulation::platform, which says its direction.
    MEMTILE_CALLED explicit GMIO(const std::string& label, std::size_t burst = 0, std::size_t bandwidth = 0)
        : GMIO(detail::new_outside("gmios", "in", label, MEMTILE_CALLER), burst, bandwidth) {}
    MEMTILE_CALLED static void* malloc(std::size_t bytes) { return recorder::allocate(bytes, MEMTILE_CALLER); }
    MEMTILE_CALLED static void free(void* memory) { recorder::release(memory, MEMTILE_CALLER); }

    /// Starts a transfer and returns at once.
    MEMTILE_CALLED return_code gm2aie_nb(const void* from, std::size_t bytes) const {
        return recorder::transfer(node(MEMTILE_CALLER, "a GMIO"), true, from, bytes, false, MEMTILE_CALLER);
    }
    MEMTILE_CALLED return_code aie2gm_nb(void* to, std::size_t bytes) const {
        return recorder::transfer(node(MEMTILE_CALLER, "a GMIO"), false, to, bytes, false, MEMTILE_CALLER);
    }
    /// Waits until all that was started here is done.
    MEMTILE_CALLED return_code wait() const { return recorder::wait_for(node(MEMTILE_CALLER, "a GMIO"), MEMTILE_CALLER); }
    MEMTILE_CALLED return_code gm2aie(const void* from, std::size_t bytes) const {
        return recorder::transfer(node(MEMTILE_CALLER, "a GMIO"), true, from, bytes, true, MEMTILE_CALLER);
    }
    MEMTILE_CALLED return_code aie2gm(void* to, std::size_t bytes) const {
        return recorder::transfer(node(MEMTILE_CALLER, "a GMIO"), false, to, bytes, true, MEMTILE_CALLER);
    }

protected:
    GMIO(recorder::Node* node, std::size_t burst, std::size_t bandwidth) : IoAttr(node) {
        recorder::set(node, "burst_bytes", recorder::integer(static_cast<long long>(burst)));
        recorder::set(node, "mbytes_per_second", recorder::integer(static_cast<long long>(bandwidth)));
    }
};

#define MEMTILE_GMIO(name, ports, port_way, way_text)                                                                   \
    class name : public GMIO {                                                                                          \
    public:                                                                                                             \
        port_list<direction::port_way> ports;                                                                           \
        name() = default;                                                                                               \
        MEMTILE_CALLED static name create(const std::string& label, std::size_t burst = 0, std::size_t bandwidth = 0) { \
            return {label, burst, bandwidth, MEMTILE_CALLER};                                                           \
        }                                                                                                               \
        MEMTILE_CALLED static name create(std::size_t burst = 0, std::size_t bandwidth = 0) {                           \
            return {"", burst, bandwidth, MEMTILE_CALLER};                                                              \
        }                                                                                                               \
                                                                                                                        \
    private:                                                                                                            \
        name(const std::string& label, std::size_t burst, std::size_t bandwidth, void* from)                            \
            : GMIO(detail::new_outside("gmios", way_text, label, from), burst, bandwidth) {                             \
            recorder::Node* node = node_or_null();                                                                      \
            ports.begin("GMIO");                                                                                        \
            ports.add(detail::port_of_outside<direction::port_way>(node, "gmio", from));                                \
        }                                                                                                               \
    };
MEMTILE_GMIO(input_gmio, out, out, "in")
MEMTILE_GMIO(output_gmio, in, in, "out")
#undef MEMTILE_GMIO

namespace simulation {

/// What older graphs connect to: the first `Inputs` lead into the array, the others out of it (UG1076 of 2021). The
/// name of a file is a PLIO of 32 bits.
template <int Inputs, int Outputs>
class platform {
public:
    port_list<direction::out> src;
    port_list<direction::in> sink;

    template <typename... Attr>
        requires(sizeof...(Attr) == Inputs + Outputs)
    MEMTILE_CALLED explicit platform(Attr*... attributes) {
        src.begin("platform");
        sink.begin("platform");
        int number = 0;
        (add(attributes, number++, std::is_base_of_v<GMIO, Attr> ? "gmio" : "plio", MEMTILE_CALLER), ...);
    }

private:
    void add(const char* file, int number, const char* kind, void* from) {
        recorder::Node* node = detail::new_outside("plios", "in", file, from);
        detail::set_plio(node, plio_32_bits, file, 0, false);
        join(node, number, kind, from);
    }
    void add(const IoAttr* attribute, int number, const char* kind, void* from) {
        join(attribute->node(from, "a PLIO or GMIO"), number, kind, from);
    }
    void join(recorder::Node* node, int number, const char* kind, void* from) {
        recorder::set(node, "direction", recorder::text(number < Inputs ? "in" : "out"));
        if (number < Inputs) src.add(detail::port_of_outside<direction::out>(node, kind, from));
        else sink.add(detail::port_of_outside<direction::in>(node, kind, from));
    }
};

}  // namespace simulation

}  // namespace adf
