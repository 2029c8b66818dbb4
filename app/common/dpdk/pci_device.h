/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PCI_DEVICE_H
#define PCI_DEVICE_H

/** @file Why DPDK has no port at a PCI device, as the kernel's files tell. */

#include <stdbool.h>
#include <stddef.h>

/** Where these files are. */
struct pci_files {
	const char *sys; /**< "/sys" */
	const char *dev; /**< "/dev" */
};

/**
 * Say what keeps DPDK from a PCI device, and what to do, in one sentence.
 *
 * @param address as in sysfs: "0000:03:00.0"
 * @param said, room for the sentence
 * @return whether that can change without another command line: the device or a driver is not
 *   there yet, or another process has it
 */
bool
pci_device_trouble(const struct pci_files *files, const char *address, char *said, size_t room);

#endif /* PCI_DEVICE_H */
