/* SPDX-License-Identifier: BSD-3-Clause */
#define LOG_STAGES_USE log_stages_use_plain
#include "log_stages_lanes.h"
