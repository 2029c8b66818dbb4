# SPDX-License-Identifier: BSD-3-Clause
"""Is a switch right? Checks of docs/protocol.md, which ask any switch and know what it replies.

netfc-conform is the command line; docs/conformance.md describes it.
"""
