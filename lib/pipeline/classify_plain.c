/* SPDX-License-Identifier: BSD-3-Clause */
#define CLASSIFY classify_plain
#include "classify_burst.h"
