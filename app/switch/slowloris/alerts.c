/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_log.h>

#include "slowloris/alerts.h"
#include "side_thread.h"

#define LOOK_US 50000

RTE_LOG_REGISTER(alerts_log, netfc.slowloris, NOTICE)

#define TELL(...) rte_log(RTE_LOG_NOTICE, alerts_log, __VA_ARGS__)

struct alerts {
	struct slowloris *detector;
	bool stop;
	struct side_work work;
	side_thread thread;
	uint64_t period;     /* TSC: when this one began */
	unsigned int told;   /* in this period */
	uint64_t suppressed; /* in this period */
};

static void
tell(const struct slowloris_alert *alert)
{
	const struct slowloris_registers *registers = &alert->registers;
	const struct in_addr address = {rte_cpu_to_be_32(registers->address)};
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &address, text, sizeof(text));
	TELL("Slowloris: %s %s%s after %" PRIu32 " ms: %" PRIu32 " connections (%" PRIu32
	     " established), %" PRIu64 " bytes, %.3g connections per byte\n",
		text, registers->alarm ? "is under attack" : "has recovered",
		alert->dry_run != 0 ? " (dry run)" : "", alert->after_ms, registers->connections,
		registers->established, registers->bytes,
		netfc_decode(netfc_format_by_id(NETFC_FP16), registers->ratio));
}

static void
begin_period(struct alerts *alerts, uint64_t now)
{
	if (alerts->suppressed != 0)
		TELL("Slowloris: %" PRIu64 " more alerts in %d s\n", alerts->suppressed,
			ALERTS_PERIOD_S);
	alerts->period = now;
	alerts->told = 0;
	alerts->suppressed = 0;
}

static void
tell_all(struct alerts *alerts)
{
	uint64_t now = rte_rdtsc();
	struct slowloris_alert alert;

	if (now - alerts->period > ALERTS_PERIOD_S * rte_get_tsc_hz())
		begin_period(alerts, now);
	while (slowloris_next_alert(alerts->detector, &alert)) {
		if (alerts->told < ALERTS_AT_ONCE) {
			tell(&alert);
			alerts->told++;
		} else {
			alerts->suppressed++;
		}
	}
}

static void
run(void *arg)
{
	struct alerts *alerts = arg;

	while (!__atomic_load_n(&alerts->stop, __ATOMIC_RELAXED)) {
		tell_all(alerts);
		rte_delay_us_sleep(LOOK_US);
	}
	tell_all(alerts);
	begin_period(alerts, 0);
}

struct alerts *
alerts_start(struct slowloris *detector)
{
	struct alerts *alerts = calloc(1, sizeof(*alerts));

	if (alerts == NULL)
		return NULL;
	alerts->detector = detector;
	alerts->period = rte_rdtsc();
	alerts->work = (struct side_work){run, alerts};
	if (side_thread_start(&alerts->thread, "netfc-alerts", &alerts->work) == 0)
		return alerts;
	free(alerts);
	return NULL;
}

void
alerts_stop(struct alerts *alerts)
{
	if (alerts == NULL)
		return;
	__atomic_store_n(&alerts->stop, true, __ATOMIC_RELAXED);
	side_thread_join(alerts->thread);
	free(alerts);
}
