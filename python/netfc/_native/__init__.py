# SPDX-License-Identifier: BSD-3-Clause
"""What the package's modules share: libnetfc, arrays and their encodings. No interface."""
