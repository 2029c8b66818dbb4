# SPDX-License-Identifier: BSD-3-Clause
"""The Slowloris detector at work: a demonstration, its plot, and what a query costs."""
