/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_devargs.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_pci.h>

#include "dpdk/eal.h"
#include "dpdk/pci_device.h"
#include "dpdk/quirks.h"
#include "dpdk/requirements.h"
#include "option.h"

/* ---- the EAL --------------------------------------------------------------------------------- */

/* Another program that has the EAL's shared files of this prefix. -1: there is one of an unknown
 * number; 0: there is none. */
static pid_t
find_primary(void)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[PATH_MAX];
	int file, held;

	snprintf(path, sizeof(path), "%s/config", rte_eal_get_runtime_dir());
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	held = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(file);
	if (!held)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

/* CPUs that the process may use, as -l takes them. */
static void
list_cpus(char *list, size_t size)
{
	size_t length = 0;
	cpu_set_t cpus;

	list[0] = '\0';
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return;
	for (int first = 0, end; first < CPU_SETSIZE && length < size; first = end + 1) {
		for (end = first; end < CPU_SETSIZE && CPU_ISSET(end, &cpus);)
			end++;
		if (end == first)
			continue;
		length += (size_t)snprintf(list + length, size - length,
			end - first > 1 ? "%s%d-%d" : "%s%d", length > 0 ? "," : "", first,
			end - 1);
	}
}

static int
report_wrong_options(void)
{
	char cpus[256];

	list_cpus(cpus, sizeof(cpus));
	return REPORT(
		"the EAL does not take its options, those before the \"--\"; its lines above say "
		"which. The CPUs that -l and --lcores may name: %s\n",
		cpus);
}

static int
report_other(pid_t other)
{
	const char *folder = rte_eal_get_runtime_dir(), *prefix = strrchr(folder, '/');
	char number[32] = "";

	if (other > 0)
		snprintf(number, sizeof(number), ", process %d,", (int)other);
	return REPORT("another program%s runs with the same --file-prefix, %s; give each its own: "
		      "--file-prefix NAME\n",
		number, prefix != NULL ? prefix + 1 : folder);
}

/* Where the EAL makes a folder of its own; as it looks for one. */
static const char *
runtime_parent(void)
{
	const char *folder = getenv("RUNTIME_DIRECTORY");

	if (folder == NULL)
		folder = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	return folder != NULL ? folder : "/tmp";
}

/* Why the EAL cannot make files in that folder, as errno has it; 0 if it can, or need not. */
static int
runtime_error(int eal_argc, char **eal_argv, char *folder, size_t size)
{
	if (eal_has_option(eal_argc, eal_argv, "no-shconf") ||
		eal_has_option(eal_argc, eal_argv, "in-memory"))
		return 0;
	snprintf(folder, size, "%s/dpdk", runtime_parent());
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return errno;
	return access(folder, W_OK | X_OK) == 0 ? 0 : errno;
}

static int
report_no_start(int eal_argc, char **eal_argv)
{
	const int error = rte_errno;
	const pid_t other = rte_eal_process_type() == RTE_PROC_PRIMARY ? find_primary() : 0;
	char folder[PATH_MAX];
	int runtime;

	if (other != 0)
		return report_other(other);
	runtime = runtime_error(eal_argc, eal_argv, folder, sizeof(folder));
	if (runtime != 0)
		return REPORT("this user cannot make files in %s: %s; let the environment variable "
			      "RUNTIME_DIRECTORY name a folder for them\n",
			folder, strerror(runtime));
	if (error == EINVAL)
		return report_wrong_options();
	return REPORT("the EAL does not start: %s\n",
		error != 0 ? rte_strerror(error) : "its lines above say why");
}

enum exit_status
eal_start(int eal_argc, char **eal_argv)
{
	const enum exit_status required = requirements_check(eal_argc, eal_argv);
	const bool quiet_tap = !eal_has_option(eal_argc, eal_argv, "log-level");

	if (required != EXIT_DONE)
		return required;
	rte_errno = 0;
	if (quirk_eal_init(eal_argc, eal_argv, quiet_tap) >= 0)
		return EXIT_DONE;
	report_no_start(eal_argc, eal_argv);
	return EXIT_CONFIGURATION;
}

void
eal_end(void)
{
	quirk_park_interrupts();
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

/* Read the interface that a device's argument names. False: there is none. */
static bool
read_interface(const struct rte_devargs *device, const char *key, char name[IF_NAMESIZE])
{
	const char *value = device->args != NULL ? strstr(device->args, key) : NULL;

	return value != NULL && sscanf(value + strlen(key), "%15[^,]", name) == 1;
}

/* The file or interface that a device needs and that is not there; false: that is not why. */
static bool
lacks(const struct rte_devargs *device, char *what, size_t room)
{
	static const char *const keys[] = {"iface=", "rx_iface=", "tx_iface=", "rx_iface_in="};
	bool tap = strncmp(device->name, "net_tap", 7) == 0;
	char name[IF_NAMESIZE];

	snprintf(what, room, "/dev/net/tun");
	if (tap)
		return access(what, F_OK) != 0;
	if (strncmp(device->name, "net_af_", 7) != 0 && strncmp(device->name, "net_pcap", 8) != 0)
		return false;
	for (unsigned int k = 0; k < RTE_DIM(keys); k++) {
		if (!read_interface(device, keys[k], name))
			continue;
		snprintf(what, room, "the interface %s", name);
		if (if_nametoindex(name) == 0)
			return true;
	}
	return false;
}

/* Whether a socket on an interface can be in a fanout group, with the flags of DPDK's driver. */
static bool
can_join_fanout(unsigned int interface, uint32_t group)
{
	const struct sockaddr_ll address = {.sll_family = AF_PACKET,
		.sll_protocol = rte_cpu_to_be_16(ETH_P_ALL),
		.sll_ifindex = (int)interface};
	const uint32_t flags =
		PACKET_FANOUT_HASH | PACKET_FANOUT_FLAG_DEFRAG | PACKET_FANOUT_FLAG_ROLLOVER;
	const uint32_t fanout = (group & UINT16_MAX) | flags << 16;
	const int packets = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	bool can;

	if (packets < 0)
		return false;
	can = bind(packets, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
		setsockopt(packets, SOL_PACKET, PACKET_FANOUT, &fanout, sizeof(fanout)) == 0;
	close(packets);
	return can;
}

/*
 * Whether another interface of this network namespace has the fanout group that DPDK's driver of
 * AF_PACKET takes (drivers/net/af_packet, which gives no choice): process ID xor number of the
 * interface. These are small, and those of two programs may come out the same. Another group could
 * be joined, or that is not why.
 */
static bool
is_fanout_taken(const struct rte_devargs *device)
{
	char name[IF_NAMESIZE];
	unsigned int interface;
	uint32_t group;

	if (strncmp(device->name, "net_af_packet", 13) != 0 ||
		!read_interface(device, "iface=", name))
		return false;
	interface = if_nametoindex(name);
	group = (uint32_t)getpid() ^ interface;
	return !can_join_fanout(interface, group) && can_join_fanout(interface, ~group);
}

/* Whether such a device fails where another program is not there yet, or not gone. */
static bool
waits_for_others(const char *device)
{
	static const char *const prefixes[] = {"net_tap", "net_virtio_user"};

	for (unsigned int i = 0; i < RTE_DIM(prefixes); i++) {
		if (strncmp(device, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

static enum exit_status
report_no_device(const struct rte_devargs *device)
{
	const char *capability = missing_capability(device->name);
	char what[64];

	REPORT("--vdev=%s,%s: there is no such port; ", device->name,
		device->args != NULL ? device->args : "");
	if (capability != NULL) {
		fprintf(stderr, "it takes %s, which root has: sudo\n", capability);
		return EXIT_CONFIGURATION;
	}
	if (lacks(device, what, sizeof(what))) {
		fprintf(stderr, "%s does not exist\n", what);
		return exit_status_later();
	}
	if (is_fanout_taken(device)) {
		fputs("by chance, another program's port has the fanout group that this process "
		      "would take: start it again\n",
			stderr);
		return exit_status_later();
	}
	if (strncmp(device->name, "net_tap", 7) == 0)
		fputs("--log-level=pmd.net.tap:debug says why\n", stderr);
	else
		fputs("the lines above may say why\n", stderr);
	return waits_for_others(device->name) ? exit_status_later() : EXIT_CONFIGURATION;
}

static bool
has_port_at(const char *device)
{
	struct rte_eth_dev_info info;
	uint16_t id;

	RTE_ETH_FOREACH_DEV (id) {
		if (rte_eth_dev_info_get(id, &info) == 0 &&
			strcmp(rte_dev_name(info.device), device) == 0)
			return true;
	}
	return false;
}

/* A PCI device that -a names. */
static enum exit_status
check_pci_device(const char *name)
{
	static const struct pci_files files = {.sys = "/sys", .dev = "/dev"};
	struct rte_pci_addr address;
	char found[PCI_PRI_STR_SIZE], said[256];
	bool later;

	if (rte_pci_addr_parse(name, &address) != 0)
		return EXIT_DONE;
	rte_pci_device_name(&address, found, sizeof(found));
	if (has_port_at(found))
		return EXIT_DONE;
	later = pci_device_trouble(&files, found, said, sizeof(said));
	REPORT("-a %s: there is no such port; %s\n", name, said);
	return later ? exit_status_later() : EXIT_CONFIGURATION;
}

enum exit_status
eal_check_devices(void)
{
	struct rte_devargs *device;
	enum exit_status status;
	uint16_t id;

	RTE_EAL_DEVARGS_FOREACH ("pci", device) {
		if (device->policy != RTE_DEV_ALLOWED)
			continue;
		status = check_pci_device(device->name);
		if (status != EXIT_DONE)
			return status;
	}
	RTE_EAL_DEVARGS_FOREACH ("vdev", device) {
		if (is_network_device(device->name) &&
			rte_eth_dev_get_port_by_name(device->name, &id) != 0)
			return report_no_device(device);
	}
	return EXIT_DONE;
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
