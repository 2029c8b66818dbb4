/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMITS_H
#define LIMITS_H

/** @file How long each lcore may sleep, by the speed of the links at this moment. */

#include "app.h"

/** Set the longest sleep of every lcore. */
void limits_set(struct app *app);

#endif /* LIMITS_H */
