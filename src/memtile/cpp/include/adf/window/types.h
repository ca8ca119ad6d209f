// Windows of kernels, by the name that sources of the first generation have for the file.
#pragma once
#include "adf/windows.h"
