# SPDX-License-Identifier: BSD-3-Clause
"""Which small faults in the sources the unit tests find."""
