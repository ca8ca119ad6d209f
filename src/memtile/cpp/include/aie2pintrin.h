// The name under which the compiler of AIE2P offers its intrinsics.
#pragma once
#include "memtile/intrinsics.h"
