/* SPDX-License-Identifier: BSD-3-Clause */
#define LOG_STAGES_USE log_stages_use_avx2
#include "log_stages_lanes.h"
