// A path that users include; all of it is in aie.hpp.
#pragma once
#include "aie.hpp"
