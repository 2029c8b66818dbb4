/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLOWLORIS_AGEING_H
#define SLOWLORIS_AGEING_H

/** @file Records that end by age. */

#include "detector.h"

/* Age as much as is due; the lock's holder only. */
void age_tables(struct slowloris_worker *worker);

#endif /* SLOWLORIS_AGEING_H */
