# SPDX-License-Identifier: BSD-3-Clause
"""All checks, in the order in which they are carried out."""

from netfc.conformance import arithmetic, chunks, frames, joins, requests

GROUPS = {
    "requests": requests.CHECKS,
    "frames": frames.CHECKS,
    "arithmetic": arithmetic.CHECKS,
    "aggregation": joins.CHECKS + chunks.CHECKS,
}
CHECKS = tuple(check for checks in GROUPS.values() for check in checks)
