// A path that users include; all of it is in adf.h.
#pragma once
#include "../../adf.h"
