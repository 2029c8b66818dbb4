/* SPDX-License-Identifier: BSD-3-Clause */
#define FP32_LANES wide_fp32_plain
#include "fp32_lanes.h"
