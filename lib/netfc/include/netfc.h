/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NETFC_H
#define NETFC_H

/**
 * @file
 * netfc: floating-point arithmetic from table look-ups and integer additions.
 *
 * The library builds table sets and computes with them. It needs no DPDK, prints nothing, never
 * exits, and has no global state: all functions may be called from any thread.
 */

#include "netfc_arith.h"
#include "netfc_error.h"
#include "netfc_extra.h"
#include "netfc_file.h"
#include "netfc_format.h"
#include "netfc_fp32.h"
#include "netfc_function.h"
#include "netfc_lanes.h"
#include "netfc_log2.h"
#include "netfc_prefix.h"
#include "netfc_set.h"
#include "netfc_user_function.h"
#include "netfc_version.h"
#include "netfc_wire.h"

#endif /* NETFC_H */
