# SPDX-License-Identifier: BSD-3-Clause
"""Sums over workers on limited links: by the switch, by gloo's ring, by a parameter server."""
