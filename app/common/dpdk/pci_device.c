/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_string_fns.h>

#include "descriptors.h"
#include "dpdk/pci_device.h"

#define BIND "sudo dpdk-devbind.py --bind vfio-pci "

/* The last part of what a link of the device leads to; false: there is no such link. */
static bool
link_end(const char *device, const char *link, char *end, size_t room)
{
	char path[PATH_MAX + 32], target[PATH_MAX];
	const char *slash;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/%s", device, link);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	slash = strrchr(target, '/');
	rte_strscpy(end, slash != NULL ? slash + 1 : target, room);
	return true;
}

/* The file of a group of devices, and whether this process has it open. */
struct group {
	struct stat file;
	bool ours;
};

static void
look_whether_ours(int descriptor, void *arg)
{
	struct group *group = arg;
	struct stat file;

	if (fstat(descriptor, &file) == 0 && file.st_dev == group->file.st_dev &&
		file.st_ino == group->file.st_ino)
		group->ours = true;
}

/* One process at a time can have a group open, once. */
static bool
others_have(const char *path)
{
	struct group group = {.ours = false};
	int opened = open(path, O_RDWR | O_CLOEXEC);

	if (opened >= 0)
		close(opened);
	if (opened >= 0 || errno != EBUSY || stat(path, &group.file) != 0)
		return false;
	descriptors_visit(look_whether_ours, &group);
	return !group.ours;
}

/* Of a device that vfio-pci has: as pci_device_trouble(). */
static bool
say_vfio(const struct pci_files *files, const char *device, char *said, size_t room)
{
	char group[NAME_MAX], path[PATH_MAX + NAME_MAX];
	bool busy;

	if (!link_end(device, "iommu_group", group, sizeof(group))) {
		snprintf(said, room,
			"no IOMMU is on; turn it on in the firmware, and on Intel with "
			"intel_iommu=on on the kernel's command line");
		return false;
	}
	snprintf(path, sizeof(path), "%s/vfio/%s", files->dev, group);
	if (access(path, F_OK) != 0)
		snprintf(path, sizeof(path), "%s/vfio/noiommu-%s", files->dev, group);
	busy = others_have(path);
	if (access(path, F_OK) != 0)
		snprintf(said, room,
			"%s/vfio/%s does not exist; sudo modprobe vfio-pci, and in a container give "
			"it that device",
			files->dev, group);
	else if (access(path, R_OK | W_OK) != 0)
		snprintf(said, room, "this user may not open %s; sudo chown $(id -u) %s, or sudo",
			path, path);
	else if (busy)
		snprintf(said, room,
			"another process has the device, as %s is busy; end that one, or take "
			"another device",
			path);
	else
		snprintf(said, room, "the lines above may say why");
	return busy;
}

/* Network controllers have class 0x02. */
static bool
is_network_controller(const char *device)
{
	char path[PATH_MAX + 32], class[8] = "";
	FILE *file;

	snprintf(path, sizeof(path), "%s/class", device);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	if (fgets(class, sizeof(class), file) == NULL)
		class[0] = '\0';
	fclose(file);
	return strncmp(class, "0x02", 4) == 0;
}

bool
pci_device_trouble(const struct pci_files *files, const char *address, char *said, size_t room)
{
	char device[PATH_MAX], driver[NAME_MAX];

	snprintf(device, sizeof(device), "%s/bus/pci/devices/%s", files->sys, address);
	if (access(device, F_OK) != 0) {
		snprintf(said, room,
			"there is no such PCI device; dpdk-devbind.py --status-dev net lists those "
			"that are there");
		return true;
	}
	if (!is_network_controller(device)) {
		snprintf(said, room, "the device is no network controller");
		return false;
	}
	if (!link_end(device, "driver", driver, sizeof(driver))) {
		snprintf(said, room, "no driver has the device; " BIND "%s", address);
		return true;
	}
	if (strcmp(driver, "vfio-pci") == 0)
		return say_vfio(files, device, said, room);
	if (strstr(driver, "uio") != NULL)
		snprintf(said, room, "the lines above may say why");
	else
		snprintf(said, room, "the kernel's driver %s has the device; " BIND "%s", driver,
			address);
	return false;
}
