/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of a PCI device without a port, on a tree of files as the kernel has it. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "dpdk/pci_device.h"

#define ADDRESS "0000:03:00.0"
#define NOBODY 65534

static char root[] = "/tmp/netfc-pci-XXXXXX";
static const struct pci_files files = {.sys = root, .dev = root};

static void
run(const char *command)
{
	char line[512];

	snprintf(line, sizeof(line), "cd %s && %s", root, command);
	assert_int_equal(system(line), 0);
}

static int
make_tree(void **state)
{
	(void)state;
	strcpy(root + strlen(root) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(chmod(root, 0755), 0);
	run("mkdir -p bus/pci/devices/" ADDRESS " vfio && echo 0x020000 >bus/pci/devices/" ADDRESS
	    "/class");
	return 0;
}

static int
remove_tree(void **state)
{
	(void)state;
	run("rm -r ../${PWD##*/}");
	return 0;
}

static void
assert_said(bool later, const char *words)
{
	char said[256];

	assert_int_equal(pci_device_trouble(&files, ADDRESS, said, sizeof(said)), later);
	if (strstr(said, words) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", words, said);
}

TEST_WITH(test_no_device, make_tree, remove_tree)
{
	run("rm -r bus/pci/devices/" ADDRESS);
	assert_said(true, "no such PCI device; dpdk-devbind.py --status-dev net");
}

TEST_WITH(test_not_a_nic, make_tree, remove_tree)
{
	run("echo 0x060000 >bus/pci/devices/" ADDRESS "/class");
	assert_said(false, "no network controller");
}

TEST_WITH(test_no_driver, make_tree, remove_tree)
{
	assert_said(
		true, "no driver has the device; sudo dpdk-devbind.py --bind vfio-pci " ADDRESS);
}

TEST_WITH(test_kernels_driver, make_tree, remove_tree)
{
	run("ln -s ../../../bus/pci/drivers/e1000e bus/pci/devices/" ADDRESS "/driver");
	assert_said(false, "the kernel's driver e1000e has the device; sudo dpdk-devbind.py");
}

static void
give_to_vfio(void)
{
	run("ln -s ../../../bus/pci/drivers/vfio-pci bus/pci/devices/" ADDRESS "/driver");
}

TEST_WITH(test_no_iommu, make_tree, remove_tree)
{
	give_to_vfio();
	assert_said(false, "no IOMMU is on; turn it on in the firmware");
}

TEST_WITH(test_no_device_file, make_tree, remove_tree)
{
	give_to_vfio();
	run("ln -s ../../../../kernel/iommu_groups/7 bus/pci/devices/" ADDRESS "/iommu_group");
	assert_said(false, "/vfio/7 does not exist; sudo modprobe vfio-pci");
}

static bool busy; /* files cannot be opened, as those of VFIO that somebody has */

int
open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;

	if (flags & O_CREAT) {
		va_start(more, flags);
		mode = va_arg(more, mode_t);
		va_end(more);
	}
	if (busy && strstr(path, "/vfio/") != NULL) {
		errno = EBUSY;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

TEST_WITH(test_another_process, make_tree, remove_tree)
{
	char group[64];
	FILE *ours;

	give_to_vfio();
	run("ln -s ../../../../kernel/iommu_groups/7 bus/pci/devices/" ADDRESS "/iommu_group");
	run("touch vfio/7 && ln vfio/7 group");
	assert_said(false, "the lines above may say why");
	busy = true;
	assert_said(true, "another process has the device, as /");
	assert_said(true, "/vfio/7 is busy; end that one");
	snprintf(group, sizeof(group), "%s/group", root);
	ours = fopen(group, "re");
	assert_non_null(ours);
	assert_said(false, "the lines above may say why");
	fclose(ours);
	busy = false;
}

/* Root may open everything: asked as an ordinary user. */
TEST_WITH(test_no_rights, make_tree, remove_tree)
{
	char said[256] = "";
	int status;
	pid_t child;

	give_to_vfio();
	run("ln -s ../../../../kernel/iommu_groups/7 bus/pci/devices/" ADDRESS "/iommu_group");
	run("touch vfio/noiommu-7 && chmod 0600 vfio/noiommu-7");
	assert_said(false, "the lines above");
	run("chmod 0400 vfio/noiommu-7");
	child = fork();
	if (child == 0) {
		if (getuid() == 0 && setuid(NOBODY) != 0)
			_exit(2);
		pci_device_trouble(&files, ADDRESS, said, sizeof(said));
		_exit(strstr(said, "this user may not open ") == NULL ||
			strstr(said, "/vfio/noiommu-7; sudo chown") == NULL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

TEST_WITH(test_other_drivers_for_users, make_tree, remove_tree)
{
	run("ln -s ../../../bus/pci/drivers/uio_pci_generic bus/pci/devices/" ADDRESS "/driver");
	assert_said(false, "the lines above may say why");
}
