// What the two sources of the graph's run time say to each other.
#pragma once

#include "adf/graph/recorder.h"

namespace adf::recorder {

/// All that was recorded, as JSON: lists of objects, and the variables that hold them.
std::string description();
std::size_t recorded_graphs();
std::string address_of(const void*);

}  // namespace adf::recorder
