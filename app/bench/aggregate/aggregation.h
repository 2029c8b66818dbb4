/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef AGGREGATION_H
#define AGGREGATION_H

/** @file A run with --aggregate: workers join, send chunks, check every result, leave. */

#include <jansson.h>

#include "aggregate/team.h"
#include "report/report.h"

/**
 * Make the chunks, with what they have to come to, and the workers. 0, or -1 (reported on stderr).
 */
int team_create(struct bench *bench, struct team *team);

/** Run on the calling lcore. Why it ended is in bench->run.end, or in the team's failure. */
void team_run(struct team *team);

/** Whether the run was what it should be; what was not is reported on stderr. */
bool team_went_well(const struct team *team);

/** Free it. */
void team_free(struct team *team);

/** Print the effective configuration. */
void team_report_configuration(FILE *out, const struct team *team);

/** Print the results. */
void team_report(FILE *out, const struct team *team);

/** All of it as an object. */
json_t *team_json(const struct team *team, int exit_status);

#endif /* AGGREGATION_H */
