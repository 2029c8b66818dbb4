# SPDX-License-Identifier: BSD-3-Clause
"""The entries of dpdk-netfc's P4 programs: tables by their names in p4/, filled from table sets."""
