/* SPDX-License-Identifier: BSD-3-Clause */
#define CLASSIFY classify_avx2
#include "classify_burst.h"
