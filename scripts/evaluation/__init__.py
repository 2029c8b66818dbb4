# SPDX-License-Identifier: BSD-3-Clause
"""The evaluation of the NetFC paper, and what goes beyond it; scripts/evaluate runs it."""
