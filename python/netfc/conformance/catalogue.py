# SPDX-License-Identifier: BSD-3-Clause
"""All checks, in the order in which they are carried out."""

from netfc.conformance import arithmetic, requests

GROUPS = {
    "requests": requests.CHECKS,
    "arithmetic": arithmetic.CHECKS,
}
CHECKS = tuple(check for checks in GROUPS.values() for check in checks)
