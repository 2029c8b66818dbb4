# SPDX-License-Identifier: BSD-3-Clause
"""The programs of the package.

netfc-client, netfc-conform, netfc-ctl, netfc-demo, netfc-exporter and netfc-top.
"""
