// The recorder behind the graph side of adf.h: objects with fields, the variables that hold them, and their JSON.
//
// `memtile.adf.record` gives objects the names of the variables and turns addresses into lines.
#include "memtile/graph_recorder.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <unordered_map>

#include "adf/graph/graph.h"

// The section of functions that the graph's sources call and no source defines; memtile.adf.graph_program makes them.
extern "C" __attribute__((weak, visibility("hidden"))) const char __start_memtile_missing[], __stop_memtile_missing[];

namespace adf::recorder {

struct Node {
    int id;
    std::string list;
    const void* from;
    std::vector<std::pair<std::string, std::string>> fields;
};

namespace {

struct Recorder {
    std::deque<Node> nodes;
    std::unordered_map<const void*, const Node*> held;
    std::map<const graph*, Node*> graphs;
    std::map<const graph*, const graph*> around;  // the graph in whose constructor each was made
    std::map<const graph*, const graph*> copies;  // to what they are copies of
    const graph* latest = nullptr;
};
// Never destroyed: handles outlive it otherwise.
Recorder& recorder() {
    static Recorder& the = *new Recorder;
    return the;
}

std::string demangled_name(const char* mangled) {
    int status = 0;
    char* plain = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string text = status == 0 && plain ? plain : mangled;
    std::free(plain);
    for (std::size_t at = 0; (at = text.find("> >", at)) != std::string::npos;) text.erase(at + 1, 1);  // GCC's
    return text;
}

/// Name with template arguments of a demangled function: without its parameters and what it returns.
std::string without_signature(const std::string& text) {
    int depth = 0;
    std::size_t first = 0, end = text.size();
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '<') ++depth;
        else if (c == '>') --depth;
        else if (depth == 0 && c == ' ') first = at + 1;
        else if (depth == 0 && c == '(') {
            if (text.compare(at, 21, "(anonymous namespace)") == 0) at += 20;
            else {
                end = at;
                break;
            }
        }
    }
    return text.substr(first, end - first);
}

}  // namespace

Node* record(const char* list, void* from) {
    Recorder& r = recorder();
    r.nodes.push_back({static_cast<int>(r.nodes.size()), list, from, {}});
    Node* node = &r.nodes.back();
    if (r.latest) set(node, "within", integer(r.graphs[r.latest]->id));
    return node;
}
int id_of(const Node* node) { return node->id; }
void set(Node* node, const char* field, const std::string& json) {
    for (auto& [name, value] : node->fields) {
        if (name == field) {
            value = json;
            return;
        }
    }
    node->fields.emplace_back(field, json);
}
void append(Node* node, const char* field, const std::string& json) {
    const std::string& before = field_of(node, field);
    if (before.empty() || before == "[]") set(node, field, "[" + json + "]");
    else set(node, field, before.substr(0, before.size() - 1) + ", " + json + "]");
}
const std::string& field_of(const Node* node, const char* field) {
    static const std::string none;
    for (const auto& [name, value] : node->fields) {
        if (name == field) return value;
    }
    return none;
}

void hold(const void* variable, const Node* node) { recorder().held[variable] = node; }
void drop(const void* variable) { recorder().held.erase(variable); }

void begin_graph(const graph* made, void* from) {
    Recorder& r = recorder();
    r.graphs[made] = record("graphs", from);
    r.around[made] = r.latest;
    r.latest = made;
}
void copy_graph(const graph* copy, const graph* of) {
    Recorder& r = recorder();
    r.copies[copy] = r.copies.contains(of) ? r.copies[of] : of;
}
void end_graph(const graph* gone) {
    Recorder& r = recorder();
    if (r.copies.erase(gone)) return;
    const graph* around = r.around[gone];
    if (r.latest == gone) r.latest = r.graphs.contains(around) ? around : nullptr;
    r.graphs.erase(gone);
    r.around.erase(gone);
}
int graph_id(const graph* of) {
    Recorder& r = recorder();
    const graph* made = r.copies.contains(of) ? r.copies[of] : of;
    if (!r.graphs.contains(made)) refuse("a copy of a graph is used after the graph is gone", nullptr);
    return r.graphs[made]->id;
}

std::string symbol_at(const void* address, bool& has_body) {
    const char* at = static_cast<const char*>(address);
    has_body = !(__start_memtile_missing && at >= __start_memtile_missing && at < __stop_memtile_missing);
    Dl_info found{};
    if (!dladdr(address, &found) || !found.dli_sname || found.dli_saddr != address) return "";
    return without_signature(demangled_name(found.dli_sname));
}
std::string demangled(const std::type_info& type) { return demangled_name(type.name()); }
std::string demangled_pointee(const std::type_info& type) {
    const std::string pointer = demangled(type);
    return pointer.substr(0, pointer.size() - 1);
}

std::string text(const std::string& value) {
    std::string quoted = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') quoted += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", c);
            quoted += code;
        } else quoted += c;
    }
    return quoted + "\"";
}
std::string number(double value) {
    if (std::floor(value) == value && std::fabs(value) < 9e15) return integer(static_cast<long long>(value));
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    return digits;
}
std::string hexadecimal(const void* from, std::size_t bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    const auto* at = static_cast<const unsigned char*>(from);
    std::string said;
    said.reserve(2 * bytes);
    for (std::size_t n = 0; n < bytes; ++n) {
        said += digits[at[n] >> 4];
        said += digits[at[n] & 15];
    }
    return text(said);
}
std::string list(const std::vector<std::string>& parts) {
    std::string said = "[";
    for (const std::string& part : parts) said += (said.size() > 1 ? ", " : "") + part;
    return said + "]";
}
std::string object(const std::vector<std::pair<const char*, std::string>>& fields) {
    std::string said = "{";
    for (const auto& [name, value] : fields) said += (said.size() > 1 ? ", " : "") + text(name) + ": " + value;
    return said + "}";
}

std::string address_of(const void* at) { return integer(static_cast<long long>(reinterpret_cast<std::uintptr_t>(at))); }

std::size_t recorded_graphs() { return recorder().graphs.size(); }

std::string description() {
    const Recorder& r = recorder();
    std::map<std::string, std::vector<std::string>> lists;
    std::map<const Node*, const graph*> alive;
    for (const auto& [made, node] : r.graphs) alive[node] = made;
    for (const Node& node : r.nodes) {
        std::string said = "{\"id\": " + integer(node.id) + ", \"from\": " + address_of(node.from);
        if (const auto found = alive.find(&node); found != alive.end()) {
            said += ", \"type\": " + text(demangled(typeid(*found->second)));
            said += ", \"address\": " + address_of(dynamic_cast<const void*>(found->second));
        }
        for (const auto& [name, value] : node.fields) said += ", " + text(name) + ": " + value;
        lists[node.list].push_back(said + "}");
    }
    std::string said = "{";
    for (const auto& [name, parts] : lists) said += (said.size() > 1 ? ", " : "") + text(name) + ": " + list(parts);
    std::vector<std::string> variables;
    for (const auto& [variable, node] : r.held) {
        if (node) variables.push_back("[" + address_of(variable) + ", " + integer(node->id) + "]");
    }
    return said + (said.size() > 1 ? ", " : "") + "\"variables\": " + list(variables) + "}";
}

}  // namespace adf::recorder
