/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs of workers of which one is killed and started again while its job goes on, and then both
 * begin anew: each time by the same job, token, address and UDP port. Behind a network that repeats
 * and delays packets, at a server of its own; or at the switch that is given. In addresses and
 * interfaces %u is twice the job's number, and 1 more for worker 1. Prints what there was; the exit
 * status is 1 if a sum was not of this incarnation, or a worker heard what is not so.
 *
 * restarts [--pairs N] [--times T] [--delay-ms D] [--switch ADDRESS] [--from ADDRESS]
 *	[--interface-0 NAME] [--interface-1 NAME] [--job FIRST]
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.h"
#include "network.h"

#define MAX_PAIRS 256
#define ROUNDS 3
#define COUNT 300 /* values */
#define TOKEN 0x5eed
#define PATIENCE_MS 300000
#define TEXT 160
#define DONE "done"

/* Of one pair: what its sums are made of, and how its workers reach the switch. */
struct pair {
	char address[TEXT], from[2][TEXT], interface[2][TEXT];
	uint16_t ports[2];
	unsigned int number, times;
};

struct outcome {
	unsigned int restarts, earlier, false_errors;
};

/* ---- the port that a worker sends from ----------------------------------------------------- */

static uint16_t fixed_port;

int __real_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);

int
__wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_in6 with_port = {0};

	if ((address->sa_family != AF_INET && address->sa_family != AF_INET6) || fixed_port == 0)
		return __real_bind(fd, address, length);
	memcpy(&with_port, address, length);
	/* The port is at the same place in both families. */
	with_port.sin6_port = htons(fixed_port);
	return __real_bind(fd, (const struct sockaddr *)&with_port, length);
}

static uint16_t
free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || __real_bind(fd, (struct sockaddr *)&address, length) != 0 ||
		getsockname(fd, (struct sockaddr *)&address, &length) != 0)
		abort();
	close(fd);
	return ntohs(address.sin_port);
}

/* ---- a worker ------------------------------------------------------------------------------ */

/* What a worker gives: no other incarnation, round or worker gives the same. */
static int32_t
value_of(unsigned int incarnation, unsigned int round, unsigned int w)
{
	return (int32_t)((incarnation * ROUNDS + round) * 1000 + 1 + w * 400);
}

static int
join(struct netfc_allreduce *comm, const struct pair *pair, unsigned int w)
{
	struct place unused = {0};
	struct netfc_allreduce_options options = worker_options(&unused, w, 2);
	const char *address = pair->address;

	options.switches = &address;
	options.switch_count = 1;
	options.job = (uint16_t)pair->number;
	options.token = TOKEN;
	options.slots = 16;
	options.bind_address = pair->from[w];
	options.interface = pair->interface[w][0] != '\0' ? pair->interface[w] : NULL;
	options.join_ms = options.deadline_ms = options.silence_ms = PATIENCE_MS;
	fixed_port = pair->ports[w];
	return netfc_allreduce_join(comm, &options);
}

/* A sum of both. Returns the status; -1: it is not this incarnation's. */
static int
reduce(struct netfc_allreduce *comm, unsigned int incarnation, unsigned int round, unsigned int w)
{
	int32_t values[COUNT];
	int32_t expected = value_of(incarnation, round, 0) + value_of(incarnation, round, 1);
	int status;

	for (unsigned int i = 0; i < COUNT; i++)
		values[i] = value_of(incarnation, round, w);
	status = netfc_allreduce(comm, values, COUNT, NETFC_ALLREDUCE_INT32, NETFC_ALLREDUCE_SUM);
	for (unsigned int i = 0; status == NETFC_ALLREDUCE_OK && i < COUNT; i++) {
		if (values[i] != expected)
			return -1;
	}
	return status;
}

static int
reduce_all(struct netfc_allreduce *comm, unsigned int incarnation, unsigned int w)
{
	int status = NETFC_ALLREDUCE_OK;

	for (unsigned int r = 0; r < ROUNDS && status == NETFC_ALLREDUCE_OK; r++)
		status = reduce(comm, incarnation, r, w);
	return status;
}

/* Worker 1, a process of its own. Says how it fared, and waits to be killed. */
static void
be_worker(const struct pair *pair, unsigned int incarnation)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();
	int status = join(comm, pair, 1);

	if (status == NETFC_ALLREDUCE_OK)
		status = reduce_all(comm, incarnation, 1);
	printf("%s\n",
		status < 0                             ? "earlier"
			: status == NETFC_ALLREDUCE_OK ? DONE
						       : netfc_allreduce_status_name(status));
	fflush(stdout);
	while (true)
		pause();
}

/* Who ends this program ends all of its processes. */
static void
die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* ---- a pair -------------------------------------------------------------------------------- */

struct victim {
	pid_t pid;
	FILE *says;
};

/* Start worker 1. */
static struct victim
victim_start(const struct pair *pair, unsigned int incarnation)
{
	char job[16], port[16], number[16];
	struct victim victim;
	int ends[2];

	snprintf(job, sizeof(job), "%u", pair->number);
	snprintf(port, sizeof(port), "%u", pair->ports[1]);
	snprintf(number, sizeof(number), "%u", incarnation);
	if (pipe2(ends, O_CLOEXEC) != 0)
		abort();
	victim.pid = fork();
	if (victim.pid == 0) {
		die_with_parent();
		dup2(ends[1], STDOUT_FILENO);
		execl("/proc/self/exe", "restarts", "--switch", pair->address, "--from",
			pair->from[1], "--interface-1", pair->interface[1], "--job", job, "--port",
			port, "--incarnation", number, NULL);
		_exit(1);
	}
	close(ends[1]);
	victim.says = fdopen(ends[0], "r");
	return victim;
}

static void
victim_kill(struct victim *victim)
{
	kill(victim->pid, SIGKILL);
	waitpid(victim->pid, NULL, 0);
	fclose(victim->says);
}

/* Whether it says that word. Nobody's sum is an earlier one. */
static void
victim_says(struct victim *victim, const char *expected, struct outcome *outcome)
{
	char said[TEXT] = "";

	if (fgets(said, sizeof(said), victim->says) != NULL)
		said[strcspn(said, "\n")] = '\0';
	if (strcmp(said, "earlier") == 0)
		outcome->earlier++;
	else if (strcmp(said, expected) != 0) {
		outcome->false_errors++;
		fprintf(stderr, "worker 1 says '%s', and not '%s'\n", said, expected);
	}
}

static void
heard(const struct netfc_allreduce *comm, int status, bool is_right, struct outcome *outcome)
{
	if (status < 0)
		outcome->earlier++;
	else if (!is_right) {
		outcome->false_errors++;
		fprintf(stderr, "worker 0: %s: %s\n", netfc_allreduce_status_name(status),
			netfc_allreduce_error(comm));
	}
}

/* Both work; worker 1 dies and comes again: it is refused, and worker 0 is told. */
static void
restart(const struct pair *pair, unsigned int incarnation, struct outcome *outcome)
{
	struct netfc_allreduce *comm = netfc_allreduce_new();
	struct victim victim = victim_start(pair, incarnation);
	int status = join(comm, pair, 0);

	if (status == NETFC_ALLREDUCE_OK)
		status = reduce_all(comm, incarnation, 0);
	heard(comm, status, status == NETFC_ALLREDUCE_OK, outcome);
	victim_says(&victim, DONE, outcome);
	victim_kill(&victim);
	victim = victim_start(pair, incarnation);
	victim_says(&victim, "taken", outcome);
	if (status == NETFC_ALLREDUCE_OK) {
		status = reduce(comm, incarnation, ROUNDS, 0);
		heard(comm, status,
			status == NETFC_ALLREDUCE_FAILED || status == NETFC_ALLREDUCE_LEFT,
			outcome);
	}
	netfc_allreduce_leave(comm);
	netfc_allreduce_free(comm);
	victim_kill(&victim);
	outcome->restarts++;
}

/* A process of its own: the address comes by `in`, and what there was goes out. */
static void
play(struct pair *pair, int in, int out)
{
	struct outcome outcome = {0};

	die_with_parent();
	if (read(in, pair->address, sizeof(pair->address)) != sizeof(pair->address))
		_exit(1);
	for (unsigned int i = 0; i < 2; i++)
		pair->ports[i] = free_port();
	for (unsigned int t = 0; t < pair->times; t++)
		restart(pair, t, &outcome);
	_exit(write(out, &outcome, sizeof(outcome)) != sizeof(outcome));
}

/* ---- all of them --------------------------------------------------------------------------- */

struct plan {
	unsigned int pairs, times, delay_ms, job, port, incarnation;
	const char *address, *from, *interface[2];
	struct network network;
};

/* The text with the place of a worker for %u, if it has that. */
static void
fill_in(char *text, const char *format, unsigned int place)
{
	const char *hole = strstr(format, "%u");

	if (hole == NULL)
		snprintf(text, TEXT, "%s", format);
	else
		snprintf(text, TEXT, "%.*s%u%s", (int)(hole - format), format, place, hole + 2);
}

static struct pair
pair_of(const struct plan *plan, unsigned int number)
{
	struct pair pair = {.number = number, .times = plan->times};

	for (unsigned int i = 0; i < 2; i++) {
		fill_in(pair.from[i], plan->from, 2 * number + i);
		fill_in(pair.interface[i], plan->interface[i], 2 * number + i);
	}
	return pair;
}

/* A server, and before it a network on which half of the packets come twice and some late. */
static void
start_server(struct plan *plan, char *address)
{
	const struct server_options options = {.jobs = 2 * MAX_PAIRS, .slots = 16 * 2 * MAX_PAIRS};
	const struct relay_options bad = {
		.seed = 1, .repeated = 0.5, .delayed = 0.2, .delay_us = plan->delay_ms * 1000};

	plan->network = network_start(&options, &bad);
	snprintf(address, TEXT, "%s", plan->network.place.text[0]);
}

static int
run(struct plan *plan)
{
	char address[TEXT] = "";
	struct outcome all = {0};
	int in[2], out[2];

	if (pipe(in) != 0 || pipe(out) != 0)
		return 1;
	/* Before there are threads. */
	for (unsigned int i = 0; i < plan->pairs; i++) {
		struct pair pair = pair_of(plan, plan->job + i);

		if (fork() == 0)
			play(&pair, in[0], out[1]);
	}
	close(out[1]);
	if (plan->address != NULL)
		snprintf(address, sizeof(address), "%s", plan->address);
	else
		start_server(plan, address);
	for (unsigned int i = 0; i < plan->pairs; i++) {
		if (write(in[1], address, sizeof(address)) != sizeof(address))
			return 1;
	}
	for (unsigned int i = 0; i < plan->pairs; i++) {
		struct outcome outcome;

		if (read(out[0], &outcome, sizeof(outcome)) != sizeof(outcome))
			return 1;
		all.restarts += outcome.restarts;
		all.earlier += outcome.earlier;
		all.false_errors += outcome.false_errors;
	}
	while (wait(NULL) > 0)
		continue;
	printf("%u restarts: %u earlier results, %u false errors\n", all.restarts, all.earlier,
		all.false_errors);
	if (plan->address == NULL)
		network_stop(&plan->network);
	return all.earlier + all.false_errors > 0;
}

int
main(int argc, char **argv)
{
	struct plan plan = {.pairs = 4,
		.times = 5,
		.delay_ms = 2000,
		.from = "127.0.0.1",
		.interface = {"", ""},
		.incarnation = UINT32_MAX};
	const struct argument arguments[] = {
		{"delay-ms", .number = &plan.delay_ms},
		{"from", .text = &plan.from},
		{"incarnation", .number = &plan.incarnation},
		{"interface-0", .text = &plan.interface[0]},
		{"interface-1", .text = &plan.interface[1]},
		{"job", .number = &plan.job},
		{"pairs", .number = &plan.pairs},
		{"port", .number = &plan.port},
		{"switch", .text = &plan.address},
		{"times", .number = &plan.times},
		{0},
	};
	struct pair pair;

	if (!read_arguments(argc, argv, arguments) || plan.pairs == 0 || plan.pairs > MAX_PAIRS)
		return 1;
	if (plan.incarnation == UINT32_MAX)
		return run(&plan);
	pair = pair_of(&plan, plan.job);
	snprintf(pair.address, sizeof(pair.address), "%s", plan.address);
	pair.ports[1] = (uint16_t)plan.port;
	be_worker(&pair, plan.incarnation);
}
