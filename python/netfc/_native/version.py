# SPDX-License-Identifier: BSD-3-Clause
"""The version of the package, which is that of dpdk-netfc and libnetfc."""

VERSION = "0.3.0"
