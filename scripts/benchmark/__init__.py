# SPDX-License-Identifier: BSD-3-Clause
"""What `scripts/bench` measures, and how: the switch beside its peers, without a NIC."""
