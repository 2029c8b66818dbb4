# SPDX-License-Identifier: BSD-3-Clause
"""All checks, in the order in which they are carried out."""

from netfc.conformance import arithmetic, chunks, frames, joins, requests, zeros

GROUPS = {
    "requests": requests.CHECKS,
    "frames": frames.CHECKS,
    "arithmetic": arithmetic.CHECKS,
    "aggregation": tuple(
        sorted(joins.CHECKS + chunks.CHECKS + zeros.CHECKS, key=lambda check: check.number)
    ),
}
CHECKS = tuple(check for checks in GROUPS.values() for check in checks)
