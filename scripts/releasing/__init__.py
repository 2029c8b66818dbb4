# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/release is made of: the version in all files, and the bill of materials."""
