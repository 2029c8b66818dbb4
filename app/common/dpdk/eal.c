/* SPDX-License-Identifier: BSD-3-Clause */
/* Interrupt handles were experimental in DPDK 22.11. */
#define ALLOW_EXPERIMENTAL_API

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_log.h>

#include "dpdk/eal.h"

/* ---- hugepages ------------------------------------------------------------------------------- */

#define SYSFS_DIR "/sys/kernel/mm/hugepages"

static bool
has_option(int argc, char **argv, const char *option)
{
	size_t length = strlen(option);

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], option, length) == 0 &&
			(argv[i][length] == '\0' || argv[i][length] == '='))
			return true;
	}
	return false;
}

static unsigned long
free_pages_of(const char *size)
{
	char path[512];
	unsigned long pages = 0;
	FILE *file;

	snprintf(path, sizeof(path), SYSFS_DIR "/%s/free_hugepages", size);
	file = fopen(path, "r");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages;
}

static unsigned long
free_pages(void)
{
	unsigned long pages = 0;
	struct dirent *entry;
	DIR *dir = opendir(SYSFS_DIR);

	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL) {
		if (strncmp(entry->d_name, "hugepages-", strlen("hugepages-")) == 0)
			pages += free_pages_of(entry->d_name);
	}
	closedir(dir);
	return pages;
}

/* Whether some hugetlbfs is mounted where we may write. */
static bool
have_mount(void)
{
	FILE *mounts = setmntent("/proc/mounts", "r");
	struct mntent *mount;
	bool found = false;

	if (mounts == NULL)
		return false;
	while (!found && (mount = getmntent(mounts)) != NULL)
		found = strcmp(mount->mnt_type, "hugetlbfs") == 0 &&
			access(mount->mnt_dir, W_OK) == 0;
	endmntent(mounts);
	return found;
}

/* Look for hugepages before the EAL does, to say in plain words what is missing. */
static int
check_hugepages(const char *program, int eal_argc, char **eal_argv)
{
	if (has_option(eal_argc, eal_argv, "--no-huge"))
		return 0;
	if (free_pages() == 0) {
		fprintf(stderr,
			"%s: no free hugepages\n"
			"Reserve 1 GiB of them, as root:\n"
			"  sysctl -w vm.nr_hugepages=512\n"
			"or run without them, more slowly:\n"
			"  %s --no-huge -m 512 ... -- ...\n",
			program, program);
		return -1;
	}
	if (has_option(eal_argc, eal_argv, "--in-memory") ||
		has_option(eal_argc, eal_argv, "--huge-dir") || have_mount())
		return 0;
	fprintf(stderr,
		"%s: no hugetlbfs is mounted where this user may write\n"
		"Mount one, as root:\n"
		"  mount -t hugetlbfs nodev /dev/hugepages\n"
		"or need none, with memory shared with no other process:\n"
		"  %s --in-memory ... -- ...\n"
		"or run without hugepages, more slowly:\n"
		"  %s --no-huge -m 512 ... -- ...\n",
		program, program, program);
	return -1;
}

/* ---- the EAL --------------------------------------------------------------------------------- */

#define TAP_LOG "pmd.net.tap"

/*
 * On a kernel without the multiq qdisc, the TAP driver logs four times that it does without. Its
 * log is off while it opens interfaces.
 */
static int
start_with_quiet_tap(int eal_argc, char **eal_argv)
{
	char quiet[] = "--log-level=" TAP_LOG ":critical";
	char **arguments = calloc((size_t)eal_argc + 2, sizeof(*arguments));
	int status, type;

	if (arguments == NULL) {
		rte_errno = ENOMEM;
		return -1;
	}
	arguments[0] = eal_argv[0];
	arguments[1] = quiet;
	for (int a = 1; a < eal_argc; a++)
		arguments[a + 1] = eal_argv[a];
	status = rte_eal_init(eal_argc + 1, arguments);
	free(arguments);
	type = rte_log_register(TAP_LOG);
	if (type >= 0)
		rte_log_set_level((uint32_t)type, RTE_LOG_NOTICE);
	return status;
}

int
eal_start(const char *program, int eal_argc, char **eal_argv)
{
	if (check_hugepages(program, eal_argc, eal_argv) != 0)
		return -1;
	if (has_option(eal_argc, eal_argv, "--log-level")) {
		if (rte_eal_init(eal_argc, eal_argv) >= 0)
			return 0;
	} else if (start_with_quiet_tap(eal_argc, eal_argv) >= 0) {
		return 0;
	}
	fprintf(stderr, "%s: the EAL does not start: %s\n", program, rte_strerror(rte_errno));
	return -1;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* How long to wait for the interrupt thread, in ms: busy machines have let it wait for 10 s. */
#define PARK_MS 60000

/* In the interrupt thread: it stays here. */
static void
stay(void *told)
{
	eventfd_write((int)(intptr_t)told, 1);
	for (;;)
		pause();
}

void
eal_park_interrupts(void)
{
	static bool parked; /* the process has one such thread */
	struct rte_intr_handle *handle;
	int ready, told;

	if (parked)
		return;
	parked = true;
	/* Both stay open: that thread has them. */
	ready = eventfd(1, EFD_CLOEXEC);
	told = eventfd(0, EFD_CLOEXEC);
	handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (ready < 0 || told < 0 || handle == NULL)
		return;
	if (rte_intr_type_set(handle, RTE_INTR_HANDLE_EXT) == 0 &&
		rte_intr_fd_set(handle, ready) == 0 &&
		rte_intr_callback_register(handle, stay, (void *)(intptr_t)told) == 0) {
		struct pollfd polled = {.fd = told, .events = POLLIN};

		while (poll(&polled, 1, PARK_MS) < 0 && errno == EINTR)
			;
	}
	rte_intr_instance_free(handle);
}

void
eal_end(void)
{
	eal_park_interrupts();
	rte_eal_cleanup();
}

/* ---- devices --------------------------------------------------------------------------------- */

static bool
is_network_device(const char *name)
{
	static const char *const prefixes[] = {"net_", "eth_", "virtio_user"};

	for (unsigned int i = 0; i < RTE_DIM(prefixes); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

/* Whether the process may do what a capability allows. */
static bool
is_capable(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (syscall(SYS_capget, &header, sets) != 0)
		return true;
	return sets[capability / 32].effective >> capability % 32 & 1;
}

/* The privilege that such a device needs and the process lacks; NULL: none. */
static const char *
missing_capability(const char *device)
{
	if (strncmp(device, "net_tap", 7) == 0 && !is_capable(CAP_NET_ADMIN))
		return "CAP_NET_ADMIN";
	if (strncmp(device, "net_af_", 7) == 0 && !is_capable(CAP_NET_RAW))
		return "CAP_NET_RAW";
	return NULL;
}

static void
report_no_device(const char *program, const struct rte_devargs *device)
{
	const char *capability = missing_capability(device->name);

	fprintf(stderr, "%s: --vdev=%s,%s: there is no such port; ", program, device->name,
		device->args != NULL ? device->args : "");
	if (capability != NULL)
		fprintf(stderr, "it takes %s, which root has: sudo\n", capability);
	else if (strncmp(device->name, "net_tap", 7) == 0)
		fputs("--log-level=" TAP_LOG ":debug says why\n", stderr);
	else
		fputs("the lines above may say why\n", stderr);
}

int
eal_check_virtual_devices(const char *program)
{
	struct rte_devargs *device;
	uint16_t id;

	RTE_EAL_DEVARGS_FOREACH ("vdev", device) {
		if (!is_network_device(device->name) ||
			rte_eth_dev_get_port_by_name(device->name, &id) == 0)
			continue;
		report_no_device(program, device);
		return -1;
	}
	return 0;
}

void
signals_catch(void (*handler)(int signal), int flags)
{
	const struct sigaction stop = {.sa_handler = handler, .sa_flags = flags};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}
