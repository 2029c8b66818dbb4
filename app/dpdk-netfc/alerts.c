/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include <rte_byteorder.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_version.h>

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#include <rte_thread.h>
#endif

#include "alerts.h"

#define LOOK_US 50000
#define THREAD_NAME "netfc-alerts"

RTE_LOG_REGISTER(alerts_log, netfc.slowloris, NOTICE)

#define TELL(...) rte_log(RTE_LOG_NOTICE, alerts_log, __VA_ARGS__)

struct alerts {
	struct slowloris *detector;
	bool stop;
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	rte_thread_t thread;
#else
	pthread_t thread;
#endif
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
run(struct alerts *alerts)
{
	while (!__atomic_load_n(&alerts->stop, __ATOMIC_RELAXED)) {
		tell_all(alerts);
		rte_delay_us_sleep(LOOK_US);
	}
	tell_all(alerts);
	begin_period(alerts, 0);
}

#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static uint32_t
alerts_main(void *arg)
{
	run(arg);
	return 0;
}

static int
start_thread(struct alerts *alerts)
{
	return rte_thread_create_control(&alerts->thread, THREAD_NAME, alerts_main, alerts);
}

static void
join_thread(struct alerts *alerts)
{
	rte_thread_join(alerts->thread, NULL);
}
#else
static void *
alerts_main(void *arg)
{
	run(arg);
	return NULL;
}

static int
start_thread(struct alerts *alerts)
{
	return rte_ctrl_thread_create(&alerts->thread, THREAD_NAME, NULL, alerts_main, alerts);
}

static void
join_thread(struct alerts *alerts)
{
	pthread_join(alerts->thread, NULL);
}
#endif

struct alerts *
alerts_start(struct slowloris *detector)
{
	struct alerts *alerts = calloc(1, sizeof(*alerts));

	if (alerts == NULL)
		return NULL;
	alerts->detector = detector;
	alerts->period = rte_rdtsc();
	if (start_thread(alerts) == 0)
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
	join_thread(alerts);
	free(alerts);
}
