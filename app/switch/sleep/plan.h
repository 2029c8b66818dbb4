/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLAN_H
#define PLAN_H

/** @file What the switch says at start about how its lcores sleep. */

#include "app.h"

/** Print how each lcore sleeps or, if none does, whether it has its CPU to itself. */
void plan_print(const struct app *app);

#endif /* PLAN_H */
