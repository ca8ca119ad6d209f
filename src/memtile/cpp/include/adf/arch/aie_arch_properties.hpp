// A path that users include: what a core has is in macros of the compiler (`__AIE_ARCH__`).
#pragma once
#include "../../adf.h"
