# SPDX-License-Identifier: BSD-3-Clause
"""Several switches behind one anycast address: a demonstration in network namespaces."""
