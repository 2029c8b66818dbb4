# SPDX-License-Identifier: BSD-3-Clause
"""Training of a small network by four workers, their gradients added up in several ways."""
